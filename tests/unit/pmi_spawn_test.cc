#include "launcher/agent/pmi/pmi_spawn.h"

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::agent;
using namespace sml::wire;
using Words = std::vector<std::string>;

namespace {

PmiMessage message(std::vector<std::pair<std::string, std::string>> pairs) { return {"spawn", std::move(pairs)}; }

std::string fault(PmiDialect dialect, const PmiMessage& m) {
  PmiSpawnReader reader;
  const Result<bool> added = reader.add(dialect, m);
  REQUIRE_FALSE(added.has_value());
  return added.error().message();
}

}  // namespace

TEST_CASE("PMI-1: a wish to spawn as MPICH sends it") {
  PmiSpawnReader reader;
  const Result<bool> whole = reader.add(PmiDialect::One, message({{"nprocs", "2"},
                                                                  {"execname", "./a b"},
                                                                  {"totspawns", "1"},
                                                                  {"spawnssofar", "1"},
                                                                  {"arg1", "x = y"},
                                                                  {"arg2", ""},
                                                                  {"argcnt", "2"},
                                                                  {"preput_num", "1"},
                                                                  {"preput_key_0", "PARENT_ROOT_PORT_NAME"},
                                                                  {"preput_val_0", "tag#0$x$"},
                                                                  {"info_num", "5"},
                                                                  {"info_key_0", "wdir"},
                                                                  {"info_val_0", "/srv"},
                                                                  {"info_key_1", "host"},
                                                                  {"info_val_1", "a, b"},
                                                                  {"info_key_2", "colour"},
                                                                  {"info_val_2", "blue"},
                                                                  {"info_key_3", "path"},
                                                                  {"info_val_3", "bin:/opt/bin"},
                                                                  {"info_key_4", "soft"},
                                                                  {"info_val_4", "1, 2"}}));
  REQUIRE(whole.has_value());
  CHECK(*whole);
  const PmiSpawnRequest request = reader.take();
  CHECK(request.refusal.empty());
  CHECK(request.keys == std::vector{wire::SpawnKey{"PARENT_ROOT_PORT_NAME", "tag#0$x$"}});
  REQUIRE(request.programs.size() == 1);
  CHECK(request.programs[0].command == Words{"./a b", "x = y", ""});
  CHECK(request.programs[0].count == 2);
  CHECK(request.programs[0].working_directory == "/srv");
  CHECK(request.programs[0].hosts == Words{"a", "b"});
  CHECK(request.programs[0].search_path == "bin:/opt/bin");
  CHECK(request.programs[0].allowed == std::vector<plan::CountRange>{{1, 1, 1}, {2, 2, 1}});
}

TEST_CASE("PMI-1: each program of a wish is a message of its own, in their order") {
  PmiSpawnReader reader;
  const auto part = [](const char* name, const char* number) {
    return message({{"nprocs", "1"}, {"execname", name}, {"totspawns", "2"}, {"spawnssofar", number}});
  };
  CHECK(*reader.add(PmiDialect::One, part("a", "1")) == false);
  CHECK(*reader.add(PmiDialect::One, part("b", "2")) == true);
  CHECK(reader.take().programs.size() == 2);
  CHECK(*reader.add(PmiDialect::One, part("a", "1")) == false);  // the next
  CHECK(reader.add(PmiDialect::One, part("b", "1")).error().message() == "sent \"spawn\" out of turn");
  CHECK(fault(PmiDialect::One, part("b", "2")) == "sent \"spawn\" out of turn");
  CHECK(fault(PmiDialect::One, part("b", "3")) == "sent \"spawn\" out of turn");
}

TEST_CASE("PMI-2: a wish to spawn has all programs, each behind its subcmd") {
  PmiSpawnReader reader;
  REQUIRE(*reader.add(PmiDialect::Two, message({{"ncmds", "2"},
                                                {"preputcount", "1"},
                                                {"ppkey0", "k"},
                                                {"ppval0", "v"},
                                                {"subcmd", "a"},
                                                {"maxprocs", "3"},
                                                {"argc", "1"},
                                                {"argv0", "-x"},
                                                {"infokeycount", "1"},
                                                {"infokey0", "wdir"},
                                                {"infoval0", "sub"},
                                                {"subcmd", "b"},
                                                {"maxprocs", "1"},
                                                {"argc", "0"}})));
  const PmiSpawnRequest request = reader.take();
  CHECK(request.keys == std::vector{wire::SpawnKey{"k", "v"}});
  REQUIRE(request.programs.size() == 2);
  CHECK(request.programs[0].command == Words{"a", "-x"});
  CHECK(request.programs[0].working_directory == "sub");
  CHECK(request.programs[0].count == 3);
  CHECK(request.programs[1].command == Words{"b"});
}

TEST_CASE("PMI: a wish to spawn that is none") {
  CHECK(fault(PmiDialect::One, message({{"nprocs", "1"}})) == "sent \"spawn\" without a program");
  CHECK(fault(PmiDialect::Two, message({{"ncmds", "1"}})) == "sent \"spawn\" without a program");
  CHECK(fault(PmiDialect::One, message({{"execname", "a"}, {"nprocs", "many"}})) ==
        "sent \"spawn\" with \"many\" as nprocs");
  CHECK(fault(PmiDialect::One, message({{"execname", "a"}, {"nprocs", "1000001"}})) ==
        "sent \"spawn\" with \"1000001\" as nprocs");
  CHECK(fault(PmiDialect::One, message({{"execname", "a"}, {"argcnt", "4000000000"}})) ==
        "sent \"spawn\" with \"4000000000\" as argcnt");
  CHECK(fault(PmiDialect::One, message({{"execname", "a"}, {"argcnt", "1"}})) == "sent \"spawn\" without arg1");
  CHECK(fault(PmiDialect::One, message({{"execname", "a"}, {"preput_num", "1"}, {"preput_key_0", "k"}})) ==
        "sent \"spawn\" without preput_val_0");
  CHECK(fault(PmiDialect::One,
              message({{"execname", "a"}, {"preput_num", "1"}, {"preput_key_0", "k"}, {"preput_val_0", "a b"}})) ==
        "sent \"spawn\" with the key \"k\" or its value as PMI cannot carry it");
}

TEST_CASE("PMI: of a wish to spawn no more is kept than the limit") {
  PmiSpawnReader reader;
  const std::string large(PmiSpawnReader::kMost / 3, 'x');
  const auto part = [&](int number) {
    return message({{"execname", large}, {"totspawns", "3"}, {"spawnssofar", std::to_string(number)}});
  };
  REQUIRE(reader.add(PmiDialect::One, part(1)).has_value());
  CHECK(reader.add(PmiDialect::One, part(2)).error().message() == "sent \"spawn\" with more than 256 KiB of programs");
}

TEST_CASE("PMI: what can be said and nobody here can do is refused in words") {
  PmiSpawnReader reader;
  REQUIRE(*reader.add(PmiDialect::One, message({{"execname", "a"}, {"nprocs", "0"}})));
  CHECK(reader.take().refusal == "asks for no rank of \"a\"");
  const auto refusal_of = [&reader](const char* key, const char* value) {
    REQUIRE(*reader.add(PmiDialect::One,
                        message({{"execname", "a"}, {"info_num", "1"}, {"info_key_0", key}, {"info_val_0", value}})));
    return reader.take().refusal;
  };
  CHECK(refusal_of("hostfile", "hosts") == "names a file of hosts (hostfile), and only hosts of the job can be used");
  CHECK(refusal_of("add-hostfile", "hosts") ==
        "names a file of hosts (add-hostfile), and only hosts of the job can be used");
  CHECK(refusal_of("add-host", "b") ==
        "adds hosts (add-host), and only hosts of the job can be used; name these (host)");
  CHECK(refusal_of("arch", "sun4") ==
        "wants \"sun4\" as the architecture (arch), which cannot be chosen; name hosts (host)");
  CHECK(refusal_of("file", "more") ==
        "names a file of further settings (file), which is not read; set info keys instead");
}

#include "common/plan/ranks/rankfile.h"

#include "common/plan/machine/host.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::plan;

namespace {
// "rank host cores" of each entry.
std::vector<std::string> flat(std::string_view text) {
  const auto file = parse_rankfile(text, "r.txt");
  if (file.has_error()) return {file.error().message()};
  std::vector<std::string> out;
  for (const RankfileEntry& e : file->entries) {
    const std::string host = e.host_index ? "+" + std::to_string(*e.host_index) : e.host;
    out.push_back(std::to_string(e.rank) + " " + host + (e.cores.empty() ? "" : " " + e.cores));
  }
  return out;
}
}  // namespace

TEST_CASE("a rankfile is read as Open MPI's manual writes it") {
  CHECK(flat("rank 0=aa slot=1:0-2\nrank 1=bb slot=0:0,1\nrank 2=cc slot=1-2\n") ==
        std::vector<std::string>{"0 aa 1:0-2", "1 bb 0:0,1", "2 cc 1-2"});
  CHECK(flat("# all of it\n\n  RANK 1 = +n1  Slot = 0:* ; 1:0 # half\r\nrank 0=+n0 slots=3\r\n") ==
        std::vector<std::string>{"0 +0 3", "1 +1 0:*;1:0"});
  CHECK(flat("rank 0=algo-1") == std::vector<std::string>{"0 algo-1"});
}

TEST_CASE("cores are those of a socket or of the host") {
  const auto groups = parse_core_groups("0:0-1,4;1:*;7,9-10");
  REQUIRE(groups.has_value());
  REQUIRE(groups->size() == 3);
  CHECK((*groups)[0] == CoreGroup{0, {{0, 1}, {4, 4}}});
  CHECK((*groups)[1] == CoreGroup{1, {}});
  CHECK((*groups)[2] == CoreGroup{std::nullopt, {{7, 7}, {9, 10}}});
}

TEST_CASE("a bad rankfile is refused with its line") {
  struct Row {
    const char* text;
    const char* message;
  };
  const Row rows[] = {
      {"", "r.txt: names no rank; expected lines such as rank 0=HOST slot=0:0-1"},
      {"# nothing\n", "r.txt: names no rank; expected lines such as rank 0=HOST slot=0:0-1"},
      {"rank 0=a\nalgo-1 slots=2",
       "r.txt:2: \"algo-1 slots=2\" is no line of a rankfile; expected rank N=HOST slot=CORES"},
      {"rank 0", "r.txt:1: \"rank 0\" is no line of a rankfile; expected rank N=HOST slot=CORES"},
      {"rank =a", "r.txt:1: \"\" is no rank; expected a number from 0 to 999999"},
      {"rank 1-2=a", "r.txt:1: \"1-2\" is no rank; expected a number from 0 to 999999"},
      {"rank 1000000=a", "r.txt:1: \"1000000\" is no rank; expected a number from 0 to 999999"},
      {"rank 0=", "r.txt:1: \"\" is no host name; expected rank N=HOST slot=CORES"},
      {"rank 0=a/b", "r.txt:1: \"a/b\" is no host name; expected rank N=HOST slot=CORES"},
      {"rank 0=+nx", "r.txt:1: \"+nx\" names no host; expected +n0 for the first of the host list, +n1, ..."},
      {"rank 0=a 0-1", "r.txt:1: \"0-1\" follows the host; expected slot=CORES, as in slot=0:0-3"},
      {"rank 0=a slot 0", "r.txt:1: \"slot\" follows the host; expected slot=CORES, as in slot=0:0-3"},
      {"rank 0=a slot=",
       "r.txt:1: \"slot=\" names no core; expected cores such as 0-3, or socket and cores such as 0:0-3"},
      {"rank 0=a slot=3-1", "r.txt:1: \"slot=3-1\" has the range 3-1 that ends before it begins"},
      {"rank 0=a slot=0:x", "r.txt:1: \"slot=0:x\" has \"x\" for a core; expected numbers from 0, as in 0-3,6"},
      {"rank 0=a slot=0;", "r.txt:1: \"slot=0;\" has \"\" for a core; expected numbers from 0, as in 0-3,6"},
      {"rank 0=a slot=0,", "r.txt:1: \"slot=0,\" has \"\" for a core; expected numbers from 0, as in 0-3,6"},
      {"rank 0=a slot=p1:0",
       "r.txt:1: \"slot=p1:0\" has \"p1\" for a socket; expected a logical number, without \"p\""},
      {"rank 0=a slot=:0", "r.txt:1: \"slot=:0\" has \"\" for a socket; expected a number from 0, as in 0:0-3"},
      {"rank 0=a\nrank 0=b", "r.txt:2: rank 0 is in line 1 already"},
      {"rank 0=a\nrank 2=b", "r.txt:2: rank 2 is here, but rank 1 nowhere; expected every rank from 0 on"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto file = parse_rankfile(row.text, "r.txt");
    REQUIRE(file.has_error());
    CHECK(file.error().message() == row.message);
    CHECK(file.error().kind() == ErrorKind::Config);
  }
}

#include "launcher/agent/mpi/pmix_machine.h"

#include <type_traits>

#include "common/wire/limits.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::agent::pmix;

namespace {

// The services of two hosts, ranks 0 and 1, 2 and 3, in the third attempt.
struct Hosts {
  Machine first{{Rank(0), Rank(1)}, 4, 3};
  Machine second{{Rank(2), Rank(3)}, 4, 3};
};

template <class Message, class Variant>
std::vector<Message> those(const std::vector<Variant>& messages) {
  std::vector<Message> out;
  for (const Variant& message : messages) {
    if (const auto* one = std::get_if<Message>(&message)) out.push_back(*one);
  }
  return out;
}

template <class Message>
Actions take(Machine& machine, const Message& message) {
  if constexpr (std::is_void_v<decltype(machine.take(message))>) {
    machine.take(message);
  } else {
    REQUIRE(machine.take(message).has_value());
  }
  return machine.take_deeds();
}

wire::Fenced fenced(std::string name, std::vector<std::string> parts) {
  return {3, wire::WireUp::Pmix, std::move(name), std::move(parts)};
}

const Fence kAll{7, {kEveryRank}, "cards of 0 and 1"};

}  // namespace

TEST_CASE("a fence goes to the launcher and comes back with what all hosts put", "[pmix]") {
  Hosts hosts;
  const Actions up = take(hosts.first, kAll);
  const auto data = those<wire::FenceData>(up.launcher);
  REQUIRE(data.size() == 1);
  CHECK(data[0].attempt == 3);
  CHECK(data[0].service == wire::WireUp::Pmix);
  CHECK(data[0].ranks.empty());
  CHECK(data[0].bytes == "cards of 0 and 1");
  CHECK(data[0].piece == wire::Piece::Last);
  CHECK(up.helper.empty());
  const Actions down = take(hosts.first, fenced(data[0].fence, {"one,", "two"}));
  const auto answers = those<Answer>(down.helper);
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].id == 7);
  CHECK(answers[0].status == kSuccess);
  CHECK(answers[0].bytes == "one,two");
}

TEST_CASE("a fence of some ranks has one name on all their hosts", "[pmix]") {
  Hosts hosts;
  const auto one = those<wire::FenceData>(take(hosts.first, Fence{1, {2, 0, 2}, "a"}).launcher);
  const auto two = those<wire::FenceData>(take(hosts.second, Fence{4, {0, 2}, "b"}).launcher);
  REQUIRE((one.size() == 1 && two.size() == 1));
  CHECK(one[0].fence == two[0].fence);
  CHECK(one[0].ranks == std::vector{Rank(0), Rank(2)});
  const auto other = those<wire::FenceData>(take(hosts.first, Fence{2, {0, 3}, "a"}).launcher);
  CHECK(other.at(0).fence != one[0].fence);
}

TEST_CASE("the name of a fence of many ranks is short enough, and its own", "[pmix]") {
  Machine machine({Rank(0)}, 2000, 1);
  Fence fence{1, {}, ""};
  for (std::uint32_t rank = 0; rank < 1000; ++rank) fence.ranks.push_back(rank);
  const auto one = those<wire::FenceData>(take(machine, fence).launcher);
  fence.ranks.back() = 1500;
  const auto two = those<wire::FenceData>(take(machine, fence).launcher);
  CHECK(one.at(0).fence.size() <= wire::kMaxFenceName);
  CHECK(one.at(0).fence != two.at(0).fence);
}

TEST_CASE("a second fence of the same ranks waits for the first", "[pmix]") {
  Hosts hosts;
  const auto first = those<wire::FenceData>(take(hosts.first, kAll).launcher);
  CHECK(take(hosts.first, Fence{8, {kEveryRank}, "more"}).launcher.empty());
  const Actions down = take(hosts.first, fenced(first.at(0).fence, {"x"}));
  CHECK(those<Answer>(down.helper).at(0).id == 7);
  CHECK(those<wire::FenceData>(down.launcher).at(0).bytes == "more");
}

TEST_CASE("long data of a fence goes in pieces, too long is refused", "[pmix]") {
  Hosts hosts;
  const std::string bytes(wire::kMaxPiece + 10, 'x');
  const auto data = those<wire::FenceData>(take(hosts.first, Fence{1, {kEveryRank}, bytes}).launcher);
  REQUIRE(data.size() == 2);
  CHECK(data[0].piece == wire::Piece::More);
  CHECK(data[1].piece == wire::Piece::Last);
  CHECK(data[0].bytes + data[1].bytes == bytes);
  const std::string endless(wire::kMaxFenceOfHost, 'x');
  const auto refused = those<Answer>(take(hosts.first, Fence{2, {0, 3}, endless}).helper);
  CHECK(refused.at(0).status == kOutOfResource);
}

TEST_CASE("a fence of ranks that there are not is refused", "[pmix]") {
  Hosts hosts;
  const Actions deeds = take(hosts.first, Fence{5, {0, 4}, ""});
  CHECK(deeds.launcher.empty());
  CHECK(those<Answer>(deeds.helper).at(0).status == kBadParameter);
}

TEST_CASE("ranks of two hosts found a group and get one number that no other group has", "[pmix]") {
  Hosts hosts;
  const auto found = [&hosts](const Group& group) {
    const auto up = those<wire::FenceData>(take(hosts.first, group).launcher);
    Group theirs = group;
    theirs.id = group.id + 10;
    theirs.bytes = "theirs";
    const auto other = those<wire::FenceData>(take(hosts.second, theirs).launcher);
    REQUIRE(up.size() == 1);
    REQUIRE(other.size() == 1);
    CHECK(up[0].fence == other[0].fence);
    CHECK(up[0].ranks == std::vector<Rank>{Rank(1), Rank(2)});
    const wire::Fenced down = fenced(up[0].fence, {up[0].bytes, other[0].bytes});
    const auto here = those<Answer>(take(hosts.first, down).helper);
    const auto there = those<Answer>(take(hosts.second, down).helper);
    REQUIRE(here.size() == 1);
    REQUIRE(there.size() == 1);
    CHECK(here[0].id == group.id);
    CHECK(here[0].status == kSuccess);
    CHECK(here[0].bytes == there[0].bytes);
    return here[0].bytes;
  };
  const std::string one = found({.id = 3, .name = "a", .ranks = {2, 1}, .wants_context = 1, .bytes = "ours,"});
  CHECK(one.substr(8) == "ours,theirs");
  CHECK(one.substr(0, 8) > std::string("\0\0\0\0\xff\xff\xff\xff", 8));  // MPI has small ones itself
  const std::string two = found({.id = 4, .name = "b", .ranks = {2, 1}, .wants_context = 1, .bytes = "ours,"});
  CHECK(two.substr(0, 8) != one.substr(0, 8));
  const std::string none = found({.id = 5, .name = "c", .ranks = {2, 1}});
  CHECK(none.substr(0, 8) == std::string(8, '\0'));
}

TEST_CASE("groups of other names, steps or ranks are not one", "[pmix]") {
  const auto fence = [](const Group& group) {
    Hosts hosts;
    return those<wire::FenceData>(take(hosts.first, group).launcher).at(0).fence;
  };
  const Group group{.id = 3, .name = std::string(600, 'n'), .ranks = {1, 2}, .wants_context = 1};
  Group other = group;
  CHECK(fence(group) == fence(other));
  CHECK(fence(group).size() <= wire::kMaxFenceName);
  other.name.back() = 'm';
  CHECK(fence(group) != fence(other));
  other = group;
  other.step = 1;
  CHECK(fence(group) != fence(other));
  other = group;
  other.ranks = {1, 3};
  CHECK(fence(group) != fence(other));
}

TEST_CASE("a group of ranks that there are not, or with too much to say, is refused", "[pmix]") {
  Hosts hosts;
  CHECK(those<Answer>(take(hosts.first, Group{.id = 3, .name = "a", .ranks = {1, 9}}).helper).at(0).status ==
        kBadParameter);
  const Group long_one{.id = 4, .name = "a", .ranks = {1, 2}, .bytes = std::string(wire::kMaxFenceOfHost, 'x')};
  CHECK(those<Answer>(take(hosts.first, long_one).helper).at(0).status == kOutOfResource);
}

TEST_CASE("what another host says of a group and is none makes an error of it", "[pmix]") {
  Hosts hosts;
  const auto up = those<wire::FenceData>(take(hosts.first, Group{.id = 3, .name = "a", .ranks = {1, 2}}).launcher);
  const Actions down = take(hosts.first, fenced(up.at(0).fence, {up.at(0).bytes, "x"}));
  CHECK(those<Answer>(down.helper).at(0).status == kError);
}

TEST_CASE("what a rank of another host has put is asked for there", "[pmix]") {
  Hosts hosts;
  const auto ask = those<wire::Relay>(take(hosts.first, AskModex{9, Rank(3)}).launcher);
  REQUIRE(ask.size() == 1);
  CHECK(ask[0].to == Rank(3));
  CHECK(ask[0].from == Rank(0));
  const auto give = those<GiveModex>(take(hosts.second, ask[0]).helper);
  REQUIRE(give.size() == 1);
  CHECK(give[0].rank == Rank(3));
  const auto reply = those<wire::Relay>(take(hosts.second, ModexData{give[0].id, kSuccess, "card"}).launcher);
  REQUIRE(reply.size() == 1);
  CHECK(reply[0].to == Rank(0));
  const auto answers = those<Answer>(take(hosts.first, reply[0]).helper);
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].id == 9);
  CHECK(answers[0].bytes == "card");
  CHECK(take(hosts.first, reply[0]).helper.empty());  // only once
}

TEST_CASE("nobody is asked for a rank that has ended or that there is not", "[pmix]") {
  Hosts hosts;
  CHECK(those<Answer>(take(hosts.first, AskModex{1, Rank(4)}).helper).at(0).status == kNotFound);
  const auto ask = those<wire::Relay>(take(hosts.first, AskModex{9, Rank(3)}).launcher);
  hosts.second.ended(Rank(3));
  const auto reply = those<wire::Relay>(take(hosts.second, ask.at(0)).launcher);
  CHECK(those<Answer>(take(hosts.first, reply.at(0)).helper).at(0).status == kNotFound);
}

TEST_CASE("words of other hosts and attempts that nobody waits for change nothing", "[pmix]") {
  Hosts hosts;
  take(hosts.first, kAll);
  CHECK(take(hosts.first, fenced("no such fence", {"x"})).helper.empty());
  wire::Fenced late = fenced("all", {"x"});
  late.attempt = 2;
  CHECK(take(hosts.first, late).helper.empty());
  late.attempt = 3;
  late.service = wire::WireUp::Pmi;
  CHECK(take(hosts.first, late).helper.empty());
  for (const char* bytes : {"", "x", "a long word that is no word"}) {
    const Actions deeds = take(hosts.first, wire::Relay{3, wire::WireUp::Pmix, Rank(2), Rank(0), bytes});
    CHECK((deeds.helper.empty() && deeds.launcher.empty()));
  }
}

TEST_CASE("a host whose ranks all come later answers nobody before", "[pmix]") {
  Hosts hosts;
  Machine late({}, 4, 3);
  const auto ask = those<wire::Relay>(take(hosts.first, AskModex{9, Rank(3)}).launcher);
  CHECK(take(late, ask.at(0)).launcher.empty());
  CHECK(take(late, LookUp{5, "port", 1}).launcher.empty());
  late.add_world({Rank(4)}, 5, "w");
  CHECK(those<wire::Relay>(take(late, ask.at(0)).launcher).at(0).from == Rank(4));
}

TEST_CASE("what a library would have printed is said for its rank", "[pmix]") {
  Hosts hosts;
  const Actions deeds = take(hosts.first, Log{4, Rank(1), "out", "An error occurred in MPI_Send"});
  REQUIRE(deeds.words.size() == 2);
  CHECK((deeds.words[0].rank == Rank(1) && deeds.words[0].stream == Stream::Stdout && deeds.words[0].text == "out"));
  CHECK((deeds.words[1].stream == Stream::Stderr && deeds.words[1].text == "An error occurred in MPI_Send"));
  CHECK(those<Answer>(deeds.helper).at(0).id == 4);
  const Actions elsewhere = take(hosts.first, Log{5, Rank(0)});
  CHECK(elsewhere.words.empty());
  CHECK(those<Answer>(elsewhere.helper).at(0).status == kNotSupported);
  const Actions of_another = take(hosts.first, Log{6, Rank(2), "out", "err"});
  CHECK(of_another.words.empty());
  CHECK(those<Answer>(of_another.helper).at(0).id == 6);
}

TEST_CASE("MPI_Abort ends the job with its number", "[pmix]") {
  const auto [status, code] = GENERATE(std::pair(7, 7), std::pair(0, 1), std::pair(256, 1), std::pair(-1, 255));
  Hosts hosts;
  const Actions deeds = take(hosts.first, Abort{2, Rank(1), status, "text"});
  REQUIRE(deeds.failures.size() == 1);
  CHECK(deeds.failures[0].rank == Rank(1));
  CHECK(deeds.failures[0].kind == wire::FaultKind::Aborted);
  CHECK(deeds.failures[0].code == code);
  CHECK(those<Answer>(deeds.helper).at(0).id == 2);
}

TEST_CASE("who ends between MPI_Init and MPI_Finalize is missed", "[pmix]") {
  Hosts hosts;
  CHECK_FALSE(hosts.first.has_joined(Rank(0)));
  take(hosts.first, Connected{Rank(0)});
  CHECK(hosts.first.has_joined(Rank(0)));
  SECTION("between") { CHECK(hosts.first.ended(Rank(0))); }
  CHECK(hosts.first.ever_joined() == 1);
  SECTION("after") {
    CHECK(those<Answer>(take(hosts.first, Finalized{3, Rank(0)}).helper).at(0).id == 3);
    CHECK(hosts.first.has_joined(Rank(0)));
    CHECK_FALSE(hosts.first.ended(Rank(0)));
  }
  SECTION("before") { CHECK_FALSE(hosts.first.ended(Rank(1))); }
}

TEST_CASE("who waits in MPI_Init for a rank that has ended without it is told, whichever was first", "[pmix]") {
  const std::string why = "waits in MPI_Init for rank 1, which has ended without it";
  for (const bool ends_first : {true, false}) {
    Hosts hosts;
    if (ends_first) hosts.first.ended_well(Rank(1));
    Actions deeds = take(hosts.first, Connected{Rank(0)});
    if (!ends_first) {
      CHECK(deeds.failures.empty());
      hosts.first.ended_well(Rank(1));
      deeds = hosts.first.take_deeds();
    }
    REQUIRE(deeds.failures.size() == 1);
    CHECK(deeds.failures[0].rank == Rank(0));
    CHECK(deeds.failures[0].why == why);
  }
}

TEST_CASE("who has been with the others may end before them", "[pmix]") {
  Hosts hosts;
  take(hosts.first, Connected{Rank(0)});
  take(hosts.first, Connected{Rank(1)});
  take(hosts.first, Finalized{3, Rank(1)});
  hosts.first.ended(Rank(1));
  hosts.first.ended_well(Rank(1));
  CHECK(hosts.first.take_deeds().failures.empty());
  CHECK(hosts.first.has_ever_joined(Rank(1)));
  CHECK_FALSE(hosts.second.has_ever_joined(Rank(2)));
}

TEST_CASE("the helper is missed as long as somebody may need it", "[pmix]") {
  Hosts hosts;
  CHECK(hosts.first.first_served() == Rank(0));
  take(hosts.first, Connected{Rank(0)});
  take(hosts.first, Finalized{3, Rank(0)});
  CHECK(hosts.first.first_served() == Rank(1));
  hosts.first.ended(Rank(1));
  CHECK_FALSE(hosts.first.first_served());
}

TEST_CASE("a helper that says what it has said, or gives what nobody wanted, is no helper", "[pmix]") {
  Hosts hosts;
  CHECK_FALSE(hosts.first.take(FromHelper(Loaded{})).has_value());
  CHECK_FALSE(hosts.first.take(FromHelper(Serving{})).has_value());
  CHECK_FALSE(hosts.first.take(FromHelper(ModexData{5, kSuccess, "x"})).has_value());
}

TEST_CASE("the helper's frames are cut wherever they are", "[pmix]") {
  // As helper.c writes them: a fence of ranks 1 and all, with two bytes.
  const std::string fence("\0\0\0\x16\x16\0\0\0\x09\0\0\0\x02\0\0\0\x01\xff\xff\xff\xfe\0\0\0\x02zz", 27);
  Decoder decoder;
  for (std::size_t i = 0; i < fence.size(); ++i) {
    const auto none = decoder.next();
    REQUIRE(none.has_value());
    REQUIRE_FALSE(none->has_value());
    decoder.feed(fence.substr(i, 1));
  }
  const auto got = decoder.next();
  REQUIRE(got.has_value());
  REQUIRE(got->has_value());
  const auto& read = std::get<Fence>(**got);
  CHECK(read.id == 9);
  CHECK(read.ranks == std::vector<std::uint32_t>{1, kEveryRank});
  CHECK(read.bytes == "zz");
}

TEST_CASE("what the helper would not send is an error", "[pmix]") {
  using namespace std::string_view_literals;
  const auto bytes = GENERATE("\0\0\0\0\x40"sv, "\x7f\0\0\0\x16"sv, "\0\0\0\1\x13z"sv, "\0\0\0\5\x13zzzzz"sv);
  Decoder decoder;
  decoder.feed(bytes);
  CHECK_FALSE(decoder.next().has_value());
}

TEST_CASE("a wish for ranks goes to the launcher, and its answer back with their namespace", "[pmix]") {
  Hosts hosts;
  take(hosts.first, Connected{Rank(1)});
  AskSpawn ask{9, Rank(1), {}};
  ask.apps.push_back({{"child", "-x"}, {"OMPI_PARENT_PORT=p", "OMPI_COMM_WORLD_RANK=1"}, "/srv", "a,b", 2});
  ask.apps.push_back({{"other"}, {}, "", "", 1});
  const Actions deeds = take(hosts.first, ask);
  CHECK(deeds.helper.empty());
  const auto requests = those<wire::SpawnRequest>(deeds.launcher);
  REQUIRE(requests.size() == 1);
  CHECK(requests[0].attempt == 3);
  CHECK(requests[0].service == wire::WireUp::Pmix);
  CHECK(requests[0].from == Rank(1));
  CHECK(requests[0].programs ==
        std::vector<plan::SpawnProgram>{{{"child", "-x"}, 2, "/srv", {"a", "b"}}, {{"other"}, 1}});
  CHECK(requests[0].keys == std::vector<wire::SpawnKey>{{"parent", "1"}, {"0", "OMPI_PARENT_PORT=p"}});
  const auto answer = [&](const std::string& why) {
    return those<Answer>(
        take(hosts.first, wire::SpawnAnswer{3, wire::WireUp::Pmix, Rank(1), requests[0].call, why}).helper);
  };
  SECTION("they start") {
    hosts.first.add_world({Rank(4)}, 7, "sml-run.job.3.4");
    const auto answers = answer("");
    REQUIRE(answers.size() == 1);
    CHECK(answers[0].id == 9);
    CHECK(answers[0].status == kSuccess);
    CHECK(answers[0].bytes == "sml-run.job.3.4");
    CHECK(answer("").empty());
  }
  SECTION("they do not") {
    const auto answers = answer("wants 3 slots");
    REQUIRE(answers.size() == 1);
    CHECK(answers[0].status == kOutOfResource);
  }
}

TEST_CASE("info keys of a wish for ranks are heeded, refused, or said once to have no effect", "[pmix]") {
  Hosts hosts;
  take(hosts.first, Connected{Rank(1)});
  const auto wish = [&](const std::vector<SpawnInfo>& infos) {
    return take(hosts.first, AskSpawn{9, Rank(1), {{{"a"}, {}, "", "b", 1, infos}}});
  };
  SECTION("heeded") {
    const Actions deeds = wish({{"path", "/opt/bin"}, {"soft", "1"}, {"pmix.pers", "ompi"}});
    CHECK(deeds.warnings.empty());
    const auto requests = those<wire::SpawnRequest>(deeds.launcher);
    REQUIRE(requests.size() == 1);
    CHECK(requests[0].programs == std::vector<plan::SpawnProgram>{{{"a"}, 1, "", {"b"}, "/opt/bin", {{1, 1, 1}}}});
  }
  SECTION("refused") {
    const auto refusal = [&](const char* key) {
      const Actions deeds = wish({{key, "x"}});
      CHECK(deeds.launcher.empty());
      CHECK(those<Answer>(deeds.helper).at(0).status == kOutOfResource);
      return deeds.warnings.at(0);
    };
    const std::string begin = "rank 1: MPI_Comm_spawn starts nothing: it ";
    CHECK(refusal("pmix.hostfile") ==
          begin + "names a file of hosts (hostfile), and only hosts of the job can be used");
    CHECK(refusal("pmix.addhostfile") ==
          begin + "names a file of hosts (add-hostfile), and only hosts of the job can be used");
    CHECK(refusal("pmix.addhost") ==
          begin + "adds hosts (add-host), and only hosts of the job can be used; name these (host)");
    CHECK(refusal("arch").starts_with(begin + "wants \"x\" as the architecture (arch)"));
  }
  SECTION("without effect") {
    const Actions deeds = wish({{"pmix.mapby", "node"}, {"pmix.bindto", "core"}, {"pmix.mapby", "node"}});
    CHECK(deeds.launcher.size() == 1);
    CHECK(deeds.warnings == std::vector<std::string>{"rank 1: MPI_Comm_spawn: the info key map_by has no effect: new "
                                                     "ranks go where slots are free, host by host",
                                                     "rank 1: MPI_Comm_spawn: the info key bind_to has no effect: new "
                                                     "ranks go where slots are free, host by host"});
    CHECK(wish({{"pmix.mapby", "node"}}).warnings.empty());
  }
}

TEST_CASE("only ranks that have joined may ask for others", "[pmix]") {
  Hosts hosts;
  const auto passed_on = [&] {
    const Actions deeds = take(hosts.first, AskSpawn{1, Rank(0), {{{"a"}, {}, "", "", 1}}});
    const auto answers = those<Answer>(deeds.helper);
    CHECK((answers.empty() || answers.front().status == kBadParameter));
    CHECK(answers.empty() == !deeds.launcher.empty());
    return answers.empty();
  };
  CHECK_FALSE(passed_on());
  take(hosts.first, Connected{Rank(0)});
  CHECK(passed_on());
  take(hosts.first, Finalized{2, Rank(0)});
  CHECK_FALSE(passed_on());
  hosts.first.ended(Rank(0));
  CHECK_FALSE(passed_on());
}

TEST_CASE("a wish for ranks that is none, or too long, is refused", "[pmix]") {
  Hosts hosts;
  take(hosts.first, Connected{Rank(0)});
  const auto status = [&](const AskSpawn& ask) {
    const Actions deeds = take(hosts.first, ask);
    CHECK(deeds.launcher.empty());
    return those<Answer>(deeds.helper).at(0).status;
  };
  CHECK(status({1, Rank(0), {}}) == kBadParameter);
  CHECK(status({1, Rank(0), {{{"a"}, {}, "", "", 0}}}) == kBadParameter);
  CHECK(status({1, Rank(0), {{{}, {}, "", "", 1}}}) == kBadParameter);
  CHECK(status({1, Rank(2), {{{"a"}, {}, "", "", 1}}}) == kBadParameter);  // of another host
  CHECK(status({1, Rank(0), {{{std::string(300'000, 'x')}, {}, "", "", 1}}}) == kOutOfResource);
}

TEST_CASE("ranks that were spawned join, meet and leave as the others do", "[pmix]") {
  Hosts hosts;
  hosts.first.add_world({Rank(4)}, 6, "w");
  hosts.second.add_world({Rank(5)}, 6, "w");
  take(hosts.first, Connected{Rank(4)});
  CHECK(hosts.first.has_joined(Rank(4)));
  const auto one = those<wire::FenceData>(take(hosts.first, Fence{1, {4, 5, 0}, ""}).launcher);
  const auto two = those<wire::FenceData>(take(hosts.second, Fence{1, {0, 4, 5}, ""}).launcher);
  REQUIRE((one.size() == 1 && two.size() == 1));
  CHECK(one[0].fence == two[0].fence);
  CHECK(one[0].ranks == std::vector{Rank(0), Rank(4), Rank(5)});
  CHECK(those<wire::Relay>(take(hosts.first, AskModex{3, Rank(5)}).launcher).at(0).to == Rank(5));
  CHECK(hosts.first.ended(Rank(4)));
}

TEST_CASE("names are kept by the host of rank 0, for all hosts", "[pmix]") {
  Hosts hosts;
  const auto up = those<wire::Relay>(take(hosts.second, LookUp{5, "port", 1}).launcher);
  REQUIRE(up.size() == 1);
  CHECK(up[0].to == Rank(0));
  CHECK(take(hosts.first, up[0]).launcher.empty());  // it waits
  const Actions published = take(hosts.first, Publish{8, Rank(1), "port", "text", 1});
  CHECK(those<Answer>(published.helper).at(0).id == 8);
  const auto down = those<wire::Relay>(published.launcher);
  REQUIRE(down.size() == 1);
  CHECK(down[0].to == Rank(2));
  const auto answers = those<Answer>(take(hosts.second, down[0]).helper);
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].id == 5);
  CHECK(answers[0].bytes == std::string("\0\0\0\1text", 8));
  CHECK(those<Answer>(take(hosts.first, Unpublish{9, "port"}).helper).at(0).status == kNotFound);
}

#include "common/plan/channel.h"

#include <algorithm>

#include "launcher/attempt/session_plans.h"
#include "launcher/inputs/inputs.h"
#include "launcher/options/command_line.h"
#include "launcher/sagemaker/contract.h"
#include "tests/support/catch.h"
#include "tests/support/sagemaker_files.h"

using namespace sml;
using namespace sml::plan;

namespace {

std::string refusal(std::string_view text) {
  const auto channel = parse_channel(text);
  return channel.has_error() ? channel.error().message() : "(accepted)";
}

JobMap map_of(const std::vector<std::uint32_t>& slots) {
  HostList list;
  for (std::size_t i = 0; i < slots.size(); ++i) list.hosts.push_back({std::string(1, char('a' + i)), "", slots[i]});
  return *map_job(list, std::nullopt, Oversubscribe::No);
}

// The places of each share, "0 2/1".
std::string dealt(std::uint32_t shares, std::size_t keys, KeyOrder order) {
  std::string out;
  for (std::uint32_t i = 0; i < shares; ++i) {
    std::string one;
    for (const std::size_t key : keys_of({i, shares}, order, keys))
      one += (one.empty() ? "" : " ") + std::to_string(key);
    out += (i == 0 ? "" : "/") + one;
  }
  return out;
}

std::string shares_of(const Channel& channel, const JobMap& map) {
  std::string out;
  for (const RankAssignment& rank : map.ranks) {
    const Share share = share_of(channel, map, rank);
    out += std::to_string(share.index) + "/" + std::to_string(share.count) + " ";
  }
  return out;
}

}  // namespace

TEST_CASE("a channel is a name, a folder and how it is shared") {
  CHECK(*parse_channel("train=/data") == Channel{.name = "train", .folder = "/data"});
  CHECK(*parse_channel("a.b-c=x=y") == Channel{.name = "a.b-c", .folder = "x=y"});
  CHECK(*parse_channel("t=/d,order=block,by=rank,mode=ShardedByS3Key") ==
        Channel{"t", "/d", ChannelMode::Sharded, ShareBy::Rank, KeyOrder::Block});
  CHECK(*parse_channel("t=/d,mode=ShardedByS3Key") == Channel{"t", "/d", ChannelMode::Sharded});
  CHECK(*parse_channel("t=/d,mode=FullyReplicated") == Channel{"t", "/d"});
  CHECK(refusal("train") == "\"train\" is not NAME=DIR");
  CHECK(refusal("train=") == "\"train=\" is not NAME=DIR");
  CHECK(refusal("train,by=host") == "\"train,by=host\" is not NAME=DIR");
  CHECK(refusal("a b=/d").ends_with("is not the name of a channel: 1 to 64 letters, digits, -, . and _"));
  CHECK(refusal("..=/d").starts_with("\"..\" is not the name"));
  CHECK(refusal("t=/d,mode=Sharded") == "\"mode=Sharded\" is not mode=FullyReplicated or mode=ShardedByS3Key");
  CHECK(refusal("t=/d,by=node") == "\"by=node\" is not by=host or by=rank");
  CHECK(refusal("t=/d,order=").starts_with("\"order=\" is not order=modulo"));
  CHECK(refusal("t=/d,e").starts_with("\"e\" is not mode=, by= or order="));
  CHECK(refusal("t=/d,").starts_with("\"\" is not mode="));
  CHECK(refusal("t=/d,by=rank") == "\"t=/d,by=rank\" is not meant so: by= and order= are for mode=ShardedByS3Key");
}

TEST_CASE("the variable of a channel is SageMaker's, and one that shells take") {
  CHECK(channel_variables("train") == std::vector<std::string>{"SM_CHANNEL_TRAIN"});
  CHECK(channel_variables("my-data.1") == std::vector<std::string>{"SM_CHANNEL_MY-DATA.1", "SM_CHANNEL_MY_DATA_1"});
}

TEST_CASE("keys are dealt in turn, or in blocks, and each to one share") {
  CHECK(dealt(2, 5, KeyOrder::Modulo) == "0 2 4/1 3");
  CHECK(dealt(2, 5, KeyOrder::Block) == "0 1 2/3 4");
  CHECK(dealt(3, 2, KeyOrder::Modulo) == "0/1/");
  CHECK(dealt(3, 2, KeyOrder::Block) == "0/1/");
  CHECK(dealt(3, 0, KeyOrder::Block) == "//");
  for (const KeyOrder order : {KeyOrder::Modulo, KeyOrder::Block}) {
    std::vector<std::size_t> all;
    for (std::uint32_t i = 0; i < 7; ++i) {
      const auto some = keys_of({i, 7}, order, 100);
      CHECK((some.size() == 14 || some.size() == 15));
      CHECK(std::is_sorted(some.begin(), some.end()));
      all.insert(all.end(), some.begin(), some.end());
    }
    std::sort(all.begin(), all.end());
    CHECK(all.size() == 100);
    CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
  }
}

TEST_CASE("shares that are not equal are named") {
  CHECK(unequal_shares("train", 2, 4).empty());
  CHECK(unequal_shares("train", 2, 5) == "channel train has 5 files for 2 shares: 1 of them have 3, the others 2");
  CHECK(unequal_shares("train", 3, 2) == "channel train has 2 files for 3 shares: 1 of them is empty");
  CHECK(unequal_shares("train", 3, 0) == "channel train has 0 files for 3 shares: 3 of them are empty");
}

TEST_CASE("hosts or ranks have shares; what is sharded already is dealt on its host only") {
  const JobMap map = map_of({2, 1});
  Channel channel{"t", "/d"};
  CHECK(shares_of(channel, map) == "0/1 0/1 0/1 ");
  channel.mode = ChannelMode::Sharded;
  CHECK(shares_of(channel, map) == "0/2 0/2 1/2 ");
  channel.on_hosts = OnHosts::Sharded;
  CHECK(shares_of(channel, map) == "0/1 0/1 0/1 ");
  channel.by = ShareBy::Rank;
  CHECK(shares_of(channel, map) == "0/2 1/2 0/1 ");
  channel.on_hosts = OnHosts::Alike;
  CHECK(shares_of(channel, map) == "0/3 1/3 2/3 ");
}

TEST_CASE("each host is told the shares of its workers, and the platform's sharding counts") {
  sml::test::FakeContainer container;
  container.config("inputdataconfig.json", R"({"train":{"S3DistributionType":"ShardedByS3Key"},"test":{}})");
  ThisHost here;
  here.files = container.view();
  here.found.sharded_folders = [&container] { return sagemaker::sharded_folders({}, container.view()); };
  here.hardware.count_gpus = here.hardware.count_neuron_cores = [] { return 0U; };
  here.hardware.count_cpus = [] { return 1U; };
  here.process.working_directory = "/root";
  const auto planned = [&](const std::vector<std::string>& channels) {
    std::vector<std::string> words{"-H", "a:1,b:2"};
    for (const std::string& channel : channels) words.insert(words.end(), {"--channel", channel});
    words.emplace_back("true");
    const auto options = parse_command_line(words);
    if (options.has_error()) FAIL(options.error().message());
    auto plan = make_plan(std::get<Options>(*options), here);
    if (plan.has_error()) FAIL(plan.error().message());
    return *plan;
  };
  const plan::LaunchPlan plan = planned({"t=/opt/ml/input/data//train/,mode=ShardedByS3Key,by=rank",
                                         "e=/opt/ml/input/data/test,mode=ShardedByS3Key", "r=data"});
  REQUIRE(plan.warnings.size() == 1);
  CHECK(
      plan.warnings[0] ==
      "channel t: the platform has sharded /opt/ml/input/data/train over the hosts already; the workers of each share "
      "what it has");
  CHECK(plan.channels[2].folder == "/root/data");
  const auto sessions = attempt::session_plans(plan, {.heartbeat_loss = {}, .wants_stdin = {}});
  REQUIRE(sessions.size() == 2);
  const std::vector<HostChannel>& of_b = sessions[1].prepare(attempt::AgentPlace::Remote).channels;
  REQUIRE(of_b.size() == 3);
  CHECK(of_b[0].folder == "/opt/ml/input/data/train");
  CHECK(of_b[0].shares == std::vector<Share>{{0, 2}, {1, 2}});
  CHECK(of_b[1].shares == std::vector<Share>{{1, 2}, {1, 2}});
  CHECK(of_b[2].shares == std::vector<Share>{{0, 1}, {0, 1}});

  using Words = std::vector<std::string>;
  const Words pairs[] = {{"--channel", "a-b=/x", "--channel", "a.b=/y", "true"},
                         {"--pipe-fanout", "a-b", "--pipe-fanout", "a.b", "true"}};
  for (const Words& words : pairs) {
    const auto twice = parse_command_line(words);
    REQUIRE(twice.has_error());
    CHECK(twice.error().message().find("channel a.b is given twice, as both are SM_CHANNEL_A_B") != std::string::npos);
  }
}

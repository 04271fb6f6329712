#include "common/plan/environment/rendezvous_variables.h"

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::plan;

namespace {

LaunchPlan make_plan(std::uint32_t ranks, Environment user = {}, Environment launcher = {}) {
  HostList list;
  list.hosts.push_back({.name = "a", .user = {}, .slots = ranks});
  LaunchPlan plan;
  plan.map = *map_job(list, std::nullopt, Oversubscribe::No);
  plan.user_environment = std::move(user);
  plan.launcher_environment = std::move(launcher);
  return plan;
}

TorchStore store_for(const LaunchPlan& plan) { return choose_torch_store(plan, TorchStore::OfAgent); }

}  // namespace

TEST_CASE("torch's store is left to rank 0 where the user's variables ask for that, or it is alone") {
  CHECK(store_for(make_plan(2)) == TorchStore::OfAgent);
  CHECK(store_for(make_plan(1)) == TorchStore::OfAgent);  // as it is asked for
  CHECK(usual_torch_store(make_plan(1), NamesAddress::No) == TorchStore::OfRank0);
  CHECK(usual_torch_store(make_plan(2), NamesAddress::No) == TorchStore::OfAgent);
  CHECK(usual_torch_store(make_plan(2), NamesAddress::Yes) == TorchStore::OfRank0);
  CHECK(store_for(make_plan(1, {"TORCHELASTIC_USE_AGENT_STORE=True"})) == TorchStore::OfAgent);
  CHECK(choose_torch_store(make_plan(2), TorchStore::OfRank0) == TorchStore::OfRank0);
  CHECK(choose_torch_store(make_plan(2, {"TORCHELASTIC_USE_AGENT_STORE=True"}), TorchStore::OfRank0) ==
        TorchStore::OfAgent);
  for (const char* variable : {"MASTER_PORT=1", "MASTER_ADDR=b", "TORCHELASTIC_USE_AGENT_STORE=False", "USE_LIBUV=0"}) {
    CHECK(store_for(make_plan(2, {variable})) == TorchStore::OfRank0);
  }
  for (const char* variable : {"TORCHELASTIC_USE_AGENT_STORE=True", "USE_LIBUV=1", "MASTER=1"}) {
    CHECK(store_for(make_plan(2, {variable})) == TorchStore::OfAgent);
  }
  CHECK(store_for(make_plan(2, {}, {"USE_LIBUV=0"})) == TorchStore::OfRank0);
  CHECK(store_for(make_plan(2, {"USE_LIBUV=1"}, {"USE_LIBUV=0"})) == TorchStore::OfAgent);
  CHECK(store_for(make_plan(2, {}, {"MASTER_PORT=1"})) == TorchStore::OfAgent);  // of another launcher, perhaps
}

TEST_CASE("a program that names an address of its own is seen by its arguments and its script") {
  const auto own = [](std::vector<std::string> command, std::string_view script = "") {
    return names_own_address(command, script);
  };
  CHECK(own({"python3", "main.py", "--dist-url", "tcp://127.0.0.1:23456"}));
  CHECK(own({"python3", "t.py"}, "dist.init_process_group('gloo', init_method='tcp://10.1.1.20:23456')\n"));
  CHECK(own({"python3", "t.py"}, "    os.environ['MASTER_ADDR'] = 'localhost'\n"));
  CHECK(own({"python3", "t.py"}, "os.environ[\"MASTER_PORT\"]=\"12355\"\n"));
  CHECK(own({"sh", "go.sh"}, "export MASTER_PORT=29501\npython3 t.py\n"));
  CHECK_FALSE(own({"python3", "t.py"}, "dist.init_process_group('gloo')\n"));
  CHECK_FALSE(own({"python3", "t.py"}, "host, port = os.environ['MASTER_ADDR'], int(os.environ['MASTER_PORT'])\n"));
  CHECK_FALSE(own({"python3", "t.py"}, "if os.environ['MASTER_PORT'] == '1': pass\n"));
  CHECK_FALSE(own({"python3", "t.py"}, "os.environ.setdefault('MASTER_PORT', '29500')\n"));
  CHECK_FALSE(own({"python3", "t.py"}, "MASTER_PORT"));
  CHECK_FALSE(own({}));
}

TEST_CASE("what each rank has of its own is not the user's to set, and that is said") {
  CHECK(ignored_variables(make_plan(2, {"A=1"}, {"RANK=1"})).empty());
  CHECK(ignored_variables(make_plan(2, {"RANK=0"})) ==
        std::vector<std::string>{"RANK is not set to the value of -x or --env-file: each rank has its own"});
}

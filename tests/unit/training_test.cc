#include "launcher/sagemaker/training.h"

#include <algorithm>
#include <memory>

#include "launcher/inputs/inputs.h"
#include "launcher/options/command_line.h"
#include "tests/support/catch.h"
#include "tests/support/sagemaker_files.h"

using namespace sml;
using sml::test::FakeContainer;

namespace {
using Words = std::vector<std::string>;

Options parsed(const Words& words) {
  const auto result = parse_command_line(words);
  if (result.has_error()) FAIL(result.error().message());
  return std::get<Options>(*result);
}

std::string usage_error(const Words& words) {
  const auto result = parse_command_line(words);
  return result.has_error() ? result.error().message() : "(accepted)";
}

struct FakeHost {
  FakeContainer container;
  std::uint32_t gpus = 0;
  ThisHost here() const {
    ThisHost m;
    m.files = container.view();
    m.hardware.count_gpus = [this] { return gpus; };
    m.hardware.count_neuron_cores = [] { return 0U; };
    m.hardware.count_cpus = [] { return 4U; };
    m.names.own = "aws";
    m.process.working_directory = "/root";
    m.job.id = "sml-1";
    return m;
  }
};

Result<Training> prepare(Options& options, const ThisHost& here) {
  HostFinder finder(here);
  return prepare_training(options, here, finder);
}

FakeHost one_host(const std::string& hyperparameters) {
  FakeHost fake;
  fake.container.files["/opt/ml/code/train.py"] = "";
  fake.container.config("resourceconfig.json", R"({"current_host":"algo-1","hosts":["algo-1"]})");
  fake.container.config("hyperparameters.json", hyperparameters);
  return fake;
}

std::uint32_t workers_of(const Words& words, const std::string& hyperparameters) {
  FakeHost fake = one_host(hyperparameters);
  fake.gpus = 8;
  Options options = parsed(words);
  if (const auto training = prepare(options, fake.here()); training.has_error()) {
    FAIL(training.error().message());
  }
  const auto plan = make_plan(options, fake.here());
  if (plan.has_error()) FAIL(plan.error().message());
  return plan->map.world_size();
}
}  // namespace

TEST_CASE("train is a word of ours only where a program could stand") {
  CHECK(parsed({"train"}).mode == Mode::Train);
  CHECK(parsed({"-np", "4", "train"}).np == 4U);
  CHECK(parsed({"train", "-np", "4", "--hp-style", "v3"}).training.style == HyperparameterStyle::V3);
  CHECK(parsed({"train", "--no-install", "--", "prog", "-np"}).command == Words{"prog", "-np"});
  CHECK(parsed({"--", "train"}).mode == Mode::Program);
  CHECK(parsed({"./train"}).mode == Mode::Program);
  CHECK(parsed({"prog", "train"}).mode == Mode::Program);
  CHECK(parsed({"serve", "x"}).command == Words{"serve", "x"});
  CHECK(usage_error({"train", "x"}) ==
        "train: \"x\" is no option; write sml-run train -- PROGRAM, or ./train for a program of that name");
  CHECK(usage_error({"serve"}) ==
        "serve: sml-run trains models and serves none; to start a program of that name write ./serve");
}

TEST_CASE("ranks of the mpi distribution that would each be alone are refused, those of others warned of") {
  const auto rule_of = [](const std::string& key) {
    FakeHost fake = one_host(R"({"sagemaker_program":"train.py",")" + key + R"(":"true"})");
    Options options = parsed({"train"});
    REQUIRE(prepare(options, fake.here()).has_value());
    return options.mpi_singleton;
  };
  CHECK(rule_of("sagemaker_mpi_enabled") == MpiSingleton::Refused);
  CHECK(rule_of("sagemaker_torch_distributed_enabled") == MpiSingleton::Warned);
}

TEST_CASE("the distribution of the job says how many workers a host has") {
  const std::string program = R"("sagemaker_program":"train.py")";
  const std::string mpi = "{" + program + R"(,"sagemaker_mpi_enabled":"true")";
  CHECK(workers_of({"train"}, "{" + program + "}") == 1);
  CHECK(workers_of({"train"}, mpi + "}") == 8);
  CHECK(workers_of({"train"}, mpi + R"(,"sagemaker_mpi_num_of_processes_per_host":"4"})") == 4);
  CHECK(workers_of({"train"}, mpi + R"(,"sagemaker_mpi_num_processes":"3"})") == 3);
  CHECK(workers_of({"train"}, "{" + program + R"(,"sagemaker_torch_distributed_enabled":"true"})") == 8);
  CHECK(workers_of({"train"}, "{" + program + R"(,"sagemaker_parameter_server_enabled":"true"})") == 1);
  CHECK(workers_of({"train", "-N", "2"}, mpi + R"(,"sagemaker_mpi_num_of_processes_per_host":"4"})") == 2);
  CHECK(workers_of({"train", "-np", "2"}, mpi + R"(,"sagemaker_mpi_num_processes":"3"})") == 2);
}

TEST_CASE("a training job becomes options; the command line has more say") {
  FakeHost fake = one_host(R"({"sagemaker_program":"train.py","lr":"0.1","sagemaker_mpi_enabled":"true",
    "sagemaker_mpi_custom_mpi_options":"\"-x A=1 -x B=1 -map-by node\""})");
  fake.container.files["/opt/ml/code/requirements.txt"] = "numpy";
  Options options = parsed({"train", "-x", "A=2"});
  const auto training = prepare(options, fake.here());
  REQUIRE(training.has_value());
  CHECK(options.command == Words{"python3", "train.py", "--lr", "0.1"});
  CHECK(options.working_directory == "/opt/ml/code");
  CHECK(options.export_variables == Words{"A=1", "B=1", "A=2"});
  CHECK(training->own_name == "algo-1");
  CHECK(training->installations.size() == 1);
  CHECK(training->warnings == Words{"custom_mpi_options: -map-by node is for mpirun itself; ignored"});
  CHECK(*plan::find_variable(options.extra_variables, "SM_CURRENT_HOST") == "SM_CURRENT_HOST=algo-1");

  options = parsed({"train", "--no-install", "--wdir", "/w"});
  CHECK(prepare(options, fake.here())->installations.empty());
  CHECK(options.working_directory == "/w");

  options = parsed({"train", "--", "prog", "a b"});
  CHECK(prepare(options, fake.here())->installations.empty());
  CHECK(options.command == Words{"prog", "a b"});
}

TEST_CASE("a job of version 3 of the SDK becomes options by its own rules") {
  FakeHost fake = one_host(R"({"n":"3","flag":"true","sagemaker_x":"[1,2]"})");
  fake.container.files["/opt/ml/input/data/code/train.py"] = "";
  fake.container.files["/opt/ml/input/data/code/requirements.txt"] = "numpy";
  fake.container.files["/opt/ml/input/data/sm_drivers/distributed.json"] = R"({"process_count_per_node":2})";
  ThisHost here = fake.here();
  here.process.environment = {"SM_ENTRY_SCRIPT=train.py", "SM_TRAINING_ENV={}", "SM_HP_N=3"};
  Options options = parsed({"train"});
  const auto training = prepare(options, here);
  REQUIRE(training.has_value());
  CHECK(options.command == Words{"python3", "train.py", "--n", "3", "--flag", "true", "--sagemaker_x", "[1, 2]"});
  CHECK(options.working_directory == "/opt/ml/input/data/code");
  CHECK(options.nproc_per_node == 2U);
  CHECK(training->installations.empty());
  const auto starts_with_sm = [](const std::string& entry) { return entry.starts_with("SM_"); };
  CHECK(std::none_of(options.extra_variables.begin(), options.extra_variables.end(), starts_with_sm));
  CHECK(*plan::find_variable(options.extra_variables, "NCCL_SOCKET_IFNAME") == "NCCL_SOCKET_IFNAME=eth0");

  options = parsed({"train", "--hp-style", "toolkit"});
  REQUIRE(prepare(options, here).has_value());
  CHECK(options.command == Words{"python3", "train.py", "--flag", "True", "-n", "3"});

  here.process.environment = {"SM_ENTRY_SCRIPT=train.py"};  // its environment.py has not run
  options = parsed({"train"});
  REQUIRE(prepare(options, here).has_value());
  CHECK(*plan::find_variable(options.extra_variables, "SM_CURRENT_HOST") == "SM_CURRENT_HOST=algo-1");
}

TEST_CASE("what no program can be given is refused") {
  FakeHost fake = one_host(R"({"sagemaker_program":"train.py","a":"\"\\u0000\""})");
  Options options = parsed({"train"});
  CHECK(prepare(options, fake.here()).error().message() ==
        "hyperparameters.json: a value holds a NUL byte, which no argument of a program can");
}

TEST_CASE("several hosts call each other, or are reached with -H; none of them gets what is another's") {
  FakeHost fake = one_host(R"({"sagemaker_program":"train.py"})");
  fake.container.config("resourceconfig.json", R"({"current_host":"algo-1","hosts":["algo-1","algo-2"]})");
  Options options = parsed({"train"});
  const auto training = prepare(options, fake.here());
  REQUIRE(training.has_value());
  CHECK(training->hosts_call);
  CHECK(plan::find_variable(training->host_variables, "SM_CURRENT_HOST") != nullptr);
  CHECK(options.extra_variables.empty());
  CHECK(options.start_timeout == std::chrono::minutes(15));
  options = parsed({"train", "--start-timeout", "60s"});
  REQUIRE(prepare(options, fake.here()).has_value());
  CHECK(options.start_timeout == std::chrono::seconds(60));
  options = parsed({"train", "-H", "algo-1:1,algo-2:1"});
  REQUIRE(prepare(options, fake.here()).has_value());
  CHECK(prepare(*std::make_unique<Options>(parsed({"train", "--hostfile", "h"})), fake.here()).has_value());
  CHECK(plan::find_variable(options.extra_variables, "SM_HOSTS") != nullptr);
  for (const char* name : {"SM_CURRENT_HOST", "CURRENT_HOST", "SM_NUM_GPUS", "SM_TRAINING_ENV", "SM_RESOURCE_CONFIG"}) {
    CAPTURE(name);
    CHECK(plan::find_variable(options.extra_variables, name) == nullptr);
  }
}

TEST_CASE("a group of one host is a job of its own; --group settles which group a distribution is for") {
  FakeHost fake = one_host(R"({"sagemaker_program":"train.py","sagemaker_mpi_enabled":"true",
    "sagemaker_distribution_instance_groups":"[\"one\"]"})");
  const auto on = [&](const char* host) {
    fake.container.config("resourceconfig.json",
                          std::string(R"({"current_host":")") + host + R"(","hosts":["algo-1","algo-2","algo-3"],
      "instance_groups":[{"instance_group_name":"one","instance_type":"t","hosts":["algo-2"]},
                         {"instance_group_name":"two","instance_type":"t","hosts":["algo-1","algo-3"]}]})");
  };
  const auto hosts_of_plan = [&](Options& options) {
    const auto plan = make_plan(options, fake.here());
    if (plan.has_error()) FAIL(plan.error().message());
    Words names;
    for (const plan::MappedHost& host : plan->map.hosts) names.push_back(host.host.name);
    return names;
  };
  on("algo-2");
  Options options = parsed({"train"});
  auto training = prepare(options, fake.here());
  REQUIRE(training.has_value());
  CHECK_FALSE(training->hosts_call);
  CHECK(training->own_name == "algo-2");
  CHECK(hosts_of_plan(options) == Words{"algo-2"});
  CHECK(*plan::find_variable(options.extra_variables, "SM_CURRENT_HOST") == "SM_CURRENT_HOST=algo-2");
  on("algo-1");  // stands aside
  options = parsed({"train"});
  CHECK_FALSE(prepare(options, fake.here())->hosts_call);
  CHECK(hosts_of_plan(options) == Words{"localhost"});

  fake.container.config("hyperparameters.json", R"({"sagemaker_program":"train.py","sagemaker_mpi_enabled":"true"})");
  options = parsed({"train"});
  CHECK(prepare(options, fake.here()).error().hint().find("or with --group") != std::string::npos);
  options = parsed({"train", "--group", " one:4 "});
  training = prepare(options, fake.here());  // not of that group: it has nothing to do
  REQUIRE(training.has_value());
  CHECK(training->hosts_call);
  options = parsed({"train", "--group", "two"});
  CHECK(prepare(options, fake.here())->hosts_call);
  CHECK(hosts_of_plan(options) == Words{"algo-1", "algo-3"});
  options = parsed({"train", "--group", "three"});
  CHECK(prepare(options, fake.here()).error().message() ==
        "--group: \"three\" is not one of the job's instance groups: one, two");
}

TEST_CASE("the framework of the distribution gets its preset, unless another is given") {
  FakeHost fake = one_host(R"({"sagemaker_program":"train.py","sagemaker_parameter_server_enabled":"true"})");
  fake.container.config("resourceconfig.json", R"({"current_host":"algo-1","hosts":["algo-1","algo-2"]})");
  Options options = parsed({"train"});
  const auto training = prepare(options, fake.here());
  REQUIRE(training.has_value());
  CHECK(options.presets == std::set{plan::Preset::Tf});
  REQUIRE(training->warnings.size() == 1);
  CHECK(training->warnings.front().find("no parameter servers") != std::string::npos);
  options = parsed({"train", "--preset", "tf"});
  CHECK(prepare(options, fake.here())->warnings.empty());
}

TEST_CASE("what the user has set of a network's variables stays") {
  FakeHost fake = one_host(R"({"sagemaker_program":"train.py","sagemaker_torch_distributed_enabled":"true"})");
  fake.container.config("resourceconfig.json",
                        R"({"current_host":"algo-1","hosts":["algo-1"],"current_instance_type":"ml.p5.48xlarge"})");
  fake.container.files["/sys/module/efa/version"] = "2.1";
  fake.container.files["/dev/infiniband/uverbs0"] = "";
  ThisHost here = fake.here();
  here.process.environment = {"NCCL_PROTO=LL"};
  Options options = parsed({"train"});
  REQUIRE(prepare(options, here).has_value());
  CHECK(*plan::find_variable(options.extra_variables, "FI_PROVIDER") == "FI_PROVIDER=efa");
  CHECK(plan::find_variable(options.extra_variables, "NCCL_PROTO") == nullptr);
}

TEST_CASE("the hosts of another platform's job call as those of a training job") {
  FakeHost fake = one_host(R"({"sagemaker_program":"train.py"})");
  fake.container.files.erase("/opt/ml/input/config/resourceconfig.json");
  ThisHost here = fake.here();
  here.process.environment = {"AWS_BATCH_JOB_NUM_NODES=2", "AWS_BATCH_JOB_NODE_INDEX=1"};
  Options options = parsed({"train"});
  const auto training = prepare(options, here);
  if (training.has_error()) FAIL(training.error().message());
  CHECK(training->hosts_call);
  const auto shows = [&](const char* entry) {
    const plan::Environment& all = training->host_variables;
    return std::find(all.begin(), all.end(), entry) != all.end();
  };
  CHECK(shows("SM_CURRENT_HOST=host-1"));
  CHECK(shows(R"(SM_HOSTS=["host-0","host-1"])"));
}

TEST_CASE("the platform's file for failures is chosen by the kind of the job") {
  FakeHost fake;
  const auto path = [&](const Words& words) {
    Options options = parsed(words);
    choose_failure_file(options, fake.here());
    return options.failure.path;
  };
  CHECK(path({"train"}) == "/opt/ml/output/failure");
  CHECK(path({"prog"}).empty());
  CHECK(path({"--failure-file", "f", "prog"}) == "f");
  CHECK(path({"train", "--no-failure-file"}).empty());
  CHECK(path({"train", "--failure-file", "f", "--no-failure-file"}).empty());
  fake.container.files["/opt/ml/config/resourceconfig.json"] = "{}";
  CHECK(path({"prog"}) == "/opt/ml/output/message");
  fake.container.files["/opt/ml/input/data/sm_drivers/sm_train.sh"] = "";
  CHECK(path({"prog"}) == "/opt/ml/output/failure");
}

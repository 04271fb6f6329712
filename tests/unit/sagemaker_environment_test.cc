#include "launcher/sagemaker/sm_environment.h"

#include "tests/support/catch.h"
#include "tests/support/sagemaker_files.h"

using namespace sml;
using namespace sml::sagemaker;
using sml::test::FakeContainer;

namespace {
FakeContainer container() {
  FakeContainer out;
  out.config("resourceconfig.json",
             R"({"current_host":"algo-2","hosts":["algo-1","algo-2"],"network_interface_name":"eth1",
                 "current_instance_type":"ml.p4d.24xlarge","current_group_name":"gpu","instance_groups":[
                 {"instance_group_name":"gpu","instance_type":"ml.p4d.24xlarge","hosts":["algo-2"]},
                 {"instance_group_name":"cpu","instance_type":"ml.c5.9xlarge","hosts":["algo-1"]}]})");
  out.config("inputdataconfig.json", R"({"train":{"TrainingInputMode":"File"},"eval-set":{}})");
  out.config("hyperparameters.json",
             R"({"learning-rate":"1e-5","layers":"[1, 2]","name":"\"it's é\"","flag":"true","nothing":"null",
                 "sagemaker_program":"\"train.py\"","sagemaker_region":"\"eu-west-1\"","sagemaker_job_name":"\"job\"",
                 "sagemaker_mpi_enabled":"true","sagemaker_distribution_instance_groups":"[\"gpu\"]"})");
  return out;
}

plan::Environment variables_for(const std::string& host) {
  const FakeContainer files = container();
  const auto contract = read_contract({}, files.view(), "box");
  REQUIRE(contract.has_value());
  const auto distribution = read_distribution(*contract, {}, files.view());
  REQUIRE(distribution.has_value());
  const EntryPoint entry{EntryKind::Script, "train.py", "/opt/ml/code"};
  return sm_environment({*contract, *distribution, entry}, {.name = host, .cpus = 96, .gpus = 8, .neuron_cores = 0},
                        {"TRAINING_JOB_NAME=job-1"});
}

std::string value(const plan::Environment& environment, std::string_view name) {
  const std::string* entry = plan::find_variable(environment, name);
  return entry == nullptr ? "(not set)" : std::string(plan::value_of(*entry));
}
}  // namespace

TEST_CASE("user code finds the variables of the training toolkit") {
  const plan::Environment v = variables_for("algo-2");
  struct Row {
    const char* name;
    const char* value;
  };
  const Row rows[] = {
      {"SM_HOSTS", R"(["algo-1","algo-2"])"},
      {"SM_CURRENT_HOST", "algo-2"},
      {"SM_NETWORK_INTERFACE_NAME", "eth1"},
      {"SM_CURRENT_INSTANCE_TYPE", "ml.p4d.24xlarge"},
      {"SM_CURRENT_INSTANCE_GROUP", "gpu"},
      {"SM_CURRENT_INSTANCE_GROUP_HOSTS", R"(["algo-2"])"},
      {"SM_INSTANCE_GROUPS", R"(["gpu","cpu"])"},
      {"SM_INSTANCE_GROUPS_DICT",
       R"({"cpu":{"hosts":["algo-1"],"instance_group_name":"cpu","instance_type":"ml.c5.9xlarge"},)"
       R"("gpu":{"hosts":["algo-2"],"instance_group_name":"gpu","instance_type":"ml.p4d.24xlarge"}})"},
      {"SM_DISTRIBUTION_INSTANCE_GROUPS", R"(["gpu"])"},
      {"SM_IS_HETERO", "true"},
      {"SM_TOPOLOGY", "(not set)"},
      {"SM_INPUT_DATA_CONFIG", R"({"eval-set":{},"train":{"TrainingInputMode":"File"}})"},
      {"SM_HPS", R"({"flag":true,"layers":[1,2],"learning-rate":1e-05,"name":"it's \u00e9","nothing":null})"},
      {"SM_HP_LEARNING-RATE", "1e-05"},
      {"SM_HP_LEARNING_RATE", "1e-05"},
      {"SM_HP_LAYERS", "[1,2]"},
      {"SM_HP_NAME", "it's \xC3\xA9"},
      {"SM_HP_FLAG", "true"},
      {"SM_HP_NOTHING", ""},
      {"SM_HP_SAGEMAKER_PROGRAM", "(not set)"},
      {"SM_FRAMEWORK_PARAMS", R"({"sagemaker_distribution_instance_groups":["gpu"],"sagemaker_mpi_enabled":true})"},
      {"SM_USER_ARGS", R"(["--flag","True","--layers","[1, 2]","--learning-rate","1e-05","--name","it's \u00e9",)"
                       R"("--nothing",""])"},
      {"SM_USER_ENTRY_POINT", "train.py"},
      {"SM_MODULE_NAME", "train"},
      {"SM_MODULE_DIR", "/opt/ml/code"},
      {"SM_FRAMEWORK_MODULE", ""},
      {"SM_CHANNELS", R"(["eval-set","train"])"},
      {"SM_CHANNEL_TRAIN", "/opt/ml/input/data/train"},
      {"SM_CHANNEL_EVAL-SET", "/opt/ml/input/data/eval-set"},
      {"SM_CHANNEL_EVAL_SET", "/opt/ml/input/data/eval-set"},
      {"SM_INPUT_DIR", "/opt/ml/input"},
      {"SM_INPUT_CONFIG_DIR", "/opt/ml/input/config"},
      {"SM_MODEL_DIR", "/opt/ml/model"},
      {"SM_OUTPUT_DIR", "/opt/ml/output"},
      {"SM_OUTPUT_DATA_DIR", "/opt/ml/output/data"},
      {"SM_OUTPUT_INTERMEDIATE_DIR", "/opt/ml/output/intermediate"},
      {"SM_NUM_CPUS", "96"},
      {"SM_NUM_GPUS", "8"},
      {"SM_NUM_NEURONS", "0"},
      {"SM_LOG_LEVEL", "20"},
      {"SM_HOST_COUNT", "2"},
      {"SM_CURRENT_HOST_RANK", "1"},
      {"CURRENT_HOST", "algo-2"},
      {"SAGEMAKER_JOB_NAME", "job"},
      {"SAGEMAKER_REGION", "eu-west-1"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(value(v, row.name) == row.value);
  }
  const auto whole = parse_json(value(v, "SM_TRAINING_ENV"));
  REQUIRE(whole.has_value());
  const auto& object = std::get<Object>(whole->data);
  CHECK(to_json(*find(object, "is_master"), JsonStyle::Compact) == "true");
  CHECK(to_str(*find(object, "master_hostname")) == "algo-2");
  CHECK(to_str(*find(object, "job_name")) == "job-1");
  CHECK(to_json(*find(object, "is_smddprun_installed"), JsonStyle::Compact) == "false");
  CHECK(to_json(*find(object, "is_modelparallel_enabled"), JsonStyle::Compact) == "null");
  CHECK(to_json(*find(object, "topology"), JsonStyle::Compact) == "[]");
}

TEST_CASE("hosts close to each other, smdistributed and the region are told as the toolkit tells them") {
  FakeContainer files;
  files.config("resourceconfig.json", R"({"current_host":"a","hosts":["a"],
    "topology":[{"hostName":"a","capacityUnitId":"u"}]})");
  const auto contract = read_contract({}, files.view(), "box");
  const Distribution none;
  const EntryPoint entry{EntryKind::Script, "t.py", "/opt/ml/code"};
  const plan::Environment inherited{"AWS_REGION=b", "AWS_DEFAULT_REGION=c", "SM_HP_MP_PARAMETERS={\"x\":1}"};
  const plan::Environment v = sm_environment({*contract, none, entry}, {.name = "a", .has_smddprun = true}, inherited);
  CHECK(value(v, "SM_TOPOLOGY") == R"([{"capacityUnitId":"u","hostName":"a"}])");
  CHECK(value(v, "SAGEMAKER_REGION") == "c");
  const auto whole = parse_json(value(v, "SM_TRAINING_ENV"));
  const auto& object = std::get<Object>(whole->data);
  CHECK(to_json(*find(object, "is_smddprun_installed"), JsonStyle::Compact) == "true");
  CHECK(to_json(*find(object, "is_modelparallel_enabled"), JsonStyle::Compact) == "true");
}

TEST_CASE("what differs by host is that host's") {
  const plan::Environment v = variables_for("algo-1");
  CHECK(value(v, "SM_CURRENT_HOST") == "algo-1");
  CHECK(value(v, "CURRENT_HOST") == "algo-1");
  CHECK(value(v, "SM_CURRENT_INSTANCE_TYPE") == "ml.c5.9xlarge");
  CHECK(value(v, "SM_CURRENT_INSTANCE_GROUP") == "cpu");
  CHECK(value(v, "SM_CURRENT_HOST_RANK") == "0");
  const auto config = parse_json(value(v, "SM_RESOURCE_CONFIG"));
  const auto& object = std::get<Object>(config->data);
  CHECK(to_str(*find(object, "current_host")) == "algo-1");
  CHECK(to_str(*find(object, "current_instance_type")) == "ml.c5.9xlarge");
  CHECK(to_str(*find(object, "current_group_name")) == "cpu");
}

TEST_CASE("a twin never takes the name of another hyperparameter") {
  FakeContainer files;
  files.config("hyperparameters.json", R"({"a-b":"1","a_b":"2"})");
  const auto contract = read_contract({}, files.view(), "box");
  const Distribution none;
  const EntryPoint entry{EntryKind::Script, "t.py", "/opt/ml/code"};
  const plan::Environment v = sm_environment({*contract, none, entry}, {.name = "box"}, {});
  CHECK(value(v, "SM_HP_A-B") == "1");
  CHECK(value(v, "SM_HP_A_B") == "2");
}

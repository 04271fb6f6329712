#include "launcher/sagemaker/contract.h"

#include "launcher/sagemaker/distribution.h"
#include "launcher/sagemaker/entry_point.h"
#include "tests/support/catch.h"
#include "tests/support/sagemaker_files.h"

using namespace sml;
using namespace sml::sagemaker;
using sml::test::FakeContainer;

namespace {
using Words = std::vector<std::string>;

constexpr const char* kHetero = R"({"current_host":"algo-2","hosts":["algo-1","algo-2","algo-3"],
  "current_instance_type":"ml.p4d.24xlarge","current_group_name":"gpu","network_interface_name":"eth1",
  "instance_groups":[
    {"instance_group_name":"gpu","instance_type":"ml.p4d.24xlarge","hosts":["algo-3","algo-2"]},
    {"instance_group_name":"cpu","instance_type":"ml.c5.9xlarge","hosts":["algo-1"]}],"topology":null})";

Contract contract_of(const FakeContainer& container, const plan::Environment& environment = {}) {
  const auto contract = read_contract(environment, container.view(), "box");
  if (contract.has_error()) FAIL(contract.error().message());
  return *contract;
}

std::string contract_error(const FakeContainer& container) {
  const auto contract = read_contract({}, container.view(), "box");
  if (contract.has_value()) return "(accepted)";
  CHECK(contract.error().kind() == ErrorKind::Config);
  return contract.error().message();
}

// What the job's hyperparameters make of the launch.
Result<Distribution> distribution_of(const std::string& hyperparameters, const plan::Environment& environment = {}) {
  FakeContainer container;
  container.config("hyperparameters.json", hyperparameters);
  return read_distribution(contract_of(container), environment, container.view());
}
}  // namespace

TEST_CASE("the contract of a heterogeneous job is read") {
  FakeContainer container;
  container.config("resourceconfig.json", kHetero);
  container.config("inputdataconfig.json", R"({"train":{"TrainingInputMode":"File"},"eval":{}})");
  container.config("hyperparameters.json", R"({"epochs":"3"})");
  const Contract contract = contract_of(container);
  CHECK(contract.folder == "/opt/ml");
  CHECK(contract.current_host == "algo-2");
  CHECK(contract.hosts == Words{"algo-1", "algo-2", "algo-3"});
  CHECK(contract.network_interface == "eth1");
  CHECK(contract.instance_type == "ml.p4d.24xlarge");
  CHECK(contract.group == "gpu");
  REQUIRE(contract.groups.size() == 2);
  CHECK(contract.groups[0].hosts == Words{"algo-3", "algo-2"});
  CHECK(channels_of(contract) == Words{"eval", "train"});
  CHECK(channel_folder(contract, "train") == "/opt/ml/input/data/train");
  CHECK(parameter_text(contract, "epochs") == "3");
}

TEST_CASE("a container without files is a job of this machine, and old files have defaults") {
  const Contract alone = contract_of({});
  CHECK(alone.source.empty());
  CHECK(alone.hosts == Words{"box"});
  CHECK(alone.current_host == "box");
  FakeContainer container;
  container.config("resourceconfig.json", R"({"current_host":"algo-1","hosts":["algo-1"]})");
  const Contract old = contract_of(container);
  CHECK(old.instance_type == "local");
  CHECK(old.group == "homogeneousCluster");
  CHECK(old.network_interface == "eth0");
}

TEST_CASE("SAGEMAKER_BASE_DIR moves the contract") {
  FakeContainer container;
  container.files["/tmp/x/opt/ml/input/config/hyperparameters.json"] = R"({"a":"1"})";
  container.files["/tmp/y/input/config/hyperparameters.json"] = R"({"a":"2"})";
  CHECK(contract_of(container, {"SAGEMAKER_BASE_DIR=/tmp/x/"}).folder == "/tmp/x/opt/ml");
  CHECK(contract_of(container, {"SAGEMAKER_BASE_DIR=/tmp/y"}).folder == "/tmp/y");
  CHECK(contract_of(container, {"SAGEMAKER_BASE_DIR="}).folder == "/opt/ml");
}

TEST_CASE("a contract that SAGEMAKER_BASE_DIR has moved is believed where nobody else can change it") {
  const std::string config = R"({"current_host":"a","hosts":["a"]})";
  for (const std::string folder : {"/opt/ml", "/tmp/x/opt/ml", "/opt/ml/../x/opt/ml"}) {
    CAPTURE(folder);
    FakeContainer container;
    container.files[folder + "/input/config/resourceconfig.json"] = config;
    FileAccess files = container.view();
    files.check_trust = [](const std::string&) { return Result<void>(Error(ErrorKind::Config, "it is open")); };
    const std::string base = folder.substr(0, folder.size() - std::string_view("/opt/ml").size());
    const auto contract = read_contract({"SAGEMAKER_BASE_DIR=" + base}, files, "box");
    const std::string refusal = folder + "/input/config/resourceconfig.json: is not obeyed, as it is open";
    CHECK((contract ? "" : contract.error().message()) == (base.empty() ? "" : refusal));
    files.check_trust = [](const std::string&) { return Result<void>(); };
    CHECK(read_contract({"SAGEMAKER_BASE_DIR=" + base}, files, "box").has_value());
  }
}

TEST_CASE("a contract that makes no sense is refused with file and key") {
  struct Row {
    const char* file;
    const char* text;
    const char* message;
  };
  const std::string rc = "resourceconfig.json";
  const Row rows[] = {
      {"resourceconfig.json", R"({"current_host":"b","hosts":["a"]})", ": \"current_host\" b is not in \"hosts\" (a)"},
      {"resourceconfig.json", R"({"current_host":"a","hosts":["a"],"current_instance_type":5})",
       ": \"current_instance_type\" is no string"},
      {"resourceconfig.json", R"({"current_host":"a","hosts":["a"],"instance_groups":[1]})",
       ": \"instance_groups\"[0] is no object"},
      {"resourceconfig.json", R"({"current_host":"a","hosts":["a"],"instance_groups":[{}]})",
       ": \"instance_groups\"[0] has no \"instance_group_name\""},
      {"resourceconfig.json",
       R"({"current_host":"a","hosts":["a"],"instance_groups":[{"instance_group_name":"g","hosts":["z"]}]})",
       ": \"instance_groups\"[0] names a host that is not in \"hosts\""},
      {"inputdataconfig.json", "[]", ": is no JSON object"},
      {"inputdataconfig.json", R"({"../x":{}})", ": \"../x\" is no name of a channel"},
      {"hyperparameters.json", "{", ": is not JSON (line 1, column 2)"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    FakeContainer container;
    container.config(row.file, row.text);
    CHECK(contract_error(container) == "/opt/ml/input/config/" + std::string(row.file) + row.message);
  }
}

TEST_CASE("keys of the SDK become the shape of a launch") {
  struct Row {
    const char* hyperparameters;
    Framework framework;
    std::optional<std::uint32_t> per_host;
    std::optional<std::uint32_t> processes;
  };
  const Row rows[] = {
      {R"({"lr":"0.1"})", Framework::None, {}, {}},
      {R"({"sagemaker_mpi_enabled":"true","sagemaker_mpi_num_of_processes_per_host":"8",
           "sagemaker_mpi_custom_mpi_options":"\"\""})",
       Framework::Mpi,
       8,
       {}},
      {R"({"sagemaker_mpi_enabled":"True","sagemaker_mpi_num_of_processes_per_host":"8",
           "sagemaker_mpi_num_processes":"12"})",
       Framework::Mpi, 8, 12},
      {R"({"sagemaker_mpi_enabled":"true","mp_parameters":"{\"partitions\": 2}"})", Framework::Mpi, {}, {}},
      {R"({"sagemaker_mpi_enabled":"false","sagemaker_torch_distributed_enabled":"true"})",
       Framework::TorchDistributed,
       {},
       {}},
      {R"({"sagemaker_pytorch_ddp_enabled":"true","sagemaker_torch_distributed_enabled":"true"})",
       Framework::DataParallel,
       {},
       {}},
      {R"({"sagemaker_distributed_dataparallel_enabled":"true","sagemaker_instance_type":"\"ml.p4d.24xlarge\""})",
       Framework::DataParallel,
       {},
       {}},
      {R"({"sagemaker_parameter_server_enabled":"true"})", Framework::ParameterServer, {}, {}},
      {R"({"sagemaker_multi_worker_mirrored_strategy_enabled":true})", Framework::MirroredStrategy, {}, {}},
      {R"({"sagemaker_pytorch_xla_multi_worker_enabled":"true"})", Framework::TorchDistributed, {}, {}},
      {R"({"sagemaker_mpi_enabled":"true","sagemaker_mpi_custom_mpi_options":"\"-np 3 -np 5\""})",
       Framework::Mpi,
       {},
       5},
  };
  for (const Row& row : rows) {
    CAPTURE(row.hyperparameters);
    const auto distribution = distribution_of(row.hyperparameters);
    REQUIRE(distribution.has_value());
    CHECK(distribution->framework == row.framework);
    CHECK(distribution->per_host == row.per_host);
    CHECK(distribution->processes == row.processes);
  }
  CHECK(distribution_of(R"({"sagemaker_mpi_enabled":"maybe"})").error().message() ==
        "sagemaker_mpi_enabled: \"maybe\" is not true or false");
  CHECK(distribution_of(R"({"sagemaker_mpi_enabled":"true","sagemaker_mpi_num_of_processes_per_host":"0"})")
            .error()
            .message() == "sagemaker_mpi_num_of_processes_per_host: \"0\" is not a whole number from 1 to 65536");
}

TEST_CASE("the configuration of version 3 of the SDK becomes the shape of a launch") {
  const auto torch = distribution_of("{}", {R"(SM_DISTRIBUTED_CONFIG={"process_count_per_node": 4, "smp": null})"});
  CHECK(torch->framework == Framework::TorchDistributed);
  CHECK(torch->per_host == 4U);
  const auto mpi = distribution_of(
      "{}",
      {R"(SM_DISTRIBUTED_CONFIG={"process_count_per_node":2,"mpi_additional_options":["-x","A=b c","--verbose"]})"});
  CHECK(mpi->framework == Framework::Mpi);
  CHECK(mpi->mpi.export_words == Words{"A=b c"});
  CHECK(mpi->mpi.verbose);
  CHECK(distribution_of("{}", {"SM_DISTRIBUTED_CONFIG={}"})->framework == Framework::None);
  CHECK(distribution_of("{}", {"SM_DISTRIBUTED_CONFIG={"}).error().message() ==
        "SM_DISTRIBUTED_CONFIG: is not JSON (line 1, column 2)");
  FakeContainer container;
  container.files["/opt/ml/input/data/sm_drivers/distributed.json"] = R"({"process_count_per_node": 3})";
  CHECK(read_distribution(contract_of(container), {}, container.view())->per_host == 3U);
}

TEST_CASE("instance groups choose the hosts, in the order of the job") {
  FakeContainer container;
  container.config("resourceconfig.json", kHetero);
  const Contract contract = contract_of(container);
  Distribution distribution;
  CHECK(*hosts_of(contract, distribution) == contract.hosts);
  distribution.framework = Framework::Mpi;
  distribution.source = "sagemaker_mpi_enabled";
  CHECK(hosts_of(contract, distribution).error().message() ==
        "the job has the instance groups gpu, cpu, and does not name the one that sagemaker_mpi_enabled is for");
  distribution.groups = {"gpu"};
  CHECK(*hosts_of(contract, distribution) == Words{"algo-2", "algo-3"});
  distribution.groups = {"cpu", "gpu"};
  CHECK(*hosts_of(contract, distribution) == contract.hosts);
  distribution.groups = {"tpu"};
  CHECK(hosts_of(contract, distribution).error().message() ==
        "sagemaker_distribution_instance_groups: \"tpu\" is not one of the job's instance groups: gpu, cpu");
}

TEST_CASE("the program is found, and of the kind that the toolkit takes it for") {
  struct Row {
    Words files;
    const char* program;
    EntryKind kind;
    const char* folder;
    Words command;
  };
  const std::string code = "/opt/ml/code/";
  const Row rows[] = {
      {{code + "train.py"}, "train.py", EntryKind::Script, "/opt/ml/code", {"python3", "train.py", "--lr", "1 2"}},
      {{"/opt/ml/input/data/code/train.py"},
       "train.py",
       EntryKind::Script,
       "/opt/ml/input/data/code",
       {"python3", "train.py", "--lr", "1 2"}},
      {{code + "a.sh"}, "a.sh", EntryKind::ShellText, "/opt/ml/code", {"/bin/sh", "./a.sh", "--lr", "1 2"}},
      {{code + "bash.sh"}, "bash.sh", EntryKind::Executable, "/opt/ml/code", {"./bash.sh", "--lr", "1 2"}},
      {{code + "a.sh", code + "setup.py"},
       "a.sh",
       EntryKind::ShellText,
       "/opt/ml/code",
       {"/bin/sh", "./a.sh", "--lr", "1 2"}},
      {{code + "setup.py"}, "pkg", EntryKind::Package, "/opt/ml/code", {"python3", "-m", "pkg", "--lr", "1 2"}},
      {{code + "setup.py", code + "train.py"},
       "train.py",
       EntryKind::Package,
       "/opt/ml/code",
       {"python3", "-m", "train", "--lr", "1 2"}},
      {{code + "pkg/train.py"},
       "pkg.train",
       EntryKind::Module,
       "/opt/ml/code",
       {"python3", "-m", "pkg.train", "--lr", "1 2"}},
      {{code + "pkg/__main__.py"}, "pkg", EntryKind::Module, "/opt/ml/code", {"python3", "-m", "pkg", "--lr", "1 2"}},
      {{code + "src/train.py"},
       "src/train.py",
       EntryKind::Script,
       "/opt/ml/code",
       {"python3", "src/train.py", "--lr", "1 2"}},
      {{code + "bash-tool"}, "bash-tool", EntryKind::Executable, "/opt/ml/code", {"./bash-tool", "--lr", "1 2"}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.program, row.files);
    FakeContainer container;
    for (const std::string& file : row.files) {
      container.files[file] = file.find("bash") != file.npos ? "#!/bin/bash\n" : "text";
    }
    container.config("hyperparameters.json", "{\"sagemaker_program\":\"" + std::string(row.program) + "\"}");
    const auto entry = find_entry_point(contract_of(container), {"SAGEMAKER_PROGRAM=other.py"}, container.view());
    if (entry.has_error()) FAIL(entry.error().message());
    CHECK(entry->kind == row.kind);
    CHECK(entry->folder == row.folder);
    CHECK(command_of(*entry, {"--lr", "1 2"}) == row.command);
  }
}

TEST_CASE("in a job of version 3 of the SDK its entry script is the program, and its channel the folder") {
  struct Row {
    Words files;
    plan::Environment environment;
    const char* sourcecode;
    const char* name;
    EntryKind kind;
    const char* folder;
  };
  const std::string code = "/opt/ml/input/data/code/";
  const Row rows[] = {
      {{code + "t.py", "/opt/ml/code/t.py"}, {"SM_ENTRY_SCRIPT=t.py"}, "{}", "t.py", EntryKind::Script, code.c_str()},
      {{code + "t.py", code + "setup.py"}, {"SM_ENTRY_SCRIPT=t.py"}, "{}", "t.py", EntryKind::Script, code.c_str()},
      {{code + "a/t.py"},
       {"SM_ENTRY_SCRIPT=null"},
       R"({"entry_script":"a/t.py"})",
       "a/t.py",
       EntryKind::Script,
       code.c_str()},
      {{code + "t.py"},
       {"SAGEMAKER_PROGRAM=o.py"},
       R"({"entry_script":"t.py"})",
       "t.py",
       EntryKind::Script,
       code.c_str()},
      {{code + "t.sh"}, {"SM_ENTRY_SCRIPT=t.sh"}, "{}", "t.sh", EntryKind::ShellText, code.c_str()},
      {{"/opt/ml/code/o.py"},
       {"SAGEMAKER_PROGRAM=o.py"},
       R"({"entry_script":null})",
       "o.py",
       EntryKind::Script,
       "/opt/ml/code/"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.files, row.environment);
    FakeContainer container;
    for (const std::string& file : row.files) container.files[file] = "text";
    container.files["/opt/ml/input/data/sm_drivers/sourcecode.json"] = row.sourcecode;
    const Contract contract = contract_of(container);
    CHECK(contract.sdk == Sdk::V3);
    const auto entry = find_entry_point(contract, row.environment, container.view());
    if (entry.has_error()) FAIL(entry.error().message());
    CHECK(entry->name == row.name);
    CHECK(entry->kind == row.kind);
    CHECK(entry->folder + "/" == row.folder);
  }
  FakeContainer container;
  container.files["/opt/ml/input/data/sm_drivers/sm_train.sh"] = "";
  const Contract contract = contract_of(container);
  CHECK(find_entry_point(contract, {}, container.view()).error().message() ==
        "the job names no program: its SourceCode has no entry_script");
  CHECK(find_entry_point(contract, {"SM_ENTRY_SCRIPT=../t.py"}, container.view()).error().message() ==
        "entry_script \"../t.py\" leads out of the folder of the sources; expected a name within it");
  CHECK(find_entry_point(contract, {"SM_ENTRY_SCRIPT=t.py"}, container.view()).error().message() ==
        "there is no t.py in /opt/ml/input/data/code, /opt/ml/code");
}

TEST_CASE("what is to be installed is known before any worker") {
  FakeContainer container;
  const EntryPoint script{EntryKind::Script, "train.py", "/opt/ml/code"};
  const EntryPoint package{EntryKind::Package, "pkg", "/opt/ml/code"};
  CHECK(installations_of(script, container.view()).empty());
  CHECK(installations_of(package, container.view()) == std::vector<Words>{{"python3", "-m", "pip", "install", "."}});
  container.files["/opt/ml/code/requirements.txt"] = "numpy";
  CHECK(installations_of(script, container.view()) ==
        std::vector<Words>{{"python3", "-m", "pip", "install", "-r", "requirements.txt"}});
  CHECK(installations_of(package, container.view()) ==
        std::vector<Words>{{"python3", "-m", "pip", "install", ".", "-r", "requirements.txt"}});
}

TEST_CASE("sources in an archive are known, and whether they are needed") {
  struct Row {
    const char* submitted;
    const char* there;
    const char* archive;
    const char* holder;
  };
  const Row rows[] = {{"s3://b/source.tar.gz", "", "s3://b/source.tar.gz", ""},
                      {"s3://b/source.tar.gz", "/opt/ml/code/t.py", "s3://b/source.tar.gz", "/opt/ml/code"},
                      {"/tmp/s.tar.gz", "", "/tmp/s.tar.gz", ""},
                      {"/opt/ml/code", "", "", ""},
                      {"https://b/x", "", "", ""}};
  for (const Row& row : rows) {
    CAPTURE(row.submitted, row.there);
    FakeContainer container;
    container.config("hyperparameters.json", R"({"sagemaker_program":"t.py"})");
    if (*row.there != '\0') container.files[row.there] = "";
    const plan::Environment environment{std::string("SAGEMAKER_SUBMIT_DIRECTORY=") + row.submitted};
    const Archive archive = find_archive(contract_of(container), environment, container.view());
    CHECK(archive.name == row.archive);
    CHECK(archive.holder == row.holder);
  }
}

TEST_CASE("a program that cannot be is refused with one sentence") {
  struct Row {
    const char* hyperparameters;
    const char* message;
  };
  const Row rows[] = {
      {"{}", "the job names no program: neither the hyperparameter sagemaker_program nor SAGEMAKER_PROGRAM is set"},
      {R"({"sagemaker_program":"/bin/sh"})",
       "sagemaker_program \"/bin/sh\" leads out of the folder of the sources; expected a name within it"},
      {R"({"sagemaker_program":"a/../../b.py"})",
       "sagemaker_program \"a/../../b.py\" leads out of the folder of the sources; expected a name within it"},
      {R"({"sagemaker_program":"-c"})",
       "sagemaker_program \"-c\" leads out of the folder of the sources; expected a name within it"},
      {R"({"sagemaker_program":"t.py"})", "there is no t.py in /opt/ml/code, /opt/ml/input/data/code"},
      {R"({"sagemaker_program":"t.py; id"})", "there is no t.py; id in /opt/ml/code, /opt/ml/input/data/code"},
      {R"({"sagemaker_program":"t.py","sagemaker_submit_directory":"\"s3://b/source.tar.gz\""})",
       "sagemaker_submit_directory s3://b/source.tar.gz: it has no t.py"},
      {R"({"sagemaker_program":"t.py","sagemaker_submit_directory":"\"https://b/source\""})",
       "sagemaker_submit_directory https://b/source: sources are fetched from S3 only"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.hyperparameters);
    FakeContainer container;
    container.config("hyperparameters.json", row.hyperparameters);
    CHECK(find_entry_point(contract_of(container), {}, container.view()).error().message() == row.message);
  }
}

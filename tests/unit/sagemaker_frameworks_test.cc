#include "launcher/sagemaker/frameworks.h"

#include "tests/support/catch.h"
#include "tests/support/sagemaker_files.h"

using namespace sml;
using namespace sml::sagemaker;
using plan::Preset;
using sml::test::FakeContainer;

namespace {
Distribution of(Framework framework) {
  Distribution out;
  out.framework = framework;
  return out;
}

plan::Environment variables(Framework framework, const char* type, const std::vector<std::string>& hosts, Efa efa) {
  Contract contract;
  contract.instance_type = type;
  return framework_variables(contract, of(framework), hosts, efa);
}
}  // namespace

TEST_CASE("the distribution decides the preset") {
  const plan::Environment mxnet{"SAGEMAKER_TRAINING_MODULE=sagemaker_mxnet_container.training:main"};
  const plan::Environment tf{"SAGEMAKER_TRAINING_MODULE=sagemaker_tensorflow_container.training:main"};
  CHECK(preset_of(of(Framework::MirroredStrategy), {}, 1) == Preset::Tf);
  CHECK(preset_of(of(Framework::ParameterServer), tf, 2) == Preset::Tf);
  CHECK(preset_of(of(Framework::ParameterServer), {}, 2) == Preset::Tf);
  CHECK_FALSE(preset_of(of(Framework::ParameterServer), tf, 1));
  CHECK_FALSE(preset_of(of(Framework::ParameterServer), mxnet, 2));
  for (const Framework other : {Framework::None, Framework::Mpi, Framework::TorchDistributed, Framework::DataParallel})
    CHECK_FALSE(preset_of(of(other), mxnet, 2));
}

TEST_CASE("EFA's variables are the toolkit's, where there is a device") {
  using Words = plan::Environment;
  const std::vector<std::string> hosts{"algo-1", "algo-2"};
  CHECK(variables(Framework::Mpi, "ml.p4d.24xlarge", hosts, Efa::Absent).empty());
  CHECK(variables(Framework::Mpi, "ml.c5.xlarge", hosts, Efa::Present).empty());
  CHECK(variables(Framework::None, "ml.p4d.24xlarge", hosts, Efa::Present).empty());
  CHECK(variables(Framework::Mpi, "ml.g5.48xlarge", hosts, Efa::Present) ==
        Words{"FI_PROVIDER=efa", "NCCL_PROTO=simple"});
  CHECK(variables(Framework::Mpi, "ml.p4d.24xlarge", hosts, Efa::Present) ==
        Words{"FI_PROVIDER=efa", "NCCL_PROTO=simple", "FI_EFA_USE_DEVICE_RDMA=1"});
  CHECK(variables(Framework::TorchDistributed, "ml.p5.48xlarge", hosts, Efa::Present) ==
        Words{"FI_PROVIDER=efa", "NCCL_PROTO=simple", "FI_EFA_USE_DEVICE_RDMA=1", "RDMAV_FORK_SAFE=1"});
  CHECK(variables(Framework::TorchDistributed, "ml.g5.48xlarge", hosts, Efa::Present) ==
        Words{"FI_PROVIDER=efa", "NCCL_PROTO=simple"});

  FakeContainer container;
  CHECK(find_efa(container.view()) == Efa::Absent);
  container.files["/sys/module/efa/version"] = "2.1";
  CHECK(find_efa(container.view()) == Efa::Absent);
  container.files["/dev/infiniband/uverbs0"] = "";
  CHECK(find_efa(container.view()) == Efa::Present);
}

TEST_CASE("in a job of version 3 of the SDK the variables of the network are those of its drivers") {
  const auto of_v3 = [](Framework framework, const char* type) {
    Contract contract;
    contract.sdk = Sdk::V3;
    contract.instance_type = type;
    contract.network_interface = "eth7";
    return framework_variables(contract, of(framework), {"algo-1"}, Efa::Absent);
  };
  using Words = plan::Environment;
  const std::string interface = "NCCL_SOCKET_IFNAME=eth7";
  CHECK(of_v3(Framework::TorchDistributed, "ml.c5.xlarge") == Words{interface, "NCCL_PROTO=simple"});
  CHECK(of_v3(Framework::TorchDistributed, "ml.g5.48xlarge") ==
        Words{interface, "NCCL_PROTO=simple", "FI_PROVIDER=efa"});
  for (const char* type : {"ml.p5.48xlarge", "ml.p5en.48xlarge", "ml.p6-b200.48xlarge", "ml.trn2.48xlarge"}) {
    CAPTURE(type);
    CHECK(of_v3(Framework::TorchDistributed, type) ==
          Words{interface, "NCCL_PROTO=simple", "FI_PROVIDER=efa", "FI_EFA_USE_DEVICE_RDMA=1", "RDMAV_FORK_SAFE=1"});
  }
  CHECK(of_v3(Framework::Mpi, "ml.c5.xlarge") == Words{interface});
  CHECK(of_v3(Framework::Mpi, "ml.p4d.24xlarge") ==
        Words{interface, "NCCL_PROTO=simple", "FI_PROVIDER=efa", "FI_EFA_USE_DEVICE_RDMA=1"});
  CHECK(of_v3(Framework::None, "ml.p4d.24xlarge").empty());
}

TEST_CASE("smdistributed dataparallel is told of its hosts") {
  using Words = plan::Environment;
  CHECK(variables(Framework::DataParallel, "ml.c5.xlarge", {"algo-1"}, Efa::Absent) ==
        Words{"SMDATAPARALLEL_USE_SINGLENODE=1"});
  CHECK(variables(Framework::DataParallel, "ml.p4d.24xlarge", {"algo-2", "algo-3"}, Efa::Absent) ==
        Words{"SMDATAPARALLEL_USE_HOMOGENEOUS=1", "SMDATAPARALLEL_SERVER_ADDR=algo-2",
              "SMDATAPARALLEL_SERVER_PORT=7592", "SAGEMAKER_INSTANCE_TYPE=ml.p4d.24xlarge"});
}

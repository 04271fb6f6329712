#include "launcher/inputs/hosts/elastic_pods.h"

#include "tests/support/catch.h"

using namespace sml;

namespace {

using Variables = std::vector<std::string>;

const Variables kPod{"PET_NNODES=2:4", "PET_RDZV_ENDPOINT=bert-worker-0", "PET_NPROC_PER_NODE=8", "PET_MAX_RESTARTS=3",
                     "SML_JOB_SECRET=0123456789abcdef"};

Options taken(const Variables& environment, Options options = {}) {
  ThisHost here;
  here.process.environment = environment;
  const Result<void> done = take_elastic_pods(options, here);
  CHECK(done.has_value());
  return options;
}

bool is_taken(const Variables& environment, const Options& options = {}) {
  return taken(environment, options).dial_in.least.has_value();
}

}  // namespace

TEST_CASE("elastic pods: they call the first, as many as the operator says") {
  const Options pod = taken(kPod);
  CHECK(pod.dial_in.least == 2U);
  CHECK(pod.dial_in.hosts == 4U);
  CHECK(pod.restart.least.hosts == 2U);
  CHECK(pod.dial_in.head == "bert-worker-0:29400");
  CHECK(pod.restart.max == 3);
  CHECK(pod.restart.discovery.grow_after == Duration::zero());
  CHECK(pod.nproc_per_node == 8U);
  Variables with_port = kPod;
  with_port[1] += ":23456";
  CHECK(taken(with_port).dial_in.head == "bert-worker-0:23456");
}

TEST_CASE("elastic pods: what the user says has more say") {
  Options own;
  own.restart.max = 9;
  own.nproc_per_node = 2;
  CHECK(taken(kPod, own).restart.max == 9);
  CHECK(taken(kPod, own).nproc_per_node == 2U);
  Options hosts;
  hosts.hosts = "a,b";
  CHECK_FALSE(is_taken(kPod, hosts));
  Options head;
  head.dial_in.head = "other";
  CHECK_FALSE(is_taken(kPod, head));
  Options source;
  source.host_source = "local";
  CHECK_FALSE(is_taken(kPod, source));
}

TEST_CASE("elastic pods: without a secret, a range or a meeting point there are none") {
  for (std::size_t i : {std::size_t{0}, std::size_t{1}, std::size_t{4}}) {
    Variables less = kPod;
    less.erase(less.begin() + static_cast<std::ptrdiff_t>(i));
    CHECK_FALSE(is_taken(less));
  }
  for (const char* fixed : {"PET_NNODES=2", "PET_NNODES=2:2"}) {
    Variables pod = kPod;
    pod[0] = fixed;
    CHECK_FALSE(is_taken(pod));
  }
}

TEST_CASE("elastic pods: a variable that is wrong is named") {
  for (const auto& [place, wrong, said] :
       {std::tuple(0, "PET_NNODES=4:2", "PET_NNODES: \"4:2\" is not N, or MIN:MAX with MIN not above MAX"),
        std::tuple(2, "PET_NPROC_PER_NODE=many", "PET_NPROC_PER_NODE: \"many\" is not a whole number"),
        std::tuple(3, "PET_MAX_RESTARTS=-1", "PET_MAX_RESTARTS: \"-1\" is not a whole number")}) {
    ThisHost here;
    here.process.environment = kPod;
    here.process.environment[static_cast<std::size_t>(place)] = wrong;
    Options options;
    const Result<void> done = take_elastic_pods(options, here);
    REQUIRE(done.has_error());
    CHECK(done.error().message().starts_with(said));
    CHECK(done.error().kind() == ErrorKind::Config);
  }
}

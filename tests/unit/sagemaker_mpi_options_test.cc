#include "launcher/sagemaker/mpi_options.h"

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::sagemaker;

namespace {
using Words = std::vector<std::string>;

MpiOptions parsed(std::string_view text) {
  const auto options = parse_mpi_options(text);
  if (options.has_error()) FAIL(options.error().message());
  return *options;
}
}  // namespace

TEST_CASE("custom_mpi_options that are in use are understood") {
  struct Row {
    const char* text;
    Words export_words;
    Words ignored;
  };
  const Row rows[] = {
      {"", {}, {}},
      {"--NCCL_DEBUG WARN", {"NCCL_DEBUG=WARN"}, {}},
      {"--NCCL_DEBUG=WARN", {"NCCL_DEBUG=WARN"}, {}},
      {"-x NCCL_DEBUG=TRACE", {"NCCL_DEBUG=TRACE"}, {}},
      {"-verbose -x A=1 -mca btl_vader_single_copy_mechanism none",
       {"A=1", "OMPI_MCA_btl_vader_single_copy_mechanism=none"},
       {}},
      {"-map-by node --bind-to none", {}, {"-map-by node", "--bind-to none"}},
      {"-mca btl_vader_single_copy_mechanism none -x HOROVOD_HIERARCHICAL_ALLREDUCE=1 -x "
       "HOROVOD_FUSION_THRESHOLD=16777216 -x NCCL_MIN_NRINGS=8 -x NCCL_LAUNCH_MODE=PARALLEL",
       {"OMPI_MCA_btl_vader_single_copy_mechanism=none", "HOROVOD_HIERARCHICAL_ALLREDUCE=1",
        "HOROVOD_FUSION_THRESHOLD=16777216", "NCCL_MIN_NRINGS=8", "NCCL_LAUNCH_MODE=PARALLEL"},
       {}},
      {"-verbose --NCCL_DEBUG=INFO -x OMPI_MCA_btl_vader_single_copy_mechanism=none",
       {"NCCL_DEBUG=INFO", "OMPI_MCA_btl_vader_single_copy_mechanism=none"},
       {}},
      {"-x SMDEBUG_LOG_LEVEL=error", {"SMDEBUG_LOG_LEVEL=error"}, {}},
      {"--oversubscribe", {}, {}},
      {"-x A='b c' -x \"B=x y\"", {"A=b c", "B=x y"}, {}},
      {"-x PATH", {"PATH"}, {}},
      {"-x A=1 --NCCL_DEBUG=INFO -x A=2 -x NCCL_DEBUG=WARN", {"A=2", "NCCL_DEBUG=WARN"}, {}},
      {"-x A='$HOME`id`;'", {"A=$HOME`id`;"}, {}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(parsed(row.text).export_words == row.export_words);
    CHECK(parsed(row.text).ignored == row.ignored);
  }
  CHECK(parsed("-np 4 --np=8").np == 8U);
  CHECK(parsed("--oversubscribe").oversubscribe);
  CHECK(parsed("-verbose").verbose);
}

TEST_CASE("words that are not understood are errors") {
  struct Row {
    const char* text;
    const char* message;
  };
  const Row rows[] = {
      {"-h", "\"-h\" is not understood"},
      {"--help", "\"--help\" is not understood"},
      {"--N VERSION", "\"--N\" is not understood"},
      {"-x A=1 ls", "\"ls\" is not understood"},
      {"--frobnicate=1", "\"--frobnicate\" is not understood"},
      {"-hostfile F", "-hostfile: the hosts of the job are those of resourceconfig.json; leave it out"},
      {"-H a:2", "-H: the hosts of the job are those of resourceconfig.json; leave it out"},
      {"-x", "-x needs a value"},
      {"-mca key", "-mca needs a value"},
      {"-x 1A=2", "-x: \"1A\" is no variable name; expected NAME, NAME=VALUE or PREFIX_*"},
      {"-np 0", "-np: \"0\" is no number of workers"},
      {"-np many", "-np: \"many\" is no number of workers"},
      {"--oversubscribe=1", "--oversubscribe takes no value"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto options = parse_mpi_options(std::string_view(row.text));
    REQUIRE(options.has_error());
    CHECK(exit_code_of(options.error().kind()) == 2);
    CHECK(options.error().message() == std::string("custom_mpi_options: ") + row.message);
  }
  CHECK(parse_mpi_options(std::string_view("-x A='b")).has_error());
}

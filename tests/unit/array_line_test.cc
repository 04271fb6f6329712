#include "launcher/options/array_line.h"

#include "tests/support/catch.h"

using namespace sml;

namespace {
Result<std::string> read_regions(const std::string& path, std::size_t) {
  if (path != "regions.csv") return Error(ErrorKind::Config, "no such file or directory");
  return std::string("us-east-1,Ashburn\neu-west-1,Dublin\n");
}

Options array_options() {
  Options o;
  o.array.file = "regions.csv";
  o.array.names = {"REGION", "CITY"};
  o.command = {"train.py", "--out", "{REGION}/{array_index}", "{\"a\":1}"};
  o.export_variables = {"RUN=r{array_index}"};
  o.report_file = "r-{CITY}.json";
  return o;
}
}  // namespace

TEST_CASE("the line of the index fills arguments, variables and names of files") {
  Options o = array_options();
  REQUIRE(take_array_line(o, {"AWS_BATCH_JOB_ARRAY_INDEX=1"}, read_regions).has_value());
  CHECK(o.command == std::vector<std::string>{"train.py", "--out", "eu-west-1/1", "{\"a\":1}"});
  CHECK(o.export_variables == std::vector<std::string>{"RUN=r1"});
  CHECK(o.report_file == "r-Dublin.json");
  CHECK(o.extra_variables == plan::Environment{"REGION=eu-west-1", "CITY=Dublin", "SML_ARRAY_INDEX=1"});
}

TEST_CASE("--array-index and --array-base have more say than the batch system") {
  Options o = array_options();
  o.array.index = 0;
  REQUIRE(take_array_line(o, {"AWS_BATCH_JOB_ARRAY_INDEX=1"}, read_regions).has_value());
  CHECK(o.extra_variables[0] == "REGION=us-east-1");

  o = array_options();
  o.array.base = 1;
  REQUIRE(take_array_line(o, {"SLURM_ARRAY_TASK_ID=1"}, read_regions).has_value());
  CHECK(o.extra_variables[0] == "REGION=us-east-1");
}

TEST_CASE("what is missing for a line of the array is said") {
  Options o = array_options();
  CHECK(take_array_line(o, {}, read_regions).error().message() ==
        "--array-file: no array index; AWS_BATCH_JOB_ARRAY_INDEX or that of another batch system is not set");
  CHECK(take_array_line(o, {"AWS_BATCH_JOB_ARRAY_INDEX=2"}, read_regions).error().message() ==
        "regions.csv: has 2 lines, for index 0 to 1, and so none for 2 (AWS_BATCH_JOB_ARRAY_INDEX)");
  o.array.file = "other.csv";
  o.array.index = 0;
  CHECK(take_array_line(o, {}, read_regions).error().message() == "--array-file other.csv: no such file or directory");
}

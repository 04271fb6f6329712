#include "launcher/plan/array_file.h"

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::plan;

namespace {
using Words = std::vector<std::string>;
const Words kNames{"REGION", "LOCATION"};

ArrayFile file_of(std::string_view text, const Words& names = kNames) {
  const auto file = parse_array_file(text, "regions.csv", names);
  if (file.has_error()) FAIL(file.error().message());
  return *file;
}
}  // namespace

TEST_CASE("an array file is one line of fields for each index") {
  struct Row {
    std::string text;
    std::vector<Words> lines;
  };
  const Row rows[] = {
      {"a,b", {{"a", "b"}}},
      {"a,b\n", {{"a", "b"}}},
      {"a,b\nc,d\n\n \t\r\n", {{"a", "b"}, {"c", "d"}}},
      {"a,b\r\nc,d\r\n", {{"a", "b"}, {"c", "d"}}},
      {" a , b c \n", {{"a", "b c"}}},
      {",\n", {{"", ""}}},
      {"a,", {{"a", ""}}},
      {"\xEF\xBB\xBF"
       "a,b",
       {{"a", "b"}}},
      {"#a,\"b\"", {{"#a", "\"b\""}}},
      {"\xff,$HOME", {{"\xff", "$HOME"}}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(file_of(row.text).lines == row.lines);
  }
  CHECK(file_of("one\ntwo words", {"A"}).lines == std::vector<Words>{{"one"}, {"two words"}});
}

TEST_CASE("a bad array file is refused with its name and line, and without its text") {
  struct Row {
    std::string text;
    const char* message;
  };
  const Row rows[] = {
      {"", "f: is empty; expected one line for each index"},
      {" \n\n", "f: is empty; expected one line for each index"},
      {"a,b\nsecret\nc,d", "f:2: 1 field; expected 2 fields: REGION,LOCATION"},
      {"a,b\nc,d,e", "f:2: 3 fields; expected 2 fields: REGION,LOCATION"},
      {"a,b\n\nc,d", "f:2: an empty line; expected 2 fields: REGION,LOCATION"},
      {std::string("a,\0b", 4), "f:1: a field cannot hold a NUL byte"},
      {std::string(kMaxArrayFileBytes + 1, 'x'), "f: is larger than 16 MiB"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text.substr(0, 40));
    const auto file = parse_array_file(row.text, "f", kNames);
    REQUIRE(file.has_error());
    CHECK(file.error().kind() == ErrorKind::Config);
    CHECK(file.error().message() == row.message);
  }
}

TEST_CASE("names of array variables are checked") {
  CHECK(*parse_array_names("REGION,LOCATION") == kNames);
  CHECK(parse_array_names("A,,B").error().message() ==
        "\"\" is no variable name; expected names with commas between them");
  CHECK(parse_array_names("A,B,A").error().message() == "\"A\" is named twice");
  CHECK(parse_array_names("A b").error().message() ==
        "\"A b\" is no variable name; expected names with commas between them");
  CHECK(parse_array_names("RANK").error().message() ==
        "\"RANK\" is a variable that workers get from sml-run; choose another name");
}

TEST_CASE("the index comes from whichever batch system has started us") {
  struct Row {
    Environment environment;
    const char* source;  // empty: none
    std::uint32_t value;
    std::size_t line;
  };
  const Row rows[] = {
      {{"AWS_BATCH_JOB_ARRAY_INDEX=0"}, "AWS_BATCH_JOB_ARRAY_INDEX", 0, 1},
      {{"AWS_BATCH_JOB_ARRAY_INDEX=2"}, "AWS_BATCH_JOB_ARRAY_INDEX", 2, 3},
      {{"SLURM_ARRAY_TASK_ID=1"}, "SLURM_ARRAY_TASK_ID", 1, 2},
      {{"PBS_ARRAY_INDEX=1"}, "PBS_ARRAY_INDEX", 1, 2},
      {{"PBS_ARRAYID=1"}, "PBS_ARRAYID", 1, 2},
      {{"SGE_TASK_ID=1"}, "SGE_TASK_ID", 1, 1},
      {{"LSB_JOBINDEX=3"}, "LSB_JOBINDEX", 3, 3},
      {{"JOB_COMPLETION_INDEX=1"}, "JOB_COMPLETION_INDEX", 1, 2},
      {{"SGE_TASK_ID=undefined", "LSB_JOBINDEX=0", "SLURM_ARRAY_TASK_ID="}, "", 0, 0},
      {{"HOME=/"}, "", 0, 0},
  };
  const ArrayFile file = file_of("a,b\nc,d\ne,f");
  for (const Row& row : rows) {
    CAPTURE(row.environment);
    const auto index = find_array_index(row.environment);
    REQUIRE(index.has_value());
    CHECK((*index ? (*index)->source : "") == row.source);
    if (!*index) continue;
    CHECK((*index)->value == row.value);
    CHECK(find_task(file, **index)->line == row.line);
  }
  for (const char* bad : {"-1", "1x", "4294967296", "2000000000", " 1", "0x1"}) {
    const Environment environment{std::string("AWS_BATCH_JOB_ARRAY_INDEX=") + bad};
    CHECK(find_array_index(environment).error().message() ==
          std::string("AWS_BATCH_JOB_ARRAY_INDEX: \"") + bad + "\" is no array index; expected a whole number");
  }
}

TEST_CASE("an index without a line is an error that names both") {
  const ArrayFile file = file_of("a,b\nc,d");
  CHECK(find_task(file, {2, 0, "AWS_BATCH_JOB_ARRAY_INDEX"}).error().message() ==
        "regions.csv: has 2 lines, for index 0 to 1, and so none for 2 (AWS_BATCH_JOB_ARRAY_INDEX)");
  CHECK(find_task(file, {0, 1, "SGE_TASK_ID"}).error().message() ==
        "regions.csv: has 2 lines, for index 1 to 2, and so none for 0 (SGE_TASK_ID)");
}

TEST_CASE("a task is variables for the workers and text for the arguments") {
  const ArrayTask task = *find_task(file_of("us-east-1,{REGION}\neu-west-1,Dublin"), {5, 5, "test"});
  CHECK(task.index == 5);
  CHECK(array_environment(kNames, task) == Environment{"REGION=us-east-1", "LOCATION={REGION}", "SML_ARRAY_INDEX=5"});
  struct Row {
    const char* text;
    const char* filled;
  };
  const Row rows[] = {
      {"", ""},
      {"plain", "plain"},
      {"--out=/data/{array_index}/{REGION}", "--out=/data/5/us-east-1"},
      {"{LOCATION}{LOCATION}", "{REGION}{REGION}"},
      {"{\"a\": {array_index}}", "{\"a\": 5}"},
      {"{OTHER} {} {", "{OTHER} {} {"},
      {"{{REGION}}", "{us-east-1}"},
      {"${REGION}", "$us-east-1"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(fill_in(row.text, kNames, task) == row.filled);
  }
}

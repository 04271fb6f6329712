// Several programs on one command line, and in a file: from words to a plan.
#include <map>

#include "launcher/inputs/inputs.h"
#include "launcher/options/app_file.h"
#include "launcher/options/command_line.h"
#include "tests/support/catch.h"

using namespace sml;

namespace {
using Words = std::vector<std::string>;

Options parse(const Words& words) {
  const auto parsed = parse_command_line(words);
  if (parsed.has_error()) FAIL(parsed.error().message());
  return std::get<Options>(*parsed);
}

std::string refusal(const Words& words) {
  const auto parsed = parse_command_line(words);
  return parsed ? "(taken)" : parsed.error().message();
}

ThisHost here(const std::map<std::string, std::string>& files = {}) {
  ThisHost out;
  out.files.read = [files](const std::string& path, std::size_t) -> Result<std::string> {
    const auto found = files.find(path);
    if (found == files.end()) return Error(ErrorKind::Config, "no such file or directory");
    return found->second;
  };
  out.files.exists = [](const std::string&) { return false; };
  out.hardware.count_gpus = out.hardware.count_neuron_cores = [] { return 0U; };
  out.hardware.count_cpus = [] { return 4U; };
  out.programs.output_of = [](const Words&) { return std::string(); };
  out.names.own = "here";
  out.process.working_directory = "/home/me";
  out.process.environment = {"GIVEN=1", "ACCELERATE_MIXED_PRECISION=bf16"};
  out.job.id = "sml-1";
  return out;
}

plan::LaunchPlan plan_of(const Words& words) {
  const auto plan = make_plan(parse(words), here());
  if (plan.has_error()) FAIL(plan.error().message());
  return *plan;
}

std::string plan_refusal(const Words& words) {
  const auto plan = make_plan(parse(words), here());
  return plan ? "(taken)" : plan.error().message();
}

std::string app_refusal(const std::string& text, const Words& words = {}) {
  Words all = words;
  all.insert(all.end(), {"--app", "F"});
  Options options = parse(all);
  const auto read = read_app_file(options, here({{"F", text}}).files.read);
  return read ? "(taken)" : read.error().message();
}
}  // namespace

TEST_CASE("a lone colon begins another program, with options of its own", "[programs]") {
  const Options o = parse({"-np", "1",  "-x",  "A",      "prog", "-x",    ":",   "-np", "4",     "-x", "V=1", "--wdir",
                           "/w",  "-H", "b:4", "--role", "ps",   "other", "a:b", ":",   "third", "--", "x"});
  CHECK(o.np == 1U);
  CHECK(o.command == Words{"prog", "-x"});
  REQUIRE(o.more_programs.size() == 2);
  const ProgramOptions& second = o.more_programs[0];
  CHECK(second.np == 4U);
  CHECK(second.export_variables == Words{"V=1"});
  CHECK(second.working_directory == "/w");
  CHECK(second.hosts == "b:4");
  CHECK(second.role == "ps");
  CHECK(second.command == Words{"other", "a:b"});
  CHECK(o.more_programs[1].command == Words{"third", "--", "x"});
  CHECK_FALSE(o.more_programs[1].np.has_value());
}

TEST_CASE("after two dashes a colon is the program's own", "[programs]") {
  CHECK(parse({"--", "sh", "-c", ":"}).command == Words{"sh", "-c", ":"});
  CHECK(parse({"--", "p", "::"}).command == Words{"p", "::"});
  const Options o = parse({"a", ":", "--", "b", ":", "c"});
  REQUIRE(o.more_programs.size() == 1);
  CHECK(o.more_programs[0].command == Words{"b", ":", "c"});
}

TEST_CASE("what is no list of programs is refused", "[programs]") {
  const std::string missing =
      " is missing; \":\" stands between two programs, as in sml-run -np 1 A : -np 4 B, and after -- it is the "
      "program's "
      "own";
  const std::pair<Words, std::string> rows[] = {
      {{":", "b"}, "program 1" + missing},
      {{"-np", "1", ":", "b"}, "program 1" + missing},
      {{"a", ":"}, "program 2" + missing},
      {{"a", ":", ":", "b"}, "program 2" + missing},
      {{"a", ":", "-np", "2"}, "program 2" + missing},
      {{"a", ":", "b", ":", "--"}, "program 3" + missing},
      {{"a", "::", "b"},
       "\"::\" separates nothing; write one \":\" between two programs, or -- before a program that takes it"},
      {{"a", ":", "--timeout", "3", "b"},
       "program 2: --timeout holds for the whole job; give it before the first program"},
      {{"a", ":", "b", ":", "-v", "c"}, "program 3: -v holds for the whole job; give it before the first program"},
      {{"a", ":", "--help"}, "program 2: --help holds for the whole job; give it before the first program"},
      {{"a", ":", "-np", "x", "b"},
       "program 2: -np: \"x\" is not a whole number from 1 to 1000000; leave it out to use every slot"},
      {{"a", ":", "--bogus", "b"}, "program 2: unknown option --bogus; sml-run --help all lists them"},
      {{"a", ":", ""}, "program 2: the program's name is empty; give one after the options"},
      {{"train", "-np", "1", ":", "b"}, "train: the job has one program; \":\" begins another"},
      {{"train", "--app", "F"}, "train: the job has one program; --app names several"},
      {{"--app", "F", "a"}, "--app F names the programs, with -np for each; give none of them on the command line"},
      {{"--app", "F", "-np", "1"},
       "--app F names the programs, with -np for each; give none of them on the command line"},
      {{"--app", "F", "--role", "ps"},
       "--app F names each program's --role and --helper; give neither on the command line"},
      {{"--app", "F", "--helper"},
       "--app F names each program's --role and --helper; give neither on the command line"},
      {{"--role", "a b", "x"},
       "--role: \"a b\" is not a name of letters, digits, _, - and . that begins with a letter"},
  };
  for (const auto& [words, message] : rows) CHECK(refusal(words) == message);
}

TEST_CASE("the plan of several programs", "[programs]") {
  const plan::LaunchPlan plan = plan_of(
      {"-H", "a:2,b:4", "-np", "1", "-x", "A=1", "ps", ":", "-np", "4", "-x", "B=2", "--wdir", "sub", "work", "hard"});
  CHECK(plan.map.world_size() == 5);
  REQUIRE(plan.program_count() == 2);
  CHECK(plan.program(0).command == Words{"ps"});
  CHECK(plan.program(0).user_environment == plan::Environment{"A=1"});
  CHECK(plan.program(0).working_directory == "/home/me");
  CHECK(plan.program(1).command == Words{"work", "hard"});
  CHECK(plan.program(1).user_environment == plan::Environment{"B=2"});
  CHECK(plan.program(1).working_directory == "/home/me/sub");
  CHECK(plan.map.ranks[0].program == 0);
  CHECK(plan.map.ranks[1].program == 1);
  CHECK(plan.map.hosts[0].ranks.size() == 2);
}

TEST_CASE("on this machine the slots are as many as all programs ask for", "[programs]") {
  CHECK(plan_of({"-np", "1", "a", ":", "-np", "4", "b"}).map.hosts[0].slots == 5);
  CHECK(plan_of({"-np", "2", "a", ":", "-H", "c:1", "b"}).map.hosts[0].slots == 2);
}

TEST_CASE("the plan prints its programs", "[programs]") {
  const plan::LaunchPlan plan = plan_of({"-H", "a:2", "-np", "1", "one", ":", "--role", "ps", "two", "x"});
  const std::string table = to_table(plan);
  CHECK(table.find("  a        0           0           2           0           0           1        1  default\n") !=
        std::string::npos);
  CHECK(table.find("program 1\ncommand    one\ndirectory  /home/me\n\nprogram 2\ncommand    two x\n") !=
        std::string::npos);
  const std::string json = to_json(plan);
  CHECK(json.find(R"("program":1,"role":"ps","part":"worker"}])") != std::string::npos);
  CHECK(json.find(R"("programs":[{"command":["one"],"working_directory":"/home/me","variables":[]},)") !=
        std::string::npos);
}

TEST_CASE("programs that do not fit are refused", "[programs]") {
  CHECK(plan_refusal({"-H", "a:1", "-np", "1", "a", ":", "-np", "1", "b"}) ==
        "program 2: the programs before it have taken the 1 slot of 1 host; give them a lower -np, name more slots or "
        "hosts, or give --oversubscribe (a word \":\" begins another program)");
  CHECK(plan_refusal({"-np", "5", "a", ":", "b", "x"}) == "program 2 has no -np; write : -np 1 b");
  CHECK(plan_refusal({"a", ":", "-np", "2", "b"}) == "program 1 has no -np; write -np 1 a");
  CHECK(plan_refusal({"-H", "a:1", "-np", "2", "a", ":", "b"}).starts_with("program 1: -np 2 is more than the 1 slot"));
  CHECK(plan_refusal({"a", ":", "-H", "b:x", "b"}).starts_with("program 2: -H: "));
  CHECK(plan_refusal({"--helper", "a"}) == "all programs are helpers; at least one must be what they help");
}

TEST_CASE("presets add defaults that nobody has set", "[programs]") {
  const plan::LaunchPlan plan = plan_of({"-H", "a:2", "--preset", "accelerate", "-np", "2", "prog", "x"});
  CHECK(plan.program(0).user_environment ==
        plan::Environment{"ACCELERATE_DYNAMO_BACKEND=NO", "ACCELERATE_DYNAMO_MODE=default",
                          "ACCELERATE_DYNAMO_USE_DYNAMIC=False", "ACCELERATE_DYNAMO_USE_FULLGRAPH=False",
                          "ACCELERATE_DYNAMO_USE_REGIONAL_COMPILATION=False"});
}

TEST_CASE("programs of a file", "[programs]") {
  Options o = parse({"-x", "ALL=1", "-H", "a:3", "--app", "F"});
  const std::string text = "# first\n\n  -np 1 -x 'A=b c' prog \"x y\"\r\n-np 2 --wdir /w other :x\n";
  REQUIRE(read_app_file(o, here({{"F", text}}).files.read).has_value());
  CHECK(o.np == 1U);
  CHECK(o.hosts == "a:3");
  CHECK(o.export_variables == Words{"ALL=1", "A=b c"});
  CHECK(o.command == Words{"prog", "x y"});
  REQUIRE(o.more_programs.size() == 1);
  CHECK(o.more_programs[0].command == Words{"other", ":x"});
  CHECK(o.more_programs[0].export_variables == Words{"ALL=1"});
  CHECK(o.more_programs[0].working_directory == "/w");
  CHECK(o.more_programs[0].hosts.empty());
  REQUIRE(make_plan(o, here()).has_value());
}

TEST_CASE("a bad file of programs is refused, with its line", "[programs]") {
  CHECK(app_refusal("") == "F: names no program; expected one a line");
  CHECK(app_refusal("# a\n\n") == "F: names no program; expected one a line");
  CHECK(app_refusal("a\n-np 2\n") ==
        "F:2: no program to start; give one after the options, as in sml-run -np 2 python3 train.py");
  CHECK(app_refusal("a 'b\n") == "F:1: closing ' is missing in \"a 'b\"");
  CHECK(app_refusal("a : b\n") == "F:1: a line names one program; \":\" begins another");
  CHECK(app_refusal("--timeout 3 a\n") == "F:1: --timeout holds for the whole job; give it before the first program");
  CHECK(app_refusal(std::string("a\nb\0c\n", 6)) == "F:2: a NUL byte");
  CHECK(app_refusal("-H a p\n-H b q\n", {"-H", "a,b"}) ==
        "F: its first program has -H, and so has the command line: both would name the hosts of the job; give -H once");
  CHECK(app_refusal("p\n-H b q\n", {"-H", "a"}) == "(taken)");
  Options o = parse({"--app", "missing"});
  CHECK(read_app_file(o, here().files.read).error().message() == "--app missing: no such file or directory");
}

TEST_CASE("a byte order mark before the programs of --app says nothing", "[programs]") {
  Options o;
  o.app_file = "F";
  REQUIRE(read_app_file(o, here({{"F", "\xEF\xBB\xBF-np 1 prog\n"}}).files.read).has_value());
  CHECK(o.command == Words{"prog"});
}

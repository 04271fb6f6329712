#include "launcher/options/option_layers.h"

#include <map>
#include <nlohmann/json.hpp>

#include "launcher/options/command_line.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace std::chrono_literals;

namespace {
using Words = std::vector<std::string>;

struct Input {
  Words arguments;
  Words environment;
  std::map<std::string, std::string> files;
};

Result<std::variant<Options, Printed>> parse_input(const Input& input) {
  const auto read = [&](const std::string& path, std::size_t) -> Result<std::string> {
    const auto file = input.files.find(path);
    if (file == input.files.end()) return Error(ErrorKind::Config, "no such file");
    return file->second;
  };
  return parse_command_line(input.arguments, {.environment = input.environment, .read_file = read});
}

Options parse(Input input) {
  input.arguments.push_back("prog");
  const auto parsed = parse_input(input);
  if (parsed.has_error()) FAIL(parsed.error().message());
  return std::get<Options>(*parsed);
}

std::string error_of(Input input) {
  input.arguments.push_back("prog");
  const auto parsed = parse_input(input);
  return parsed.has_error() ? parsed.error().message() : "(accepted)";
}

std::string printed(const Input& input) {
  const auto parsed = parse_input(input);
  if (parsed.has_error()) FAIL(parsed.error().message());
  REQUIRE(std::holds_alternative<Printed>(*parsed));
  return std::get<Printed>(*parsed).text;
}

// Of --explain --format json, the entries of one option.
nlohmann::json explained(Input input, const std::string& option) {
  for (const char* word : {"--explain", "--format", "json"}) input.arguments.emplace_back(word);
  nlohmann::json found = nlohmann::json::array();
  const nlohmann::json all = nlohmann::json::parse(printed(input));
  for (const auto& entry : all["options"]) {
    if (entry["option"] == option) found.push_back(entry);
  }
  return found;
}
}  // namespace

TEST_CASE("every option has a variable of its own name") {
  std::map<std::string, int> names;
  for_each_row([&](const OptionRow& row) {
    const std::string name = variable_of(row);
    CAPTURE(main_spelling(row));
    const bool has_none = row.set == nullptr || row.listed == Listed::UnderOtherNames;
    CHECK(name.empty() == has_none);
    if (!name.empty()) CHECK(++names[name] == 1);
  });
  CHECK(names.contains("SML_START_TIMEOUT"));
  CHECK(names.contains("SML_X"));
  // What workers are told must not be taken for an option inside of one.
  for (const plan::VariableMeaning& variable : plan::worker_variables()) {
    CAPTURE(variable.name);
    CHECK(options_of_environment(std::vector<std::string>{"SML_JOB_ID=j", std::string(variable.name) + "=1"})
              ->options.empty());
  }
}

TEST_CASE("the command line has more say than variables, and these than the file") {
  const std::map<std::string, std::string> files{{"f", "np = 2\ngrace = 1s\nstart-timeout = 5s\n"}};
  const Words config{"--config", "f"};
  const Options o = parse({{"--config", "f", "-np", "4"}, {"SML_NP=3", "SML_GRACE=2s"}, files});
  CHECK(o.np == 4U);
  CHECK(o.grace == 2s);
  CHECK(o.start_timeout == 5s);
  CHECK(o.heartbeat_timeout == Options().heartbeat_timeout);
  CHECK(parse({{}, {"SML_CONFIG=f"}, files}).np == 2U);
  CHECK(parse({{}, {"SML_DEBUG=keep"}, {}}).scratch == ScratchRule::Kept);
  CHECK(parse({{}, {"SML_NP="}, {}}).np == std::nullopt);
}

TEST_CASE("flags of variables and files are yes or no, and no takes back what is below") {
  for (const char* yes : {"1", "true", "YES", "on"}) {
    CHECK(parse({{}, {std::string("SML_DEDUP=") + yes}, {}}).output.equal_lines == EqualLines::Fold);
  }
  for (const char* no : {"0", "False", "no", "off"}) {
    const Options o = parse({{"--config=f"}, {std::string("SML_DEDUP=") + no}, {{"f", "dedup = true"}}});
    CHECK(o.output.equal_lines == EqualLines::Auto);
  }
  CHECK(parse({{"--dedup"}, {"SML_DEDUP=0"}, {}}).output.equal_lines == EqualLines::Fold);
  CHECK(error_of({{}, {"SML_DEDUP=maybe"}, {}}) ==
        "SML_DEDUP: \"maybe\" is neither 1, true, yes or on, nor 0, false, no or off");
}

TEST_CASE("repeatable options add up over the layers") {
  const Input input{{"--config", "f", "-x", "A=4"},
                    {"SML_X=A=3 'B=x y'", "SML_ENV_FILE=e1 e2"},
                    {{"f", "x = ['A=1', \"C\"]\nenv-file = e0\n[x]\nD = 5\nE = 'a b'\n"}}};
  const Options o = parse(input);
  CHECK(o.export_variables == Words{"A=1", "C", "D=5", "E=a b", "A=3", "B=x y", "A=4"});
  CHECK(o.env_files == Words{"e0", "e1", "e2"});
}

TEST_CASE("lists of a file are lists of an option") {
  CHECK(parse({{"--config", "f"}, {}, {{"f", "hosts = [a:8, b:8]"}}}).hosts == "a:8,b:8");
  CHECK(parse({{"--config", "f"}, {}, {{"f", "H = a:8,b:8"}}}).hosts == "a:8,b:8");
}

TEST_CASE("one source of hosts replaces another of a lower layer") {
  const Options file = parse({{"--hostfile", "h"}, {"SML_HOSTS=a,b", "SML_HOST_SOURCE=slurm"}, {}});
  CHECK(file.hosts.empty());
  CHECK(file.host_source.empty());
  CHECK(file.hostfile == "h");
  CHECK(parse({{"--host-source", "hosts"}, {"SML_HOSTS=a,b"}, {}}).hosts == "a,b");
  CHECK(parse({{"--exclude", "b"}, {"SML_INCLUDE=a"}, {}}).include_hosts.empty());
  CHECK(parse({{"-H", "a"}, {"SML_HOSTS="}, {}}).hosts == "a");
}

TEST_CASE("what means nothing without another option waits in variables and files") {
  CHECK_FALSE(parse({{}, {"SML_FORMAT=json", "SML_LOG_LAYOUT={rank}"}, {}}).dry_run.has_value());
  CHECK(parse({{"--dry-run"}, {"SML_FORMAT=json"}, {}}).dry_run == PlanFormat::Json);
  CHECK(parse({{"--log-layout", "{rank}"}, {"SML_LOG_DIR=d"}, {}}).logs.layout == "{rank}");
  CHECK(error_of({{"--log-layout", "{rank}"}, {}, {}}) == "--log-layout requires --log-dir");
}

TEST_CASE("inside a worker what tells its place is no option") {
  const Words worker{"SML_JOB_ID=j", "SML_RANK=3", "SML_HOST=h", "SML_ARRAY_INDEX=7", "SML_GRACE=3s"};
  const Options o = parse({{"--array-file", "f", "--array-vars", "A"}, worker, {}});
  CHECK_FALSE(o.array.index.has_value());
  CHECK(o.grace == 3s);
  CHECK(o.warnings.empty());
  CHECK(parse({{"--array-file", "f", "--array-vars", "A"}, {"SML_ARRAY_INDEX=7"}, {}}).array.index == 7U);
}

TEST_CASE("bad values say which variable or which line they are from") {
  struct Row {
    Input input;
    const char* message;
  };
  const Row rows[] = {
      {{{}, {"SML_NP=many"}, {}},
       "SML_NP: \"many\" is not a whole number from 1 to 1000000; leave it out to use every slot"},
      {{{"-np", "4"}, {"SML_NP=0"}, {}},
       "SML_NP: \"0\" is not a whole number from 1 to 1000000; leave it out to use every slot"},
      {{{}, {"SML_X=A='secret"}, {}}, "SML_X: a closing quote is missing"},
      {{{}, {"SML_X='1A=secret'"}, {}}, "SML_X: \"1A\" is no variable name; expected NAME, NAME=VALUE or PREFIX_*"},
      {{{}, {"SML_CONFIG=gone"}, {}}, "SML_CONFIG gone: no such file"},
      {{{"--config", "gone"}, {}, {}}, "--config gone: no such file"},
      {{{"--config", "f"}, {}, {{"f", "\nfanout = 0"}}}, "f:2: fanout: \"0\" is not a whole number from 1 to 10000"},
      {{{"--config", "f"}, {}, {{"f", "strat-timeout = 1s"}}},
       "f:1: unknown key strat-timeout; did you mean start-timeout?"},
      {{{"--config", "f"}, {}, {{"f", "zzzzzz = 1"}}},
       "f:1: unknown key zzzzzz; keys are the long options of sml-run --help all, without dashes"},
      {{{"--config", "f"}, {}, {{"f", "help = 1"}}}, "f:1: unknown key help; did you mean helper?"},
      {{{"--config", "f"}, {}, {{"f", "config = g"}}}, "f:1: a file cannot name another with config"},
      {{{"--config", "f"}, {}, {{"f", "[workers]\nnp = 4"}}},
       "f:2: np stands in the section [workers]; only [x], for variables, is known"},
      {{{"--config", "f"}, {}, {{"f", "dedup = [1, 0]"}}},
       "f:1: dedup: a list is neither 1, true, yes or on, nor 0, false, no or off"},
      {{{"--config", "f"}, {}, {{"f", "np"}}}, "f:1: no \"=\" in the line; expected KEY = VALUE"},
  };
  for (const Row& row : rows) CHECK(error_of(row.input) == row.message);
}

TEST_CASE("a variable that is nearly one of ours is warned of") {
  CHECK(parse({{}, {"SML_STRAT_TIMEOUT=1s", "SML_NUM_HOSTS=3"}, {}}).warnings ==
        Words{"the variable SML_STRAT_TIMEOUT is not read; did you mean SML_START_TIMEOUT?"});
}

TEST_CASE("variables that would be ours and are none are told") {
  CHECK(parse({{}, {"SML_QQQ=1", "SML_ZZ=1", "SML_JOBS_SERVICE_PORT=80", "SML_JOBS_PORT_80_TCP=x"}, {}}).warnings ==
        Words{"not read: SML_QQQ, SML_ZZ; options have the names SML_* of sml-run --help all"});
  CHECK(parse({{}, {"SML_HOST=algo-1"}, {}}).warnings ==
        Words{"the variable SML_HOST is not read; did you mean SML_HOSTS?"});
  CHECK(parse({{}, {"SML_JOB_ID=sml-1", "SML_HOST=algo-1", "SML_RANK=0"}, {}}).warnings.empty());  // in a worker
}

TEST_CASE("hosts that are named in more ways than count are told") {
  CHECK(parse({{"-H", "a", "-H", "b"}, {}, {}}).warnings == Words{"-H a has no effect: the hosts are those of -H b"});
  CHECK(parse({{"--hostfile", "f", "-H", "b"}, {}, {}}).warnings ==
        Words{"--hostfile f has no effect: the hosts are those of -H b"});
  CHECK(parse({{"-H", "a"}, {"SML_HOSTS=b", "SML_HOSTFILE=f"}, {}}).warnings.empty());
}

TEST_CASE("explain tells each option's value and who gave it") {
  const Input input{{"--config", "f", "-np", "4", "-x", "API_TOKEN=hush"},
                    {"SML_NP=3", "SML_GRACE=2s", "SML_X=A=1", "SML_DEDUP=no"},
                    {{"f", "np = 2\n\nstart-timeout = 5s\ndedup = yes\n"}}};
  using nlohmann::json;
  CHECK(explained(input, "--np") ==
        json::parse(R"([{"option":"--np","value":"4","source":"command line","where":"-np"}])"));
  CHECK(explained(input, "--grace") ==
        json::parse(R"([{"option":"--grace","value":"2s","source":"environment","where":"SML_GRACE"}])"));
  CHECK(explained(input, "--start-timeout") ==
        json::parse(R"([{"option":"--start-timeout","value":"5s","source":"file","where":"f:3"}])"));
  CHECK(explained(input, "--dedup")[0]["value"] == "no");
  CHECK(explained(input, "--fanout") ==
        json::parse(R"([{"option":"--fanout","value":"64","source":"built-in","where":null}])"));
  CHECK(explained(input, "--hosts")[0]["value"] == nullptr);
  const json variables = explained(input, "-x");
  REQUIRE(variables.size() == 2);
  CHECK(variables[0]["value"] == "A=1");
  CHECK(variables[1]["value"] == "API_TOKEN=(hidden)");
  Input table = input;
  table.arguments.push_back("--explain");
  const std::string text = printed(table);
  CHECK(text.find("hush") == std::string::npos);
  CHECK(text.find("--np ") != std::string::npos);
  CHECK(text.find("command line, -np\n") != std::string::npos);
  CHECK(text.find("variable SML_GRACE\n") != std::string::npos);
  CHECK(text.find("f:3\n") != std::string::npos);
  CHECK(text.find("API_TOKEN=(hidden)") != std::string::npos);
}

TEST_CASE("what is built in is what the options say it is") {
  for_each_row([&](const OptionRow& row) {
    if (row.built_in.empty()) return;
    CAPTURE(main_spelling(row));
    Options given;
    CHECK(row.set(given, row.built_in).has_value());
    CHECK(row.help.find(row.built_in) != std::string_view::npos);
  });
  // Durations are compared, as their numbers stand in two places.
  Options given;
  for_each_row([&](const OptionRow& row) {
    if (!row.built_in.empty()) REQUIRE(row.set(given, row.built_in).has_value());
  });
  const Options defaults;
  CHECK(given.grace == defaults.grace);
  CHECK(given.start_timeout == defaults.start_timeout);
  CHECK(given.heartbeat_timeout == defaults.heartbeat_timeout);
  CHECK(given.ssh.connect_timeout == kConnectTimeout);
  CHECK(given.join_warn == defaults.join_warn);
  CHECK(given.ssh.fanout == defaults.ssh.fanout);
  CHECK(given.forward_signals == defaults.forward_signals);
  CHECK(given.logs.layout == defaults.logs.layout);
  CHECK(given.stdin_rank == defaults.stdin_rank);
}

TEST_CASE("every option that a row of the table needs is one, and every spelling is of one row", "[cli]") {
  std::map<std::string_view, int> times;
  for_each_row([&](const OptionRow& row) {
    for (const std::string_view spelling : spellings_of(row)) ++times[spelling];
    for (const std::string_view needed : needs_of(row)) {
      INFO(main_spelling(row));
      const OptionRow* other = find_row(needed);
      REQUIRE(other != nullptr);
      CHECK(main_spelling(*other) == needed);  // which is what needs.cc compares with
    }
  });
  for (const auto& [spelling, count] : times) {
    INFO(spelling);
    CHECK(count == 1);
  }
}

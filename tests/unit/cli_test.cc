#include "launcher/options/command_line.h"

#include <sstream>

#include "common/core/text.h"
#include "launcher/options/text/linked_versions.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace std::chrono_literals;

namespace {
using Words = std::vector<std::string>;

Options parse(const Words& words) {
  const auto parsed = parse_command_line(words);
  if (parsed.has_error()) FAIL(parsed.error().message());
  REQUIRE(std::holds_alternative<Options>(*parsed));
  return std::get<Options>(*parsed);
}

Options parse_with_program(Words words) {
  words.push_back("prog");
  return parse(words);
}

std::string error_of(const Words& words) {
  const auto parsed = parse_command_line(words);
  if (parsed.has_value()) return "(accepted)";
  CHECK(parsed.error().kind() == ErrorKind::Usage);
  CHECK(parsed.error().message().find('\n') == std::string::npos);
  return parsed.error().message();
}

std::string printed(const Words& words) {
  const auto parsed = parse_command_line(words);
  REQUIRE(parsed.has_value());
  REQUIRE(std::holds_alternative<Printed>(*parsed));
  return std::get<Printed>(*parsed).text;
}
}  // namespace

TEST_CASE("every spelling of an option sets the same field") {
  for (const char* spelling : {"--np", "-np", "-n", "-c", "--num-proc", "--n"}) {
    CAPTURE(spelling);
    CHECK(parse_with_program({spelling, "3"}).np == 3U);
    CHECK(parse_with_program({std::string(spelling) + "=3"}).np == 3U);
  }
  for (const char* spelling : {"--hosts", "-H", "-host", "--host"}) {
    CAPTURE(spelling);
    CHECK(parse_with_program({spelling, "a:1,b"}).hosts == "a:1,b");
  }
  for (const char* spelling :
       {"--nproc-per-node", "--npernode", "-N", "-ppn", "--nproc_per_node", "--slots-per-host"}) {
    CAPTURE(spelling);
    CHECK(parse_with_program({spelling, "8"}).nproc_per_node == 8U);
  }
  for (const char* spelling : {"--wdir", "-wdir", "-wd", "--chdir"}) {
    CAPTURE(spelling);
    CHECK(parse_with_program({spelling, "/d"}).working_directory == "/d");
  }
  for (const char* spelling : {"--dry-run", "--plan"})
    CHECK(parse_with_program({spelling}).dry_run == PlanFormat::Text);
  for (const char* spelling : {"--ssh-port", "-p"}) CHECK(parse_with_program({spelling, "2222"}).ssh.port == 2222);
  for (const char* spelling : {"--ssh-identity-file", "-i"}) {
    CHECK(parse_with_program({spelling, "k"}).ssh.identity_file == "k");
  }
  for (const char* spelling : {"--verbose", "-v"})
    CHECK(parse_with_program({spelling}).verbosity == Verbosity::Verbose);
  for (const char* spelling : {"--quiet", "-q"}) CHECK(parse_with_program({spelling}).verbosity == Verbosity::Quiet);
}

TEST_CASE("every other option sets its field") {
  const Options o = parse_with_program({"--resource-config",
                                        "rc.json",
                                        "-x",
                                        "A",
                                        "-x",
                                        "B=x y=z",
                                        "-x",
                                        "P_*",
                                        "--env-file",
                                        "f",
                                        "--env-file",
                                        "g",
                                        "--export",
                                        "none",
                                        "--grace",
                                        "1.5m",
                                        "--start-timeout",
                                        "2m",
                                        "--heartbeat-timeout",
                                        "45",
                                        "--oversubscribe",
                                        "--ssh-user",
                                        "joe",
                                        "--ssh-config",
                                        "cfg",
                                        "--ssh-command",
                                        "ssh -F 'a b'",
                                        "--accept-new-host-keys",
                                        "--fanout",
                                        "8",
                                        "--connect-timeout",
                                        "250ms",
                                        "--agent-path",
                                        "/agent",
                                        "--no-tag"});
  CHECK(o.resource_config == "rc.json");
  CHECK(o.export_variables == Words{"A", "B=x y=z", "P_*"});
  CHECK(o.env_files == Words{"f", "g"});
  CHECK(o.export_policy == plan::ExportPolicy::None);
  CHECK(o.grace == 90s);
  CHECK(o.start_timeout == 2min);
  CHECK(o.heartbeat_timeout == 45s);
  CHECK(o.layout.oversubscribe == plan::Oversubscribe::Yes);
  CHECK(o.ssh.user == "joe");
  CHECK(o.ssh.config_file == "cfg");
  CHECK(o.ssh.command == Words{"ssh", "-F", "a b"});
  CHECK(o.ssh.host_keys == HostKeyPolicy::AcceptNew);
  CHECK(o.ssh.fanout == 8);
  CHECK(o.ssh.connect_timeout == 250ms);
  CHECK(o.agent_path == "/agent");
  CHECK(o.output.tag == output::TagTemplate());
  CHECK(o.command == Words{"prog"});
}

TEST_CASE("when the output is made safe for a terminal") {
  CHECK(parse({"prog"}).output.sanitize == Sanitize::Auto);
  CHECK(parse_with_program({"--sanitize", "always"}).output.sanitize == Sanitize::Always);
  CHECK(parse_with_program({"--sanitize=never"}).output.sanitize == Sanitize::Never);
  CHECK(parse_with_program({"--sanitize=never", "--sanitize=auto"}).output.sanitize == Sanitize::Auto);
}

TEST_CASE("the tags of other launchers are templates") {
  const auto tag = [](const Words& words) { return parse_with_program(words).output.tag; };
  CHECK(tag({"--tag", "{rank}@{host}: "}) == *output::TagTemplate::parse("{rank}@{host}: "));
  for (const char* spelling : {"--tag-output", "-tag-output"}) {
    CHECK(tag({spelling}) == *output::TagTemplate::parse("[1,{rank}]<{stream}>:"));
  }
  for (const char* spelling : {"--prepend-rank", "-prepend-rank"}) {
    CHECK(tag({spelling}) == *output::TagTemplate::parse("[{rank}] "));
  }
  CHECK(tag({"--prepend-rank", "--no-tag"}) == output::TagTemplate());
  CHECK(error_of({"--tag", "{rank", "prog"}) == "--tag: \"{rank\", column 1: a { without its }; write {{ for a brace");
}

TEST_CASE("what only lines of other launchers have is known under their names alone") {
  CHECK(error_of({"--timeout-status", "9", "prog"}) ==
        "unknown option --timeout-status; only lines of other launchers, under their names, have it: see sml-run "
        "--help rare");
  CHECK(error_of({"--tee-tag=x", "prog"}).starts_with("unknown option --tee-tag; only lines of other launchers"));
  CHECK(error_of({"--timeout_status", "9", "prog"}).starts_with("unknown option --timeout_status"));
  CHECK(error_of({"--timeout-statu", "9", "prog"}).find("--timeout-status") == std::string::npos);
  CHECK(parse_with_program({"--log-dir", "d", "--tee", "3"}).logs.directory == "d");  // torchrun's, translated
}

TEST_CASE("which workers are heard") {
  const auto shown = [](const Words& words) { return parse_with_program(words).output.shown_ranks; };
  CHECK_FALSE(shown({}).has_value());
  CHECK(shown({"--show-ranks", "0,8-15"})->text() == "0,8-15");
  CHECK(shown({"--quiet-workers"})->empty());
  CHECK(shown({"--quiet-workers", "--show-ranks=1"})->text() == "1");
  CHECK(error_of({"--show-ranks", "a", "prog"}) ==
        "--show-ranks: \"a\" is not a list of ranks such as 0,8-15 (column 1: \"a\")");
}

TEST_CASE("what becomes of output") {
  const OutputOptions none = parse_with_program({}).output;
  CHECK(none.color == Color::Auto);
  CHECK(none.progress_bars == ProgressBars::Auto);
  CHECK(none.equal_lines == EqualLines::Auto);
  CHECK(none.when_gone == OutputOptions::Gone::EndsJob);
  const OutputOptions all =
      parse_with_program({"--color=never", "--collapse-cr", "--dedup", "--keep-going-without-output"}).output;
  CHECK(all.color == Color::Never);
  CHECK(all.progress_bars == ProgressBars::Collapse);
  CHECK(all.equal_lines == EqualLines::Fold);
  CHECK(all.when_gone == OutputOptions::Gone::IsIgnored);
  CHECK(parse_with_program({"--color", "always"}).output.color == Color::Always);
  CHECK(error_of({"--color", "blue", "prog"}) == "--color: \"blue\" is not auto, always or never");
}

TEST_CASE("nothing given is the defaults") {
  const Options o = parse({"prog"});
  const Options defaults;
  CHECK_FALSE(o.np.has_value());
  CHECK(o.grace == defaults.grace);
  CHECK(o.export_policy == plan::ExportPolicy::All);
  CHECK_FALSE(o.dry_run.has_value());
  CHECK(o.verbosity == Verbosity::Normal);
  CHECK_FALSE(o.output.tag.has_value());
}

TEST_CASE("the last value of an option wins, under whatever spelling") {
  CHECK(parse_with_program({"-np", "2", "--num-proc=5", "-n", "4"}).np == 4U);
  CHECK(parse_with_program({"-H", "a", "--host", "b"}).hosts == "b");
  CHECK(parse_with_program({"-v", "-q"}).verbosity == Verbosity::Quiet);
  CHECK(parse_with_program({"-q", "-v"}).verbosity == Verbosity::Verbose);
  CHECK_FALSE(parse_with_program({"-N", "4", "-N", "gpu"}).nproc_per_node.has_value());
  CHECK(parse_with_program({"-N", "4", "-N", "gpu"}).slots_rule == SlotsRule::Gpu);
  CHECK(parse_with_program({"-N", "cpu"}).slots_rule == SlotsRule::Cpu);
  CHECK(parse_with_program({"-N", "gpu", "-N", "2"}).slots_rule == SlotsRule::Auto);
  CHECK(parse_with_program({"--dry-run", "--format", "json", "--format=text"}).dry_run == PlanFormat::Text);
  CHECK(parse_with_program({"--format", "json", "--dry-run"}).dry_run == PlanFormat::Json);
}

TEST_CASE("numbers may stand right behind a short option") {
  CHECK(parse_with_program({"-n4"}).np == 4U);
  CHECK(parse_with_program({"-p2222"}).ssh.port == 2222);
  CHECK(parse_with_program({"-N2"}).nproc_per_node == 2U);
}

TEST_CASE("values are taken as they are") {
  CHECK(parse_with_program({"-wdir", "-odd dir"}).working_directory == "-odd dir");
  CHECK(parse_with_program({"--wdir=a=b"}).working_directory == "a=b");
  CHECK(parse_with_program({"-x", "A=-np --hosts [1,2] {} %% \"' \n\xff"}).export_variables ==
        Words{"A=-np --hosts [1,2] {} %% \"' \n\xff"});
  CHECK(parse_with_program({"-H", "[::1]"}).hosts == "[::1]");
  CHECK(parse_with_program({"-x", "A="}).export_variables == Words{"A="});
}

TEST_CASE("the first word that is no option starts the program, and nothing after it is touched") {
  struct Row {
    Words words;
    Words command;
  };
  const Row rows[] = {
      {{"prog", "-np", "2", "--help", "--", "x"}, {"prog", "-np", "2", "--help", "--", "x"}},
      {{"-np", "2", "prog", "-v", "--bogus", "-x", "A"}, {"prog", "-v", "--bogus", "-x", "A"}},
      {{"-np", "2", "--", "prog", "--", "y"}, {"prog", "--", "y"}},
      {{"--", "-np", "2"}, {"-np", "2"}},
      {{"-v", "prog", "", "a b", "*", "$X", "\xff"}, {"prog", "", "a b", "*", "$X", "\xff"}},
      {{"--dry-run", "-", "a"}, {"-", "a"}},
      {{"A=1", "-np"}, {"A=1", "-np"}},
  };
  for (const Row& row : rows) CHECK(parse(row.words).command == row.command);
}

TEST_CASE("an unknown option is refused, with the nearest known one") {
  struct Row {
    const char* word;
    const char* message;
  };
  const Row rows[] = {
      {"--hotsfile", "unknown option --hotsfile; did you mean --hostfile?"},
      {"--hosst=a", "unknown option --hosst; did you mean --hosts?"},
      {"-hsot", "unknown option -hsot; did you mean -host?"},
      {"--nrpoc-per-node", "unknown option --nrpoc-per-node; did you mean --nproc-per-node?"},
      {"-nq", "unknown option -nq; did you mean --np?"},
      {"--heartbeat", "unknown option --heartbeat; did you mean --heartbeat-timeout?"},
      {"--x=1", "unknown option --x; did you mean -x?"},
      {"--zzzzzz", "unknown option --zzzzzz; sml-run --help all lists them"},
      {"--restart", "unknown option --restart; did you mean --max-restarts?"},
      {"--log=a", "unknown option --log; did you mean --log-dir?"},
      {"--output_dir", "unknown option --output_dir; did you mean --log-dir?"},
      {"--num_processes", "unknown option --num_processes; did you mean -np?"},
      {"--time-limit", "unknown option --time-limit; did you mean --timeout?"},
      {"--detach", "unknown option --detach; put nohup before the line and & behind it"},
      {"-z", "unknown option -z; sml-run --help all lists them"},
      {"-v2", "unknown option -v2; did you mean -v?"},
      {"---", "unknown option ---; sml-run --help all lists them"},
      {"--\x1b[31m", "unknown option --\\x1b[31m; sml-run --help all lists them"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.word);
    CHECK(error_of({row.word, "prog"}) == row.message);
  }
}

TEST_CASE("every usage error is one sentence that names the text and what was expected") {
  struct Row {
    Words words;
    const char* message;
  };
  const Row rows[] = {
      {{}, "no program to start; give one after the options, as in sml-run -np 2 python3 train.py"},
      {{"-np", "2"}, "no program to start; give one after the options, as in sml-run -np 2 python3 train.py"},
      {{"--"}, "no program to start; give one after the options, as in sml-run -np 2 python3 train.py"},
      {{""}, "the program's name is empty; give one after the options"},
      {{"-np", "0", "p"}, "-np: \"0\" is not a whole number from 1 to 1000000; leave it out to use every slot"},
      {{"--num-proc=-1", "p"},
       "--num-proc: \"-1\" is not a whole number from 1 to 1000000; leave it out to use every slot"},
      {{"-n", "2x", "p"}, "-n: \"2x\" is not a whole number from 1 to 1000000; leave it out to use every slot"},
      {{"-n", "4294967297", "p"},
       "-n: \"4294967297\" is not a whole number from 1 to 1000000; leave it out to use every slot"},
      {{"-n", " 1", "p"}, "-n: \" 1\" is not a whole number from 1 to 1000000; leave it out to use every slot"},
      {{"-np"}, "-np needs a value; write -np N"},
      {{"-H"}, "-H needs a value; write -H LIST"},
      {{"-H", "", "p"}, "-H has an empty value; write -H LIST"},
      {{"--wdir=", "p"}, "--wdir has an empty value; write --wdir DIR"},
      {{"--quiet=1", "p"}, "--quiet takes no value; write --quiet alone"},
      {{"-N", "0", "p"}, "-N: \"0\" is not a whole number from 1 to 65536, nor auto, gpu, cpu, gpu-or-cpu or core"},
      {{"-ppn", "many", "p"},
       "-ppn: \"many\" is not a whole number from 1 to 65536, nor auto, gpu, cpu, gpu-or-cpu or core"},
      {{"--forward-signals", "USR1,INT", "p"},
       "--forward-signals: \"INT\" is not none, or a list of HUP, QUIT, USR1, USR2, ALRM, WINCH, URG and PWR; INT and "
       "TERM "
       "always stop the job"},
      {{"--stop-signal", "KILL", "p"},
       "--stop-signal: \"KILL\" is not one of HUP, INT, QUIT, ABRT, USR1, USR2, ALRM, TERM, PWR and XCPU"},
      {{"--signal-target", "tree", "p"}, "--signal-target: \"tree\" is not worker or group"},
      {{"--checkpoint-signal", "USR1", "p"},
       "--checkpoint-signal: \"USR1\" is not a signal and a time of 100 ms or more, such as USR1,120s; the signal is "
       "one of HUP, INT, QUIT, ABRT, USR1, USR2, ALRM, TERM, PWR and XCPU"},
      {{"--checkpoint-signal", "STOP,120s", "p"},
       "--checkpoint-signal: \"STOP,120s\" is not a signal and a time of 100 ms or more, such as USR1,120s; the signal "
       "is "
       "one of HUP, INT, QUIT, ABRT, USR1, USR2, ALRM, TERM, PWR and XCPU"},
      {{"--results-limit", "0", "p"}, "--results-limit: \"0\" is not a size, written as 65536, 64K, 10M or 2G"},
      {{"--log-max-size", "1023", "p"},
       "--log-max-size: \"1023\" is not a size of 1K or more, written as 65536, 64K, 10M or 2G"},
      {{"--master-addr", "head", "p"},
       "--master-addr: \"head\" is not the numeric address of rank 0's host, such as 10.0.0.1; leave it out and "
       "sml-run "
       "finds one"},
      {{"--pmix", "libpmix.so.2", "p"}, "--pmix: \"libpmix.so.2\" is not the path of a libpmix.so.2 from / on"},
      {{"--mpi", "yes", "p"}, "--mpi: \"yes\" is not auto, pmi1, pmi2, pmix or none"},
      {{"--timeline", "t.txt", "p"},
       "--timeline: \"t.txt\" is not a file that ends in .html, for a browser, or .json, for Perfetto"},
      {{"--export", "some", "p"}, "--export: \"some\" is not all or none"},
      {{"--format", "yaml", "p"}, "--format: \"yaml\" is not text or json"},
      {{"--format", "json", "p"}, "--format requires --dry-run or --explain or --check"},
      {{"--grace", "-1", "p"}, "--grace: \"-1\" is not a duration up to a year, written as 90, 90s, 1.5m, 2h or 250ms"},
      {{"--start-timeout", "0", "p"},
       "--start-timeout: \"0\" is not a duration of 1 ms or more, written as 90, 90s, 1.5m, 2h or 250ms"},
      {{"--heartbeat-timeout", "10ms", "p"},
       "--heartbeat-timeout: \"10ms\" is not a duration of 1 s or more, written as 90, 90s, 1.5m, 2h or 250ms"},
      {{"--ssh-port", "0", "p"}, "--ssh-port: \"0\" is not a whole number from 1 to 65535"},
      {{"-p", "65536", "p"}, "-p: \"65536\" is not a whole number from 1 to 65535"},
      {{"--ssh-user", "-l", "p"}, "--ssh-user: \"-l\" is not a user name"},
      {{"--ssh-command", "ssh 'x", "p"}, "--ssh-command: closing ' is missing in \"ssh 'x\""},
      {{"--ssh-command", "  ", "p"}, "--ssh-command: \"  \" is not a command such as 'ssh -F FILE'"},
      {{"--fanout", "0", "p"}, "--fanout: \"0\" is not a whole number from 1 to 10000"},
      {{"-x", "1A=secret", "p"}, "-x: \"1A\" is no variable name; expected NAME, NAME=VALUE or PREFIX_*"},
  };
  for (const Row& row : rows) CHECK(error_of(row.words) == row.message);
}

TEST_CASE("help and version are printed, whatever follows") {
  CHECK(printed({"--version"}) == "sml-run " SML_VERSION "\n");
  CHECK(printed({"-np", "0", "--version", "--bogus"}) == "sml-run " SML_VERSION "\n");
  for (const Words& words : {Words{"--version", "--verbose"}, Words{"--verbose", "--version"}}) {
    CHECK(printed(words).starts_with("sml-run " SML_VERSION "\n"));
    CHECK(printed(words).ends_with(std::string(linked_versions()) + "\n"));
  }
  CHECK(printed({"-h"}) == printed({"--help"}));
  CHECK(error_of({"--bogus", "--help"}) == "unknown option --bogus; sml-run --help all lists them");
}

TEST_CASE("the whole help and the one of rare options name every option, and the first ends with three examples") {
  const std::string all = printed({"--help", "all"});
  const std::string help = all + printed({"--help", "rare"});
  std::istringstream lines(help);
  std::string line;
  while (std::getline(lines, line)) {
    CAPTURE(line);
    CHECK(line.size() <= 100);
    CHECK((line.empty() || line.back() != ' '));
  }
  for (const std::string& name : long_options()) {
    CAPTURE(name);
    CHECK((help.find(" --" + name + " ") != std::string::npos || help.find(" --" + name + "\n") != std::string::npos));
  }
  const std::string examples = all.substr(all.find("\nExamples:\n"));
  std::size_t count = 0;
  for (std::size_t at = 0; (at = examples.find("\n    sml-run ", at)) != std::string::npos; ++at) ++count;
  CHECK(count == 3);
}

TEST_CASE("the examples of the help are accepted") {
  const std::string help = printed({"--help", "all"});
  for (std::size_t at = 0; (at = help.find("\n    sml-run ", at)) != std::string::npos; ++at) {
    const std::string example = help.substr(at + 13, help.find('\n', at + 1) - at - 13);
    CAPTURE(example);
    const auto words = shell_words(example);
    REQUIRE(words.has_value());
    CHECK(parse(*words).command == Words{"python3", "train.py"});
  }
}

TEST_CASE("the help tells the true defaults") {
  const std::string help = printed({"--help", "all"});
  const Options defaults;
  const auto tells = [&](const char* option, Duration value) {
    const std::string rest = help.substr(help.find(option));
    const std::string text = rest.substr(0, rest.find("\n       --"));
    return text.find("default " + std::to_string(std::chrono::duration_cast<std::chrono::seconds>(value).count()) +
                     "s") != std::string::npos;
  };
  CHECK(tells("--grace", defaults.grace));
  CHECK(tells("--start-timeout", defaults.start_timeout));
  CHECK(tells("--heartbeat-timeout", defaults.heartbeat_timeout));
  CHECK(tells("--connect-timeout", kConnectTimeout));
  CHECK(help.find("default " + std::to_string(defaults.ssh.fanout)) != std::string::npos);
}

TEST_CASE("long options are listed once each, sorted") {
  const Words names = long_options();
  CHECK(std::is_sorted(names.begin(), names.end()));
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
  CHECK(std::find(names.begin(), names.end(), "accept-new-host-keys") != names.end());
  CHECK(std::find(names.begin(), names.end(), "num-proc") == names.end());
}

TEST_CASE("workers are placed in Open MPI's words and in ours") {
  const Options by_host = parse_with_program({"-map-by", "node:oversubscribe", "-rank-by", "slot"});
  CHECK(by_host.layout.map_by == plan::MapBy::Host);
  CHECK(by_host.layout.rank_by == plan::RankBy::Slot);
  CHECK(by_host.layout.oversubscribe == plan::Oversubscribe::Yes);
  CHECK(parse_with_program({"--map-by", "ppr:4:node"}).layout.per_host == 4U);
  CHECK(parse_with_program({"--ranks-per-host", "4", "-map-by", "slot"}).layout.per_host == 4U);
  CHECK(parse_with_program({"-rf", "r.txt"}).rankfile == "r.txt");
  CHECK(parse_with_program({"-oversubscribe", "-nooversubscribe"}).layout.oversubscribe == plan::Oversubscribe::No);
  CHECK(error_of({"--map-by", "board", "p"}) ==
        "--map-by: \"board\" is an unknown placement; expected slot, host, socket, numa, l3, core, "
        "hwthread or ppr:N:host");
  const plan::BindingRequest socket = parse_with_program({"--map-by", "socket"}).binding;
  CHECK(socket.map_by == plan::BindTo::Socket);
  CHECK(socket.bind_to == plan::BindTo::Socket);
  CHECK(parse_with_program({"--bind-to", "none", "--map-by", "socket"}).binding.bind_to == plan::BindTo::None);
  CHECK(parse_with_program({"--map-by", "slot:PE=2", "--bind-to", "none"}).binding.bind_to == plan::BindTo::None);
  CHECK(parse_with_program({"--cpu-set", "0-1,4"}).binding.cores == plan::CpuSet{0, 1, 4});
  CHECK(error_of({"--cpu-set", "x", "p"}) == "--cpu-set: \"x\" is not a list of cores such as 0-3,8");
  CHECK(parse_with_program({"--rank-by", "node"}).layout.rank_by == plan::RankBy::Host);
  CHECK(error_of({"--rank-by", "core", "p"}) == "--rank-by: \"core\" is not slot or host");
  CHECK(error_of({"--ranks-per-host", "0", "p"}) == "--ranks-per-host: \"0\" is not a whole number from 1 to 65536");
}

TEST_CASE("processors and devices are asked for in Open MPI's words and in ours") {
  CHECK(parse_with_program({}).binding == plan::BindingRequest{});
  CHECK(parse_with_program({"-bind-to", "none"}).binding == plan::BindingRequest{});
  CHECK(parse_with_program({"-bind-to", "package:if-supported"}).binding.bind_to == plan::BindTo::Socket);
  const plan::BindingRequest all{plan::BindTo::Numa,
                                 4,
                                 plan::MemoryPolicy::Prefer,
                                 plan::OnImpossible::Fail,
                                 plan::ReportBindings::Yes,
                                 plan::BindTo::None,
                                 0,
                                 {}};
  CHECK(parse_with_program({"--bind-to", "numa", "--cpus-per-rank", "4", "--memory-policy", "prefer", "--bind-strict",
                            "-report-bindings"})
            .binding == all);
  const plan::BindingRequest pe = parse_with_program({"--map-by", "slot:PE=2"}).binding;
  CHECK(pe.bind_to == plan::BindTo::Core);
  CHECK(pe.cores_per_rank == 2);
  CHECK(parse_with_program({"--ionice", "idle"}).binding.io_priority == plan::kIdleIo);
  CHECK(parse_with_program({"--ionice", "best-effort"}).binding.io_priority == plan::kBestEffortIo + 4);
  CHECK(parse_with_program({"--ionice", "best-effort:7"}).binding.io_priority == plan::kBestEffortIo + 7);
  CHECK(error_of({"--ionice", "realtime", "p"}).starts_with("--ionice: \"realtime\" is not idle, best-effort, best-"));
  CHECK(parse_with_program({"--gpus-per-rank", "2"}).gpus_per_rank == 2U);
  CHECK(parse_with_program({"--visible-devices", "none"}).visible_devices == plan::VisibleDevices::None);
  CHECK(error_of({"--bind-to", "board", "p"}) ==
        "--bind-to: \"board\" is not none, hwthread, core, l3, numa, socket, user:LIST "
        "or openmpi");
  CHECK(error_of({"--memory-policy", "near", "p"}) ==
        "--memory-policy: \"near\" is not none, bind, prefer or interleave");
  CHECK(error_of({"--visible-devices", "1", "p"}) ==
        "--visible-devices: \"1\" is not all, per-rank, per-rank-if-any or none");
  CHECK(error_of({"--gpus-per-rank", "0", "p"}) ==
        "--gpus-per-rank: \"0\" is not a whole number from 1 to 1024; --visible-devices none hides them");
}

TEST_CASE("how workers are told that they are to end") {
  const StopOptions none = parse_with_program({}).stop;
  CHECK(none.signal == SIGTERM);
  CHECK_FALSE(none.target);
  CHECK_FALSE(none.checkpoint);
  const StopOptions all =
      parse_with_program({"--stop-signal", "SIGINT", "--signal-target=worker", "--checkpoint-signal", "USR1,2m"}).stop;
  CHECK(all.signal == SIGINT);
  CHECK(all.target == SignalTarget::Worker);
  CHECK(all.checkpoint->signo == SIGUSR1);
  CHECK(all.checkpoint->most == 2min);
  CHECK(parse_with_program({"--signal-target=group"}).stop.target == SignalTarget::Group);
}

TEST_CASE("signals that no program handles are for all") {
  for (const int signo : {SIGKILL, SIGSTOP, SIGCONT}) {
    CHECK(target_of(signo, SignalTarget::Worker) == SignalTarget::Group);
  }
  CHECK(target_of(SIGTERM, SignalTarget::Worker) == SignalTarget::Worker);
  CHECK(target_of(SIGTERM, SignalTarget::Group) == SignalTarget::Group);
}

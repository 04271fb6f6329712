// --no-status, --status-signal, --warn-silent, --watch: what of the command line is taken and what is refused.
#include <csignal>

#include "launcher/options/command_line.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace std::chrono_literals;
using Words = std::vector<std::string>;

namespace {

Options parse(Words words) {
  words.emplace_back("prog");
  auto parsed = parse_command_line(words);
  INFO((parsed ? "" : parsed.error().message()));
  REQUIRE(parsed.has_value());
  return std::get<Options>(*parsed);
}

std::string error_of(Words words) {
  words.emplace_back("prog");
  const auto parsed = parse_command_line(words);
  REQUIRE_FALSE(parsed.has_value());
  CHECK(parsed.error().kind() == ErrorKind::Usage);
  return parsed.error().message();
}

}  // namespace

TEST_CASE("options of the progress: defaults and values") {
  const Options none = parse({});
  CHECK(none.progress.live == LiveStatus::OnTerminal);
  CHECK_FALSE(none.progress.status_signal);
  CHECK_FALSE(none.progress.warn_silent);
  CHECK(none.progress.on_silent == OnSilent::NameThem);
  CHECK_FALSE(none.progress.watch);
  CHECK(none.progress.hang_folder.empty());
  CHECK(parse({"--hang-report", "a/b"}).progress.hang_folder == "a/b");
  const Options all = parse(
      {"--no-status", "--status-signal", "QUIT", "--warn-silent", "5m", "--watch", "loss=\\d+;first=600;every=300"});
  CHECK(all.progress.live == LiveStatus::Never);
  CHECK(all.progress.status_signal == SIGQUIT);
  CHECK(all.progress.warn_silent == 5min);
  CHECK(all.progress.watch->pattern.text() == "loss=\\d+");
  CHECK(all.progress.watch->first == 10min);
  CHECK(all.progress.watch->every == 5min);
  CHECK(parse({"--warn-silent=1", "--on-silent=report"}).progress.on_silent == OnSilent::Report);
  CHECK(parse({"--warn-silent=1", "--on-silent=restart"}).progress.on_silent == OnSilent::Restart);
  CHECK(parse({"--on-silent=stop", "--warn-silent=1"}).progress.on_silent == OnSilent::Stop);
  CHECK(parse({"--watch=%= \"x\",{y} ;first=1"}).progress.watch->pattern.text() == "%= \"x\",{y} ");
}

TEST_CASE("limits of the rank monitor: defaults, and NVRx's names and words") {
  const plan::RankMonitor none = monitor_of(parse({}).rank_monitor);
  CHECK(none.offer == plan::RankMonitorOffer::No);
  const plan::RankMonitor plain = monitor_of(parse({"--rank-monitor"}).rank_monitor);
  CHECK(plain == plan::RankMonitor{.offer = plan::RankMonitorOffer::Yes});
  CHECK(plain.first_ms == 3'600'000);
  CHECK(plain.heartbeat_ms == 2'700'000);
  const plan::RankMonitor all =
      monitor_of(parse({"--rank-monitor", "--ft-initial-rank-heartbeat-timeout=90.5", "--ft-rank_heartbeat_timeout",
                        "1m", "--ft-rank-section-timeouts", "setup:600,step : 5s,saving:none,a:b:null",
                        "--rank-out-of-section-timeout", "2s"})
                     .rank_monitor);
  CHECK(all == plan::RankMonitor{.offer = plan::RankMonitorOffer::Yes,
                                 .first_ms = 90'500,
                                 .heartbeat_ms = 60'000,
                                 .outside_ms = 2000,
                                 .sections = {{"setup", 600'000}, {"step", 5000}, {"saving", 0}, {"a:b", 0}}});
}

TEST_CASE("who limits only sections has a script without heartbeats") {
  const plan::RankMonitor sections = monitor_of(parse({"--rank-monitor", "--rank-section-timeouts=a:1"}).rank_monitor);
  CHECK(sections.first_ms == 0);
  CHECK(sections.heartbeat_ms == 0);
  CHECK(sections.outside_ms == 0);
  const plan::RankMonitor outside =
      monitor_of(parse({"--rank-monitor", "--rank-out-of-section-timeout=1"}).rank_monitor);
  CHECK(outside.first_ms == 0);
  const plan::RankMonitor both =
      monitor_of(parse({"--rank-monitor", "--rank-section-timeouts=a:1", "--rank-heartbeat-timeout=7"}).rank_monitor);
  CHECK(both.first_ms == plan::RankMonitor::kFirstMs);
  CHECK(both.heartbeat_ms == 7000);
  const plan::RankMonitor no_heartbeats =
      monitor_of(parse({"--rank-monitor", "--initial-rank-heartbeat-timeout=none"}).rank_monitor);
  CHECK(no_heartbeats.first_ms == 0);
  CHECK(no_heartbeats.heartbeat_ms == plan::RankMonitor::kHeartbeatMs);
}

TEST_CASE("limits of the rank monitor that are none") {
  const auto about = [](const std::string& option, const std::string& value) {
    return error_of({"--rank-monitor", option, value});
  };
  CHECK(about("--rank-heartbeat-timeout", "0").find("a duration of 1 ms or more") != std::string::npos);
  CHECK(about("--rank-heartbeat-timeout", "soon").find("or none") != std::string::npos);
  for (const std::string list : {"step", ":5", "step:", "a:1,,b:1", "step:0"}) {
    INFO(list);
    CHECK(about("--rank-section-timeouts", list).find("--rank-section-timeouts") != std::string::npos);
  }
  CHECK(error_of({"--rank-heartbeat-timeout", "5"}).find("--rank-monitor") != std::string::npos);
}

TEST_CASE("the signal that prints the status is not passed on") {
  CHECK(parse({"--status-signal", "SIGUSR1"}).forward_signals == std::vector<int>{SIGUSR2, SIGWINCH});
  CHECK(parse({"--status-signal", "QUIT"}).forward_signals == std::vector<int>{SIGUSR1, SIGUSR2, SIGWINCH});
  CHECK(parse({"--status-signal", "USR1", "--forward-signals", "USR2"}).forward_signals == std::vector<int>{SIGUSR2});
}

TEST_CASE("what the options of the progress refuse") {
  struct Row {
    Words words;
    const char* message;
  };
  const Row rows[] = {
      {{"--status-signal", "INT"}, "--status-signal: \"INT\" is not one of HUP, QUIT, USR1, USR2, ALRM, URG and PWR"},
      {{"--status-signal", "KILL"}, "--status-signal: \"KILL\" is not one of HUP, QUIT, USR1, USR2, ALRM, URG and PWR"},
      {{"--status-signal", "WINCH"},
       "--status-signal: \"WINCH\" is not one of HUP, QUIT, USR1, USR2, ALRM, URG and PWR"},
      {{"--status-signal", "usr3"}, "--status-signal: \"usr3\" is not one of HUP, QUIT, USR1, USR2, ALRM, URG and PWR"},
      {{"--status-signal", "USR2", "--forward-signals", "USR1,USR2"},
       "--status-signal: SIGUSR2 is one of --forward-signals too; a signal prints the status or is passed on, not "
       "both"},
      {{"--forward-signals", "HUP", "--status-signal=1"},
       "--status-signal: SIGHUP is one of --forward-signals too; a signal prints the status or is passed on, not both"},
      {{"--warn-silent", "0"},
       "--warn-silent: \"0\" is not a duration of 100 ms or more, written as 90, 90s, 1.5m, 2h or 250ms"},
      {{"--warn-silent", "long"},
       "--warn-silent: \"long\" is not a duration of 100 ms or more, written as 90, 90s, 1.5m, 2h or 250ms"},
      {{"--hang-report", ""}, "--hang-report has an empty value; write --hang-report DIR"},
      {{"--on-silent", "stop"}, "--on-silent requires --warn-silent"},
      {{"--warn-silent", "1", "--on-silent", "kill"}, "--on-silent: \"kill\" is not report, restart or stop"},
      {{"--watch", "loss"},
       "--watch: \"loss\" has no time limit; write 'REGEX;first=D;every=D', or one of the two, or use --max-restarts, "
       "where lines that match are progress"},
      {{"--watch", "(;first=1"}, "--watch: \"(\" is no regular expression: missing ): ("},
      {{"--watch", ""}, "--watch has an empty value; write --watch 'REGEX;first=D;every=D'"},
      {{"--no-status=1"}, "--no-status takes no value; write --no-status alone"},
  };
  for (const Row& row : rows) CHECK(error_of(row.words) == row.message);
}

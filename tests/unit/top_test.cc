// sml-run top: rows, order, folding, the screen and its keys.
#include <algorithm>
#include <csignal>

#include <nlohmann/json.hpp>

#include "launcher/top/screen.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::top;
using namespace std::chrono_literals;
using Json = nlohmann::json;

namespace {

// Ranks that run, eight on each host, all alike.
Snapshot job_of(std::size_t ranks) {
  Snapshot job{.id = "sml-1", .state = "running", .command = "train.py", .age_s = 65};
  for (std::size_t i = 0; i < ranks; ++i) {
    const std::string host = "h" + std::to_string(i / 8);
    if (i % 8 == 0)
      job.hosts.push_back({.name = host, .state = "ready", .memory_used = 1 << 20, .memory_size = 4 << 20});
    job.ranks.push_back({.host = host,
                         .state = "running",
                         .pid = static_cast<std::int64_t>(1000 + i),
                         .silent_s = 1,
                         .cpu_percent = 98,
                         .memory = 100 << 20});
  }
  return job;
}

void fail(Snapshot& job, std::size_t rank) {
  job.ranks[rank].state = "failed";
  job.ranks[rank].status = "exited with status 7";
  job.ranks[rank].silent_s.reset();
}

std::vector<std::string> numbers(const std::vector<Row>& rows) {
  std::vector<std::string> out;
  for (const Row& row : rows) out.push_back(numbers_text(row.ranks));
  return out;
}

std::string text_of(const std::vector<Line>& lines) {
  std::string out;
  for (const Line& line : lines) out += line.text + "\n";
  return out;
}

bool shows(Screen& screen, const std::string& text) {
  return text_of(screen.draw(80, 24)).find(text) != std::string::npos;
}

UserRequest type(Screen& screen, const std::string& letters) {
  UserRequest last;
  for (const char letter : letters) last = screen.on_key(letter == '\n' ? Key::Enter : Key::Other, letter);
  return last;
}

using Numbers = std::vector<std::string>;

}  // namespace

TEST_CASE("the answer of status is read, whatever is missing") {
  const Json json = {
      {"id", "sml-1"},
      {"state", "running"},
      {"age_s", 1.5},
      {"attempt", 2},
      {"goodput", {{"ratio", 0.5}}},
      {"on_hosts", {{{"host", "a"}, {"usage", {{"memory_bytes", 8}}}, {"memory_used_bytes", 4}}, "x"}},
      {"of_ranks", {{{"rank", 0}, {"host", "a"}, {"state", "running"}, {"pid", nullptr}, {"silent_s", 3}}}}};
  const Snapshot job = *read_snapshot(json.dump());
  CHECK(job.attempt == 2);
  CHECK(job.goodput == 0.5);
  REQUIRE(job.hosts.size() == 1);
  CHECK(job.hosts[0].memory_size == 8);
  REQUIRE(job.ranks.size() == 1);
  CHECK(job.ranks[0].silent_s == 3);
  CHECK_FALSE(job.ranks[0].cpu_percent);
  CHECK(read_snapshot("{}")->ranks.empty());
  CHECK_FALSE(read_snapshot("[]").has_value());
  CHECK_FALSE(read_snapshot("job: all is well").has_value());
}

TEST_CASE("512 ranks fold into one screen, the odd ones on top") {
  Snapshot job = job_of(512);
  fail(job, 300);
  job.ranks[17].silent_s = 500;
  job.ranks[40].cpu_percent = 3;
  mark_odd(job);
  CHECK(numbers(rows_of(job, Order::OddFirst, 15)) == Numbers{"300", "17", "40", "0-16,18-39,41-299,301-511"});
  const Numbers by_host = numbers(rows_of(job, Order::OddFirst, 80));
  CHECK(by_host.size() == 3 + 64);
  CHECK(by_host[3] == "0-7");
  CHECK(by_host[5] == "16,18-23");
  CHECK(rows_of(job, Order::OddFirst, 512).size() == 512);
}

TEST_CASE("orders of rows") {
  Snapshot job = job_of(4);
  job.ranks[2].cpu_percent = 50;
  job.ranks[1].memory = 1 << 30;
  job.ranks[3].silent_s = 9;
  job.ranks[0].output_rate = 5;
  CHECK(numbers(rows_of(job, Order::Rank, 9)) == Numbers{"0", "1", "2", "3"});
  CHECK(numbers(rows_of(job, Order::Cpu, 9)).back() == "2");
  CHECK(numbers(rows_of(job, Order::Memory, 9)).front() == "1");
  CHECK(numbers(rows_of(job, Order::Silence, 9)).front() == "3");
  CHECK(numbers(rows_of(job, Order::Output, 9)).front() == "0");
}

TEST_CASE("rates of output, not across attempts") {
  Snapshot before = job_of(2);
  Snapshot now = job_of(2);
  now.ranks[1].output_bytes = 3000;
  add_rates(now, before, 2s);
  CHECK(now.ranks[1].output_rate == 1500);
  now.ranks[1].output_rate = 0;
  before.attempt = 7;
  add_rates(now, before, 2s);
  CHECK(now.ranks[1].output_rate == 0);
}

TEST_CASE("few ranks are odd for their state only") {
  Snapshot job = job_of(2);
  job.ranks[1].cpu_percent = 0;
  mark_odd(job);
  CHECK_FALSE(job.ranks[1].is_odd);
  fail(job, 1);
  mark_odd(job);
  CHECK(job.ranks[1].is_odd);
}

TEST_CASE("a screen of 80 columns and 24 lines") {
  Screen screen;
  CHECK(screen.draw(80, 24).size() == 24);
  Snapshot job = job_of(512);
  fail(job, 300);
  job.hosts[9].name = "h9\x1b[2J";
  screen.take(job, 0s);
  for (const auto& [columns, lines] : {std::pair{80U, 24U}, {40U, 8U}, {200U, 60U}, {10U, 3U}}) {
    const std::vector<Line> drawn = screen.draw(columns, lines);
    REQUIRE(drawn.size() == lines);
    for (const Line& line : drawn) {
      CHECK(line.text.size() <= columns);
      CHECK(std::all_of(line.text.begin(), line.text.end(), [](char c) { return c >= ' ' && c <= '~'; }));
    }
  }
  CHECK(shows(screen, "511 running, 1 failed"));
  CHECK(shows(screen, "300 h37 "));
  CHECK(shows(screen, "exited with status 7"));
  CHECK(shows(screen, "511 running"));
  type(screen, "f");
  CHECK_FALSE(shows(screen, "* "));
}

TEST_CASE("the selection stays on its rank when others come before it") {
  Screen screen;
  screen.take(job_of(8), 0s);
  screen.draw(80, 24);
  for (int i = 0; i < 3; ++i) screen.on_key(Key::Down);
  Snapshot job = job_of(8);
  fail(job, 6);
  screen.take(job, 1s);
  screen.draw(80, 24);
  CHECK(std::get<ShowLogs>(screen.on_key(Key::Enter)).rank == 3);
  screen.on_key(Key::Home);
  CHECK(std::get<ShowLogs>(type(screen, "l")).rank == 6);
}

TEST_CASE("a job is stopped after a yes only") {
  Screen screen;
  screen.take(job_of(2), 0s);
  CHECK(std::holds_alternative<std::monostate>(type(screen, "S")));
  CHECK(shows(screen, "Stop the job sml-1? (y/n)"));
  CHECK(std::holds_alternative<std::monostate>(type(screen, "n")));
  CHECK(std::holds_alternative<std::monostate>(type(screen, "y")));
  CHECK(std::holds_alternative<StopJob>(type(screen, "Sy")));
  type(screen, "S");
  screen.on_key(Key::Escape);
  CHECK(std::holds_alternative<std::monostate>(type(screen, "y")));
}

TEST_CASE("a signal is sent to the ranks of the row") {
  Screen screen;
  screen.take(job_of(2), 0s);
  screen.draw(80, 24);
  screen.on_key(Key::Down);
  type(screen, "kusr2");
  screen.on_key(Key::Erase);
  type(screen, "1\n");
  CHECK(shows(screen, "Send SIGUSR1 to rank 1? (y/n)"));
  const UserRequest request = type(screen, "y");
  CHECK(std::get<SendSignal>(request).signo == SIGUSR1);
  CHECK(std::get<SendSignal>(request).ranks == "1");
  type(screen, "kfoo\n");
  CHECK(shows(screen, "\"FOO\" is no signal"));
}

TEST_CASE("texts are scrolled, and left") {
  Screen screen;
  screen.take(job_of(2), 0s);
  std::string text;
  for (int i = 0; i < 100; ++i) text += "line " + std::to_string(i) + "\x07\n";
  screen.show_text("Last lines of rank 1", text);
  CHECK(shows(screen, "line 0\\x07"));
  CHECK_FALSE(shows(screen, "line 99"));
  screen.on_key(Key::End);
  CHECK(shows(screen, "line 99"));
  screen.on_key(Key::PageUp);
  CHECK_FALSE(shows(screen, "line 99"));
  CHECK(std::holds_alternative<std::monostate>(type(screen, "q")));
  CHECK(shows(screen, "RANK"));
  CHECK(std::holds_alternative<Leave>(type(screen, "q")));
  type(screen, "?");
  CHECK(shows(screen, "stop the job"));
}

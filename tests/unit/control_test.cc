#include <csignal>
#include <nlohmann/json.hpp>

#include "common/core/text.h"
#include "common/wire/frame.h"
#include "launcher/control/log_printer.h"
#include "launcher/control/messages.h"
#include "launcher/control/runtime_folder.h"
#include "launcher/options/control_line.h"
#include "launcher/report/live/job_list.h"
#include "launcher/report/live/output_tail.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::control;
using Words = std::vector<std::string>;
using std::chrono::seconds;

namespace {

ControlLine line(const Words& words) { return std::get<ControlLine>(*parse_control_line(words)); }
std::string refusal(const Words& words) { return parse_control_line(words).error().message(); }

const report::JobSummary kJob{.id = "sml-0123",
                              .version = "1",
                              .command = "python3 train.py",
                              .state = "running",
                              .machine = "m",
                              .pid = 7,
                              .age_ms = 61'000,
                              .hosts = 2,
                              .ranks = 4,
                              .running = 3,
                              .failed = 1};

}  // namespace

TEST_CASE("jobs: the words are ours where they come first, and under our own name") {
  CHECK(is_control_line("sml-run", Words{"ps"}));
  CHECK(is_control_line("/usr/bin/sml-run", Words{"stop", "x"}));
  CHECK_FALSE(is_control_line("sml-run", Words{}));
  CHECK_FALSE(is_control_line("sml-run", Words{"--", "ps"}));
  CHECK_FALSE(is_control_line("sml-run", Words{"-np", "2", "ps"}));
  CHECK_FALSE(is_control_line("sml-run", Words{"./ps"}));
  CHECK_FALSE(is_control_line("sml-run", Words{"train"}));
  CHECK_FALSE(is_control_line("mpirun", Words{"ps"}));
}

TEST_CASE("jobs: what a line asks for") {
  CHECK(line({"ps", "--format=json"}).format == PlanFormat::Json);
  CHECK(line({"status"}).job.empty());
  CHECK(line({"status", "--watch", "sml-1"}).watch == Watch::Yes);
  CHECK(line({"stop", "sml-1"}).job == "sml-1");
  const ControlLine signal = line({"signal", "sml-1", "--ranks", "0,4-5", "SIGUSR1"});
  CHECK(signal.signo == SIGUSR1);
  CHECK(signal.ranks == "0,4-5");
  const ControlLine logs = line({"logs", "-f", "--ranks=3", "sml-1"});
  CHECK(logs.follow == Follow::Yes);
  CHECK(logs.word == ControlWord::Logs);
  CHECK(logs.lines == 0);
  CHECK(line({"logs", "--rank", "2"}).ranks == "2");
  CHECK(line({"signal", "sml-1", "USR1", "--rank=2"}).ranks == "2");
  for (const Words& three :
       {Words{"-n", "3"}, Words{"-n3"}, Words{"--tail", "3"}, Words{"--tail=3"}, Words{"--lines", "3"}}) {
    CAPTURE(three);
    Words words{"logs"};
    words.insert(words.end(), three.begin(), three.end());
    CHECK(line(words).lines == 3);
  }
  CHECK(line({"stop"}).job.empty());  // with a list of those that run
  for (const std::string_view word : control_words()) {
    const auto parsed = parse_control_line(Words{std::string(word), "--help"});
    CHECK(std::get<Printed>(*parsed).text.starts_with("Usage: sml-run " + std::string(word)));
    CHECK(control_help().find("sml-run " + std::string(word)) != std::string::npos);
  }
}

TEST_CASE("jobs: a line that is wrong is refused with its form") {
  CHECK(refusal({"ps", "x"}) == "ps: \"x\" is too much; write sml-run ps [--format json]");
  CHECK(refusal({"logs", "-n", "many"}).starts_with("logs: -n takes a number of lines; "));
  CHECK(refusal({"logs", "--tail", "0"}).starts_with("logs: --tail takes a number of lines; "));
  CHECK(refusal({"status", "-n", "3"}).starts_with("status: -n is no option of it; "));
  CHECK(refusal({"signal", "j"}).starts_with("signal: the signal is missing; "));
  CHECK(refusal({"signal", "j", "USR9"}).starts_with("signal: \"USR9\" is no signal; "));
  CHECK(refusal({"status", "--follow"}).starts_with("status: --follow is no option of it; "));
  CHECK(refusal({"logs", "--follow=1"}).starts_with("logs: --follow takes no value; "));
  CHECK(refusal({"logs", "--ranks"}).starts_with("logs: --ranks needs a value; "));
  CHECK(refusal({"logs", "--ranks", "x"}).starts_with("logs: --ranks: "));
  CHECK(refusal({"ps", "--format", "yaml"}).starts_with("ps: --format takes text or json; "));
  CHECK(refusal({"stop", ""}).starts_with("stop: the job's id is empty; "));
}

TEST_CASE("jobs: questions and answers come through a stream in pieces") {
  const Request request{.topic = Topic::Signal, .form = Form::Json, .signo = 10, .ranks = "0-3"};
  const std::string bytes = encode(request);
  std::string buffer;
  for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {
    buffer += bytes[i];
    REQUIRE_FALSE(take_request(buffer)->has_value());
  }
  buffer += bytes.back();
  const Request read = **take_request(buffer);
  CHECK(read.topic == Topic::Signal);
  CHECK(read.form == Form::Json);
  CHECK(read.signo == 10);
  CHECK(read.ranks == "0-3");
  CHECK(buffer.empty());

  std::string answers =
      encode(Answer(Summary{kJob})) + output_head(Rank(3), Stream::Stderr, 3) + "ab\n" + encode(Answer(Done{}));
  CHECK(std::get<Summary>(**take_answer(answers)).job.command == kJob.command);
  const Output output = std::get<Output>(**take_answer(answers));
  CHECK(output.rank == Rank(3));
  CHECK(output.stream == Stream::Stderr);
  CHECK(output.bytes == "ab\n");
  CHECK(std::holds_alternative<Done>(**take_answer(answers)));
  CHECK_FALSE(take_answer(answers)->has_value());
}

TEST_CASE("jobs: bytes that are no message, too long or of another version are refused") {
  std::string other = encode(Request{.version = 9});
  CHECK(take_request(other).error().message().find("another version") != std::string::npos);
  std::string huge("\xff\xff\xff\xff\x01", 5);
  CHECK(take_request(huge).error().message() == "what came is no message of sml-run");
  CHECK_FALSE(take_answer(huge).has_value());
  std::string wrong_type = encode(Answer(Done{}));
  CHECK_FALSE(take_request(wrong_type).has_value());
  std::string asked = encode(Request{});
  CHECK_FALSE(take_answer(asked).has_value());
  std::string topic = encode(Request{.topic = static_cast<Topic>(200)});
  CHECK_FALSE(take_request(topic).has_value());
  std::string stream = encode(Answer(Output{Rank(0), static_cast<Stream>(7), "x"}));
  CHECK_FALSE(take_answer(stream).has_value());
  std::string longer = encode(Request{}) + "x";
  wire::put_header(longer, 0, 1, longer.size() - wire::kFrameHeader);
  CHECK_FALSE(take_request(longer).has_value());
}

TEST_CASE("jobs: names of sockets hold plain ids only") {
  const std::string name = socket_name("sml-0123");
  CHECK(name.starts_with("sml-0123."));
  CHECK(is_of_this_boot(name));
  CHECK_FALSE(is_of_this_boot("sml-0123.ffff"));
  for (const char* id : {"", "a/b", "..", "a.b", "a b"}) CHECK(socket_name(id).empty());
  CHECK(socket_name(std::string(65, 'a')).empty());
}

TEST_CASE("jobs: the tail of a rank's output begins with a line") {
  report::OutputTail tail;
  tail.add("one\ntw");
  CHECK(tail.text() == "one\ntw");
  tail.add("o\n");
  CHECK(tail.text() == "one\ntwo\n");
  for (int i = 0; i < 5000; ++i) tail.add("line " + std::to_string(i) + "\n");
  CHECK(tail.text().size() <= report::OutputTail::kBytes);
  CHECK(tail.text().starts_with("line "));
  CHECK(tail.text().ends_with("line 4999\n"));
  tail.add(std::string(10'000, 'x'));
  CHECK(tail.text().size() == report::OutputTail::kBytes);
}

TEST_CASE("jobs: lines of ranks stay whole, as text and as JSON") {
  LogPrinter text(Form::Text, {LogPrinter::Control::Show, LogPrinter::Control::Show});
  text.add({Rank(0), Stream::Stdout, "a"});
  text.add({Rank(1), Stream::Stdout, "b\n"});
  text.add({Rank(0), Stream::Stdout, "A\nend"});
  text.add({Rank(2), Stream::Stderr, "\x1b[2J\n"});
  text.finish();
  const auto [out, err] = text.take();
  CHECK(out == "[1] b\n[0] aA\n[0] end");
  CHECK(err.find('\x1b') == std::string::npos);

  LogPrinter json(Form::Json, {LogPrinter::Control::Pass, LogPrinter::Control::Pass});
  json.add({Rank(0), Stream::Stdout, "a"});
  json.add({Rank(1), Stream::Stderr, "\xff\n\nx"});
  json.add({Rank(0), Stream::Stdout, "A\n"});
  json.add({Rank(0), Stream::Stdout, std::string(70'000, 'y')});
  json.finish();
  std::vector<nlohmann::json> lines;
  const std::string all = json.take()[0];
  for (const std::string_view one : split(sml::trim(all), '\n')) lines.push_back(nlohmann::json::parse(one));
  REQUIRE(lines.size() == 6);
  CHECK(lines[0]["stream"] == "stderr");
  CHECK(lines[1]["line"] == "");
  CHECK(lines[2] == nlohmann::json{{"rank", 0}, {"stream", "stdout"}, {"line", "aA"}});
  CHECK(lines[3]["line"].get<std::string>().size() == 65'536);
}

TEST_CASE("jobs: the list for people and for programs") {
  const report::ListedJob jobs[] = {{kJob}};
  CHECK(report::jobs_table(jobs) ==
        "JOB           AGE HOSTS        RANKS  STATE        PID  COMMAND\n"
        "sml-0123     1:01     2 4 (1 failed)  running        7  python3 train.py\n");
  const auto json = nlohmann::json::parse(report::jobs_json(jobs));
  CHECK(json[0]["id"] == "sml-0123");
  CHECK(json[0]["age_s"] == 61.0);
  CHECK(report::jobs_json({}) == "[]");
  CHECK_FALSE(json[0].contains("user"));
  const report::ListedJob mixed[] = {{kJob}, {kJob, "ann"}};
  const std::string table = report::jobs_table(mixed);
  CHECK(table.find("JOB       USER      AGE") == 0);
  CHECK(table.find("sml-0123  -        1:01") != table.npos);
  CHECK(table.find("sml-0123  ann      1:01") != table.npos);
  CHECK(nlohmann::json::parse(report::jobs_json(mixed))[1]["user"] == "ann");
}

TEST_CASE("jobs: an answer that is longer than is taken is none") {
  std::string long_answer = encode(Answer(Text{std::string(kMaxSummary, 'x')}));
  std::string again = long_answer;
  CHECK_FALSE(take_answer(long_answer, kMaxSummary).has_value());
  CHECK(take_answer(again).has_value());
}

TEST_CASE("jobs: the last lines of what is kept") {
  using report::last_lines;
  CHECK(last_lines("a\nb\nc\n", 1) == "c\n");
  CHECK(last_lines("a\nb\nc\n", 2) == "b\nc\n");
  CHECK(last_lines("a\nb\nc", 2) == "b\nc");
  CHECK(last_lines("a\nb\nc\n", 3) == "a\nb\nc\n");
  CHECK(last_lines("a\nb\nc\n", 9) == "a\nb\nc\n");
  CHECK(last_lines("\n\n", 1) == "\n");
  CHECK(last_lines("\n", 3) == "\n");
  CHECK(last_lines("", 3).empty());
}

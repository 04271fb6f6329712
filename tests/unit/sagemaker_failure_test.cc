#include <csignal>

#include "launcher/sagemaker/failure_text.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::sagemaker;

namespace {
report::AttemptFacts one_failure(std::vector<std::string> last_lines, ExitStatus status = Exited{1}) {
  report::AttemptFacts facts;
  facts.program = "python3";
  facts.started = TimePoint();
  facts.ends.push_back({.rank = Rank(3),
                        .host = "algo-2",
                        .pid = 7,
                        .status = status,
                        .by_itself = true,
                        .at = TimePoint(std::chrono::milliseconds(1500)),
                        .error = {},
                        .last_lines = std::move(last_lines),
                        .out_of_memory = {}});
  return facts;
}
std::string text_of(const report::AttemptFacts& facts, TextLimit limit = kFailureLimit) {
  return failure_text(facts, report::judge(facts), limit);
}
}  // namespace

TEST_CASE("the failure begins with the exception of the worker that decided") {
  report::AttemptFacts facts =
      one_failure({"Traceback (most recent call last):", "  File \"t.py\", line 3", "ValueError: boom"});
  CHECK(text_of(facts) ==
        "ValueError: boom\nrank 3 on algo-2 exited with status 1 after 1.5 s\nTraceback (most recent call last):\n"
        "  File \"t.py\", line 3\nValueError: boom");
  facts.ends[0].error.message = "RuntimeError: told\nmore";
  CHECK(text_of(facts).starts_with("RuntimeError: told\nrank 3 on algo-2"));
  facts.ends.push_back(facts.ends[0]);
  facts.ends[1].rank = Rank(1);
  facts.ends[1].at += std::chrono::seconds(1);
  CHECK(text_of(facts).find("\nthen 1 other rank failed\n") != std::string::npos);
}

TEST_CASE("a signal, a lack of memory and a launcher's own fault are said") {
  report::AttemptFacts facts = one_failure({}, Signaled{SIGKILL, false});
  facts.ends[0].out_of_memory = "limit 1 GiB";
  CHECK(text_of(facts) ==
        "rank 3 on algo-2 was killed by SIGKILL (killed) after 1.5 s\nmemory ran out on that host: limit 1 GiB");
  report::AttemptFacts lost;
  lost.faults.push_back({HostIndex(1), "algo-2", Error(ErrorKind::Lost, "lost"), TimePoint()});
  CHECK(text_of(lost) == "algo-2: lost");
  CHECK(text_of(report::AttemptFacts{}).empty());
  CHECK(failure_text(Error(ErrorKind::Config, "a: bad").with_hint("do b"), kFailureLimit) == "a: bad\nhint: do b");
}

TEST_CASE("the text is cut between characters, and keeps the end of the traceback") {
  std::vector<std::string> lines;
  for (int i = 0; i < 200; ++i) lines.push_back("frame " + std::to_string(i) + " \xE2\x82\xAC");
  lines.push_back("ValueError: last");
  const std::string message = text_of(one_failure(lines), kMessageLimit);
  CHECK(message.size() <= 1024);
  CHECK(message.starts_with("ValueError: last\n"));
  CHECK(message.ends_with("frame 199 \xE2\x82\xAC\nValueError: last"));
  CHECK(message.find("frame 0 ") == std::string::npos);

  std::string euros;
  for (int i = 0; i < 600; ++i) euros += "\xE2\x82\xAC";
  const std::string bytes = text_of(one_failure({euros}), kMessageLimit);
  CHECK(bytes.size() == 1023);  // 341 characters of three bytes
  const std::string characters = text_of(one_failure({euros}), {.characters = 100, .bytes = 4096});
  CHECK(characters.size() == 300);
  CHECK(text_of(one_failure({"bad \xff\x1b[31m bytes"})).starts_with("bad \\xff\\x1b[31m bytes\n"));
}

TEST_CASE("secrets are masked, and what only looks like one is not") {
  struct Row {
    const char* text;
    const char* shown;
  };
  const Row rows[] = {
      {"run --hf_token hf_abc --lr 1", "run --hf_token *** --lr 1"},
      {"HF_TOKEN=hf_abc, LR=1", "HF_TOKEN=***, LR=1"},
      {"{'api_key': 'abc', 'lr': 1}", "{'api_key': '***', 'lr': 1}"},
      {"password: hunter2", "password: ***"},
      {"AWS_SECRET_ACCESS_KEY=\"x y\"", "AWS_SECRET_ACCESS_KEY=\"***\""},
      {"KeyError: 'lr'", "KeyError: 'lr'"},
      {"TokenError: bad", "TokenError: bad"},
      {"TOKENIZERS_PARALLELISM=false max_tokens=5", "TOKENIZERS_PARALLELISM=false max_tokens=5"},
      {"MYSQL_PWD=abc SSL_KEY_FILE=/k", "MYSQL_PWD=*** SSL_KEY_FILE=/k"},  // as the rest of sml-run takes them
      {"the token is bad", "the token is bad"},
      {"TOKEN='not closed", "TOKEN='***"},
      {"", ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(without_secrets(row.text) == row.shown);
  }
}

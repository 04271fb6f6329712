// The messages between sml-run ps, status, stop, signal, stacks, logs and top, and the launcher of a running job. They
// are frames of common/wire/frame.h over a Unix socket. Pure. The two sides may be different builds: the version comes
// first in a Request, and its place never changes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "common/core/error.h"
#include "common/core/stream.h"
#include "common/core/strong.h"
#include "launcher/report/live/job_list.h"

namespace sml::control {

inline constexpr std::uint32_t kVersion = 2;
inline constexpr std::size_t kMaxRequest = std::size_t{64} << 10;  // bytes of a payload
inline constexpr std::size_t kMaxAnswer = std::size_t{64} << 20;
inline constexpr std::size_t kMaxSummary = std::size_t{64} << 10;

// ---- to the launcher: exactly one for each connection

// A request's topic decides the answer. Summary: a Summary. Status, Signal, Stacks: a Text. Stop: Ended, at the end of
// the job. Logs: any number of Output and Skipped, then Done, or Ended if `follow` is Yes. Any may be Refused.
enum class Topic : std::uint8_t { Summary, Status, Stop, Signal, Logs, Stacks };
enum class Form : std::uint8_t { Text, Json };
enum class Lasts : std::uint8_t { No, Yes };

struct Request {
  std::uint32_t version = kVersion;
  Topic topic = Topic::Summary;
  Form form = Form::Text;
  Lasts follow = Lasts::No;  // for Logs: whether later output follows, until the job ends
  std::int32_t signo = 0;    // for Signal
  std::uint32_t lines = 0;   // for Logs: the last ones of each stream; 0: all that are kept
  std::string ranks{};       // in the format of RankSet; empty: all
  void fields(auto& a) { a(version, topic, form, follow, signo, lines, ranks); }
};

// ---- from the launcher

struct Summary {
  report::JobSummary job;
  void fields(auto& a) { a(job); }
};
// The whole answer, in the requested form; the last message.
struct Text {
  std::string text;
  void fields(auto& a) { a(text); }
};
// The request is refused; the last message.
struct Refused {
  std::string why;
  void fields(auto& a) { a(why); }
};
// Output of a rank.
struct Output {
  Rank rank;
  Stream stream = Stream::Stdout;
  std::string bytes;
  void fields(auto& a) { a(rank, stream, bytes); }
};
// The number of bytes of the ranks' output that were dropped here because the reader was too slow.
struct Skipped {
  std::uint64_t bytes = 0;
  void fields(auto& a) { a(bytes); }
};
// The answer of several messages is complete, and the job goes on; the last message.
struct Done {
  void fields(auto& a) { a(); }
};
// The job has ended; the last message.
struct Ended {
  std::uint8_t exit_code = 0;
  std::string verdict;  // the job outcome in words
  void fields(auto& a) { a(exit_code, verdict); }
};

using Answer = std::variant<Summary, Text, Refused, Output, Skipped, Done, Ended>;

std::string encode(const Request& request);
std::string encode(const Answer& answer);
// The encoded part of an Output that precedes its `size` bytes of output.
std::string output_head(Rank rank, Stream stream, std::size_t size);

// Removes the first whole message from the front of `buffer`; nullopt: more bytes are needed. Error (Protocol): the
// bytes are no message, or one of another version; do not call again for this buffer. `longest`: limit of a message.
Result<std::optional<Request>> take_request(std::string& buffer);
Result<std::optional<Answer>> take_answer(std::string& buffer, std::size_t longest = kMaxAnswer);

}  // namespace sml::control

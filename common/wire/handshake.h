// Before frames flow: finds the agent's first line in whatever the far side's login prints. Pure.
//
// A line that counts begins with a mark that only this session knows, so that noise cannot pass for one; noise without
// a newline may precede it. The start script (launcher/transport/bootstrap_script.h) prints the first two:
//   <mark> NEED <architecture> <folder>   the agent is not there; send its bytes (architecture as in uname -m)
//   <mark> FAIL <text>               no folder can store the agent
//   <mark> AGENT <version>           the agent runs; frames follow this line's newline
// If the process was started as a reconnect helper, the reply to its ReconnectRequest message follows:
//   <mark> AGAIN <received>          the running agent continues on this connection; it has received this many bytes
//                                    of frames, and its own frames follow, from the requested position on
//   <mark> GONE <text>               that agent does not run any more, or does not accept this launcher
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "common/core/error.h"

namespace sml::wire {

inline constexpr std::size_t kMaxNoise = std::size_t{4} << 20;  // bytes before the first marked line

struct NeedAgent {  // NEED
  std::string architecture;
  std::string folder;
};
struct CannotDeploy {  // FAIL
  std::string text;
};
struct AgentRuns {  // AGENT
  std::uint32_t version = 0;
};
struct AgentResumed {  // AGAIN
  std::uint64_t received = 0;
};
struct CannotReconnect {  // GONE
  std::string text;
};
using Greeting = std::variant<NeedAgent, CannotDeploy, AgentRuns, AgentResumed, CannotReconnect>;

// The lines AGENT, AGAIN and GONE, including the newline.
std::string agent_line(const std::string& mark);
std::string goes_on_line(const std::string& mark, std::uint64_t received);
std::string cannot_return_line(const std::string& mark, std::string_view text);

// The launcher's side: separates the marked lines from the noise.
class GreetingReader {
 public:
  explicit GreetingReader(std::string mark) : mark_(std::move(mark)) {}
  void feed(std::span<const char> bytes);
  // Returns the next marked line, or nullopt if more bytes are needed. Error (Protocol) after kMaxNoise bytes without
  // one, or if a marked line has an unknown form.
  Result<std::optional<Greeting>> next();
  // After AgentRuns: returns the bytes behind its line, which are frames already.
  std::string take_rest() { return std::move(buffer_); }
  // The unmarked output of the far side, bounded: often the reason why no agent started ("command not found").
  std::string noise() const;

 private:
  void drop_noise(std::size_t bytes);  // from the front of the buffer

  std::string mark_;
  std::string buffer_;
  std::size_t searched_ = 0;                 // bytes of the buffer in which next() has looked for a line
  std::size_t mark_at_ = std::string::npos;  // the mark that it has found there, of a line that has not ended
  std::string noise_;                        // the beginning of what was dropped
  std::size_t noise_bytes_ = 0;
};

}  // namespace sml::wire

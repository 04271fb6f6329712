#include "common/wire/handshake.h"

#include <algorithm>
#include <utility>

#include "common/core/text.h"
#include "common/wire/messages.h"

namespace sml::wire {

namespace {
constexpr std::size_t kKeptNoise = 2000;

Result<Greeting> parse_greeting(std::string_view line) {
  const std::string_view what = take_until(line, ' ');
  if (what == "NEED") {
    const std::string architecture(take_until(line, ' '));
    return Greeting(NeedAgent{architecture, std::string(line)});
  }
  if (what == "FAIL") return Greeting(CannotDeploy{std::string(line)});
  if (what == "GONE") return Greeting(CannotReconnect{std::string(line)});
  const auto version = parse_number<std::uint32_t>(line);
  if (what == "AGENT" && version) return Greeting(AgentRuns{*version});
  const auto received = parse_number<std::uint64_t>(line);
  if (what == "AGAIN" && received) return Greeting(AgentResumed{*received});
  return Error(ErrorKind::Protocol, "the agent's first line has an unknown form");
}

}  // namespace

std::string agent_line(const std::string& mark) { return mark + " AGENT " + std::to_string(kProtocolVersion) + "\n"; }

std::string goes_on_line(const std::string& mark, std::uint64_t received) {
  return mark + " AGAIN " + std::to_string(received) + "\n";
}
std::string cannot_return_line(const std::string& mark, std::string_view text) {
  return mark + " GONE " + std::string(text) + "\n";
}

void GreetingReader::feed(std::span<const char> bytes) { buffer_.append(bytes.data(), bytes.size()); }

Result<std::optional<Greeting>> GreetingReader::next() {
  const std::string wanted = mark_ + " ";
  const std::size_t searched = std::exchange(searched_, buffer_.size());
  // Noise without a newline may precede the mark, and a part of the mark may have been there before.
  if (mark_at_ == std::string::npos) mark_at_ = buffer_.find(wanted, searched - std::min(searched, mark_.size()));
  const std::size_t mark = mark_at_;
  const std::size_t newline = mark == std::string::npos ? std::string_view(buffer_).substr(searched).rfind('\n')
                                                        : buffer_.find('\n', std::max(mark, searched));
  if (mark != std::string::npos && newline != std::string::npos) {
    drop_noise(mark);
    const std::string line = buffer_.substr(wanted.size(), newline - mark - wanted.size());
    buffer_.erase(0, newline - mark + 1);
    searched_ = 0;
    mark_at_ = std::string::npos;
    Result<Greeting> greeting = parse_greeting(line);
    if (!greeting) return greeting.error();
    return std::optional<Greeting>(std::move(*greeting));
  }
  if (mark == std::string::npos && newline != std::string::npos) {
    drop_noise(searched + newline + 1);
    searched_ = buffer_.size();
  }
  if (noise_bytes_ + buffer_.size() > kMaxNoise) {
    return Error(ErrorKind::Protocol, "the login prints without end before the agent starts");
  }
  return std::optional<Greeting>();
}

void GreetingReader::drop_noise(std::size_t bytes) {
  noise_.append(buffer_, 0, std::min(bytes, kKeptNoise - noise_.size()));
  noise_bytes_ += bytes;
  buffer_.erase(0, bytes);
}

std::string GreetingReader::noise() const {
  std::string all = noise_ + buffer_.substr(0, kKeptNoise);
  while (!all.empty() && (all.back() == '\n' || all.back() == '\r')) all.pop_back();
  return all;
}

}  // namespace sml::wire

// Any bytes before the agent's first line: bounded, found wherever they are cut, and what follows the line is kept.
#include "common/wire/handshake.h"

#include <cstdint>
#include <string>
#include <vector>

#include "tests/fuzz/require.h"

using sml::fuzz::require;

namespace {

using namespace sml::wire;

const std::string kMark = "m";  // short, so that the fuzzer meets it

std::string words(const Greeting& greeting) {
  if (const auto* need = std::get_if<NeedAgent>(&greeting)) return "N" + need->architecture + "|" + need->folder;
  if (const auto* cannot = std::get_if<CannotDeploy>(&greeting)) return "F" + cannot->text;
  if (const auto* again = std::get_if<AgentResumed>(&greeting)) return "R" + std::to_string(again->received);
  if (const auto* gone = std::get_if<CannotReconnect>(&greeting)) return "G" + gone->text;
  return "A" + std::to_string(std::get<AgentRuns>(greeting).version);
}

// All greetings in pieces of `piece` bytes, then how it ended and what was left.
std::vector<std::string> read(const std::string& bytes, std::size_t piece) {
  std::vector<std::string> out;
  GreetingReader reader(kMark);
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    reader.feed(std::span<const char>(bytes).subspan(at, std::min(piece, bytes.size() - at)));
    for (;;) {
      const auto next = reader.next();
      require(reader.noise().size() < 8192);
      if (!next) {
        require(next.error().kind() == sml::ErrorKind::Protocol);
        out.push_back("error");
        return out;
      }
      if (!next->has_value()) break;
      out.push_back(words(**next));
      if (!std::holds_alternative<AgentRuns>(**next)) continue;
      out.push_back(reader.take_rest() + bytes.substr(std::min(at + piece, bytes.size())));
      return out;
    }
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> whole = read(bytes, bytes.size() + 1);
  require(read(bytes, 1) == whole);
  require(read(bytes, 7) == whole);

  // Whatever came before (unless it was an end already), a true line is found.
  if (!whole.empty()) return 0;
  const std::string after = "rest\n";
  const std::vector<std::string> found = read(bytes + "\n" + agent_line(kMark) + after, 5);
  require(!found.empty());  // the bytes may end in a marked line of their own, good or bad, that lacks its end
  require(found.back() == "error" || (found.size() >= 2 && found.back().ends_with(after)));
  return 0;
}

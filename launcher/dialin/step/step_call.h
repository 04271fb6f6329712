// How a batch system's starter starts this program on the hosts of a job, so that it calls the launcher: the words of
// the step, the key, and what a host says before it has called. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "launcher/dialin/settings.h"

namespace sml::dialin {

// The variable with the key, in the environment of the step: others cannot read that, unlike its words.
inline constexpr std::string_view kStepKeyVariable = "SML_STEP_KEY";

struct StepCall {
  std::vector<std::string> addresses;  // of the launcher, numeric, the most likely one first
  std::uint16_t port = 0;
  std::string host;  // the name of the host that calls; empty: the step runs on several, which know their own
  std::string mark;  // begins the lines of StepLine
  std::string secret_variable{kStepKeyVariable};  // the variable from which both sides derive the key
};

// The words to run on each host: a shell that looks whether `file`, this program, is there and belongs to root or the
// user, in folders that nobody else can change, and runs it. Without the file, which it may have to do without on hosts
// that share no folder, it prints StepWord::Missing and exits with kNoProgram.
std::vector<std::string> words_of_step(const std::string& file, const StepCall& call);
inline constexpr int kNoProgram = 66;
// The exit status of a host that could not call.
inline constexpr int kCannotCall = 125;

// The arguments of this program where a step has started it; nullopt: it was started in another way.
std::optional<StepCall> parse_step_call(std::span<const std::string> arguments);

// Error (Internal): the library fails.
Result<Key> key_of_step(std::string_view secret);

// A line on the standard output of a step, of which only some starters bring it to the launcher.
enum class StepWord : std::uint8_t { Missing, Trying, Failed };
struct StepLine {
  std::string host;
  StepWord word = StepWord::Missing;
  std::string text;  // a clause for people; none for Missing
};
std::string to_text(const StepLine& line, const std::string& mark);
std::optional<StepLine> parse_step_line(std::string_view line, std::string_view mark);

}  // namespace sml::dialin

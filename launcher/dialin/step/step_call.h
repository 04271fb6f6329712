// How a batch system's starter starts this program on the hosts of a job, so that the program calls the launcher: the
// command of the step, the key, and the lines that a host prints before it has called. Pure.
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

// The variable with the secret, in the environment of the step: other users cannot read that, unlike the arguments of a
// process.
inline constexpr std::string_view kStepKeyVariable = "SML_STEP_KEY";

// The facts that a host needs to call the launcher.
struct StepCall {
  std::vector<std::string> addresses;  // of the launcher, numeric, tried in this order
  std::uint16_t port = 0;
  std::string host;  // the name of the host that calls; empty: the step runs on several hosts, which know their names
  std::string mark;  // the first word of each StepLine
  std::string secret_variable{kStepKeyVariable};  // the variable with the secret, of which both sides derive the key
};

// The command to run on each host, as words: a shell that runs `file`, this program, if it is there and belongs to root
// or the user, in folders that no other user can change. Else, for example on hosts that share no folder, the shell
// prints StepWord::Missing and exits with kNoProgram.
std::vector<std::string> words_of_step(const std::string& file, const StepCall& call);
inline constexpr int kNoProgram = 66;
// The exit status of this program on a host that could not call the launcher.
inline constexpr int kCannotCall = 125;

// Parses the arguments of this program as words_of_step() gives them; nullopt: it was started in another way.
std::optional<StepCall> parse_step_call(std::span<const std::string> arguments);

// Derives the key of the connections from the secret of a step. Error (Internal): the crypto library fails.
Result<Key> key_of_step(std::string_view secret);

// The report of a StepLine. Missing: the host lacks this program. Trying: the first connection has failed, and the host
// tries again. Failed: the host has given up.
enum class StepWord : std::uint8_t { Missing, Trying, Failed };
// A line that a host prints to the standard output of its step. Only some starters bring it to the launcher.
struct StepLine {
  std::string host;
  StepWord word = StepWord::Missing;
  std::string text;  // the reason, for people; empty for Missing
};
// A StepLine as a line of text, and back; nullopt: the line is not one of a step with that mark.
std::string to_text(const StepLine& line, const std::string& mark);
std::optional<StepLine> parse_step_line(std::string_view line, std::string_view mark);

}  // namespace sml::dialin

// Parses the subcommands for running jobs: ps, status, stop, signal, logs, stacks, top. They are recognized only as the
// very first word; after an option, after "--" or with a path, such a word names a program. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/core/error.h"
#include "launcher/options/command_line.h"
#include "launcher/options/options.h"

namespace sml {

enum class ControlWord : std::uint8_t { Ps, Status, Stop, Signal, Logs, Stacks, Top };
enum class Watch : std::uint8_t { No, Yes };
enum class Follow : std::uint8_t { No, Yes };

struct ControlLine {
  ControlWord word = ControlWord::Ps;
  std::string job{};  // a job's id, or the beginning of one; empty: the only job that runs
  PlanFormat format = PlanFormat::Text;
  Watch watch = Watch::No;
  Follow follow = Follow::No;
  std::string ranks{};      // in the format of RankSet; empty: all
  int signo = 0;            // of signal
  std::uint32_t lines = 0;  // the number of last lines of each stream of a rank; 0: all that are kept
};

// All these subcommands, as they are written.
std::vector<std::string_view> control_words();
std::string_view name(ControlWord word);

// Whether the first word is one of these subcommands. `called` is the name by which sml-run was started; under the name
// of another launcher there are none.
bool is_control_line(std::string_view called, std::span<const std::string> arguments);
// Parses a line for which is_control_line() is true. Printed: the help for its subcommand. Error (Usage).
Result<std::variant<ControlLine, Printed>> parse_control_line(std::span<const std::string> arguments);
// The help text of these subcommands.
std::string control_help();

}  // namespace sml

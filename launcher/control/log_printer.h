// Formats the ranks' output for sml-run logs: whole lines, each with the tag "[RANK] " or as a JSON object. Reads the
// clock, and does no I/O.
#pragma once
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "common/core/stream.h"
#include "common/core/strong.h"
#include "launcher/control/messages.h"
#include "launcher/output/chain.h"

namespace sml::control {

class LogPrinter {
 public:
  // Handling of control characters: unchanged, or shown as text (output::TerminalFilter). `control`: of stdout, stderr.
  enum class Control : std::uint8_t { Pass, Show };
  LogPrinter(Form form, std::array<Control, 2> control);

  void add(const Output& output);
  // Call at the end: turns incomplete lines into output too.
  void finish();
  // Returns the formatted output since the last call, for stdout and stderr. JSON is all for stdout.
  std::array<std::string, 2> take();

 private:
  using Key = std::pair<Rank, Stream>;
  void add_json(const Output& output);

  Form form_;
  std::array<output::Chain, 2> chains_;
  std::map<Key, output::Chain::Source> sources_;
  std::map<Key, std::string> begun_;  // incomplete lines, in JSON form
  std::string json_;
};

}  // namespace sml::control

// Formats the ranks' output for sml-run logs: whole lines, as the job itself shows them. Pure.
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
  enum class Control : std::uint8_t { Pass, Show };  // handling of control characters, see output::TerminalFilter
  LogPrinter(Form form, std::array<Control, 2> control);

  void add(const Output& output);
  // Terminates incomplete lines.
  void finish();
  // Returns the output for the two streams, stdout first, and clears it.
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

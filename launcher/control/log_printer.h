// What sml-run logs prints of what the ranks print: whole lines, as the job itself shows them. Pure.
#pragma once
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "common/core/stream.h"
#include "common/core/strong.h"
#include "common/output/chain.h"
#include "launcher/control/messages.h"

namespace sml::control {

class LogPrinter {
 public:
  enum class Control : std::uint8_t { Pass, Show };  // control characters, see output::TerminalFilter
  LogPrinter(Form form, std::array<Control, 2> control);

  void add(const Output& output);
  // Lines without an end are ended.
  void finish();
  // Of the two streams, stdout first; to be taken away.
  std::array<std::string, 2> take();

 private:
  using Key = std::pair<Rank, Stream>;
  void add_json(const Output& output);

  Form form_;
  std::array<output::Chain, 2> chains_;
  std::map<Key, output::Chain::Source> sources_;
  std::map<Key, std::string> begun_;  // lines, of the JSON form
  std::string json_;
};

}  // namespace sml::control

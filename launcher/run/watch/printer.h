// Prints the launcher's own lines for the user. An interface, so that the parts of a run need not know the console.
#pragma once
#include <string_view>

namespace sml::run {

class Printer {
 public:
  virtual ~Printer() = default;
  // `text`: one line, without its end and without "sml-run: ".
  virtual void print(std::string_view text) = 0;
};

}  // namespace sml::run

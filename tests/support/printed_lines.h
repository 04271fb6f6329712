// Keeps what is printed.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "launcher/run/watch/printer.h"

namespace sml::fake {

struct PrintedLines : run::Printer {
  void print(std::string_view text) override { lines.emplace_back(text); }
  std::vector<std::string> lines;
};

}  // namespace sml::fake

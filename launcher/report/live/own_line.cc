#include "launcher/report/live/own_line.h"

#include "common/core/text.h"

namespace sml::report {

std::string own_line(std::string_view text) { return "sml-run: " + show(text, std::string_view::npos); }

}  // namespace sml::report

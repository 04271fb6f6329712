// Setters of option_values.h for ranks that are silent or hang.
#include "launcher/options/values/option_values.h"
#include "launcher/options/values/value_reading.h"

namespace sml {

Result<void> set_on_silent(Options& o, std::string_view value) {
  if (value == "report") {
    o.progress.on_silent = OnSilent::Report;
  } else if (value == "restart") {
    o.progress.on_silent = OnSilent::Restart;
  } else if (value == "stop") {
    o.progress.on_silent = OnSilent::Stop;
  } else {
    return bad_value(value, "report, restart or stop");
  }
  return {};
}

Result<void> set_hang_report(Options& o, std::string_view value) {
  if (value.empty()) return bad_value(value, "the name of a folder");
  o.progress.hang_folder = value;
  return {};
}

}  // namespace sml

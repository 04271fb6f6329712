// Options of option_values.h that say what is done about ranks that are silent or hang.
#include "common/core/text.h"
#include "launcher/options/option_values.h"

namespace sml {

namespace {

Error not_one_of(std::string_view value, const char* expected) {
  return Error(ErrorKind::Usage, "\"" + show(value, 80) + "\" is not " + expected);
}

}  // namespace

Result<void> set_on_silent(Options& o, std::string_view value) {
  if (value == "report") {
    o.progress.on_silent = OnSilent::Report;
  } else if (value == "restart") {
    o.progress.on_silent = OnSilent::Restart;
  } else if (value == "stop") {
    o.progress.on_silent = OnSilent::Stop;
  } else {
    return not_one_of(value, "report, restart or stop");
  }
  return {};
}

Result<void> set_hang_report(Options& o, std::string_view value) {
  if (value.empty()) return not_one_of(value, "the name of a folder");
  o.progress.hang_folder = value;
  return {};
}

}  // namespace sml

#include "launcher/report/status_json.h"

namespace sml::report {

nlohmann::ordered_json status_json(const ExitStatus& status) {
  nlohmann::ordered_json out;
  out["text"] = describe(status);
  if (const auto* exited = std::get_if<Exited>(&status)) {
    out["exit_code"] = exited->code;
  } else if (const auto* signaled = std::get_if<Signaled>(&status)) {
    out["signal"] = signaled->signo;
    out["core_dumped"] = signaled->core_dumped;
  }
  return out;
}

}  // namespace sml::report

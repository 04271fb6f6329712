#include "launcher/report/outcome/error_file.h"

#include <variant>

#include <nlohmann/json.hpp>

namespace sml::report {

namespace {

std::string text_of(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

WorkerError parse_error_file(std::string_view text) {
  const nlohmann::json root = nlohmann::json::parse(text, nullptr, false);
  if (!root.is_object() || !root.contains("message")) return {.message = std::string(text), .callstack = {}};
  const nlohmann::json& message = root["message"];
  if (message.is_string()) {
    return {.message = message.get<std::string>(), .callstack = {}, .json = std::string(text)};
  }
  if (!message.is_object()) return {.message = std::string(text), .callstack = {}};
  WorkerError error{.message = text_of(message, "message"), .callstack = {}, .json = std::string(text)};
  if (const auto extra = message.find("extraInfo"); extra != message.end() && extra->is_object()) {
    error.callstack = text_of(*extra, "py_callstack");
  }
  return error;
}

std::string error_file_for_parent(const WorkerError& error, const ExitStatus& status) {
  nlohmann::json root = nlohmann::json::parse(error.json, nullptr, false);
  if (!root.is_object()) return {};
  const auto* signaled = std::get_if<Signaled>(&status);
  const int code = signaled != nullptr ? -signaled->signo : exit_code_of(status);
  if (root["message"].is_object() && code != 0) root["message"]["errorCode"] = code;
  return root.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace sml::report

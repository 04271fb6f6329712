#include "common/core/error.h"

#include <cctype>
#include <cstring>

namespace sml {

namespace {
struct KindRow {
  ErrorKind kind;
  std::string_view name;
  int exit_code;
};
constexpr KindRow kKinds[] = {
    {ErrorKind::Usage, "usage", 2},          {ErrorKind::Config, "config", 2},
    {ErrorKind::Resolve, "resolve", 125},    {ErrorKind::Connect, "connect", 125},
    {ErrorKind::HostKey, "host-key", 125},   {ErrorKind::Auth, "auth", 125},
    {ErrorKind::Deploy, "deploy", 125},      {ErrorKind::Protocol, "protocol", 125},
    {ErrorKind::Spawn, "spawn", 125},        {ErrorKind::NotExecutable, "not-executable", 126},
    {ErrorKind::NotFound, "not-found", 127}, {ErrorKind::Io, "io", 125},
    {ErrorKind::Timeout, "timeout", 125},    {ErrorKind::Lost, "lost", 125},
    {ErrorKind::Internal, "internal", 125},
};

const KindRow& row(ErrorKind kind) {
  for (const KindRow& r : kKinds) {
    if (r.kind == kind) return r;
  }
  return kKinds[static_cast<std::size_t>(ErrorKind::Internal)];
}
}  // namespace

std::string_view name(ErrorKind kind) { return row(kind).name; }
int exit_code_of(ErrorKind kind) { return row(kind).exit_code; }

std::string errno_text(int sys_errno) {
  // strerrordesc_np: no locale, no buffer, safe in the static agent and in threads.
  const char* text = ::strerrordesc_np(sys_errno);
  if (text == nullptr) return "error " + std::to_string(sys_errno);
  std::string out = text;
  if (!out.empty()) out[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(out[0])));
  return out;
}

std::string hint_for(const Error& error, std::span<const std::string> hosts) {
  constexpr std::string_view kHosts = "{hosts}";
  std::string out = error.hint();
  const std::size_t at = out.find(kHosts);
  if (at == std::string::npos) return out;
  std::string names;
  for (const std::string& host : hosts) names += (names.empty() ? "" : " ") + host;
  return out.replace(at, kHosts.size(), names);
}

Error sys_error(ErrorKind kind, std::string_view what, int sys_errno) {
  return Error(kind, std::string(what) + ": " + errno_text(sys_errno));
}

}  // namespace sml

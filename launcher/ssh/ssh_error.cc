#include "launcher/ssh/ssh_error.h"

#include <algorithm>
#include <array>

#include "common/core/text.h"

namespace sml::ssh {
namespace {

enum class Detail : std::uint8_t { Hide, Show };  // put libssh's own words behind the message

struct Row {
  std::string_view part;  // of libssh's text
  ErrorKind kind;
  std::string_view message;
  Detail detail;
  std::string_view hint;
};

constexpr std::string_view kUseClient = "--ssh-command ssh uses the OpenSSH client instead of libssh";

// First match wins.
constexpr std::array<Row, 12> kTable{{
    {"Too many authentication failures", ErrorKind::Auth, "the host refused the login after too many keys",
     Detail::Hide, "name the right key with --ssh-identity-file, or remove keys from the ssh agent"},
    {"Received SSH_MSG_DISCONNECT", ErrorKind::Connect, "the host ended the connection", Detail::Show, ""},
    {"no match for method", ErrorKind::Connect, "no algorithm in common with the host", Detail::Show, kUseClient},
    {"Socket error: disconnected", ErrorKind::Connect, "the connection was closed by the host", Detail::Hide, ""},
    {"Socket error:", ErrorKind::Connect, "the connection broke", Detail::Show, ""},
    {"Writing packet: error on socket", ErrorKind::Connect, "the connection was closed by the host", Detail::Hide, ""},
    {"anner", ErrorKind::Connect, "what answers there is no ssh server", Detail::Hide, "see --ssh-port"},
    {"rotocol", ErrorKind::Connect, "the host speaks no protocol that libssh knows", Detail::Show, kUseClient},
    {"Packet len too high", ErrorKind::Connect, "the host sends what is not ssh", Detail::Hide, ""},
    {"Channel opening failure", ErrorKind::Io, "the host refused a session", Detail::Show, ""},
    {"Channel request exec failed", ErrorKind::Io, "the host refused to run a command", Detail::Hide,
     "see ForceCommand and the login shell of this user there"},
    {"Access denied", ErrorKind::Auth, "the host refused the login", Detail::Hide, ""},
}};

ErrorKind default_kind(LoginStage stage) {
  switch (stage) {
    case LoginStage::KeyExchange: return ErrorKind::Connect;
    case LoginStage::Authentication: return ErrorKind::Auth;
    case LoginStage::Channel:
    case LoginStage::Command: return ErrorKind::Io;
    case LoginStage::Running: return ErrorKind::Lost;
  }
  return ErrorKind::Internal;
}

std::string_view doing(LoginStage stage) {
  switch (stage) {
    case LoginStage::KeyExchange: return " before the login";
    case LoginStage::Authentication: return " during the login";
    case LoginStage::Channel:
    case LoginStage::Command: return " after the login";
    case LoginStage::Running: return "";
  }
  return "";
}

// A connection that ends is lost once the login is done, whatever ended it.
ErrorKind kind_at(LoginStage stage, ErrorKind kind) {
  return kind == ErrorKind::Connect && stage == LoginStage::Running ? ErrorKind::Lost : kind;
}

}  // namespace

Error explain(LoginStage stage, std::string_view text) {
  constexpr std::size_t kShown = 200;
  const auto row = std::find_if(kTable.begin(), kTable.end(),
                                [&](const Row& r) { return text.find(r.part) != std::string_view::npos; });
  if (row == kTable.end()) {
    const std::string words = text.empty() ? std::string("no reason given") : show(text, kShown);
    return Error(default_kind(stage), "ssh failed" + std::string(doing(stage)) + ": " + words);
  }
  std::string message(row->message);
  if (row->kind == ErrorKind::Connect) message += doing(stage);
  if (row->detail == Detail::Show) message += ": " + show(text, kShown);
  return Error(kind_at(stage, row->kind), std::move(message)).with_hint(std::string(row->hint));
}

bool is_dropped_connection(std::string_view text) {
  return text.starts_with("Socket error: disconnected") || text.starts_with("Socket error: Connection reset") ||
         text.starts_with("Socket error: Broken pipe") || text.starts_with("Writing packet: error on socket");
}

}  // namespace sml::ssh

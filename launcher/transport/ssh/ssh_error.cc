#include "launcher/transport/ssh/ssh_error.h"

#include <algorithm>
#include <array>

#include "common/core/text.h"

namespace sml::ssh {
namespace {

enum class Detail : std::uint8_t { Hide, Show };  // Show: append libssh's own text to the message
enum class Moment : std::uint8_t { Hide, Show };  // Show: add when it happened: "before the login"

struct Row {
  std::string_view part;  // of libssh's text
  ErrorKind kind;
  std::string_view message;
  Moment moment;
  Detail detail;
  std::string_view hint;
};

constexpr std::string_view kTooManyKeys =
    "name the right key with --ssh-identity-file, or remove keys from the ssh agent";
constexpr std::string_view kNoCommand = "see ForceCommand and the login shell of this user there";
constexpr std::string_view kClosed = "the connection was closed by the host";
constexpr std::string_view kNoServer = "what answers there is no ssh server";

// The first match wins.
constexpr std::array<Row, 13> kTable{{
    {"Too many authentication failures", ErrorKind::Auth, "the host refused the login after too many keys",
     Moment::Hide, Detail::Hide, kTooManyKeys},
    {"Received SSH_MSG_DISCONNECT", ErrorKind::Connect, "the host ended the connection", Moment::Show, Detail::Show,
     ""},
    {"no match for method", ErrorKind::Connect, "no algorithm in common with the host", Moment::Hide, Detail::Show,
     kUseClient},
    {"Socket error: disconnected", ErrorKind::Connect, kClosed, Moment::Show, Detail::Hide, ""},
    {"Writing packet: error on socket", ErrorKind::Connect, kClosed, Moment::Show, Detail::Hide, ""},
    {"Connection reset by peer", ErrorKind::Connect, kClosed, Moment::Show, Detail::Hide, ""},
    {"Socket error:", ErrorKind::Connect, "the connection broke", Moment::Show, Detail::Show, ""},
    {"anner", ErrorKind::Connect, kNoServer, Moment::Hide, Detail::Hide, "see --ssh-port"},
    {"Packet len too high", ErrorKind::Connect, kNoServer, Moment::Hide, Detail::Hide, "see --ssh-port"},
    {"rotocol", ErrorKind::Connect, "the host uses no protocol that libssh supports", Moment::Hide, Detail::Show,
     kUseClient},
    {"Channel opening failure", ErrorKind::Io, "the host refused a session", Moment::Hide, Detail::Show, ""},
    {"Channel request exec failed", ErrorKind::Io, "the host refused to run a command", Moment::Hide, Detail::Hide,
     kNoCommand},
    {"Access denied", ErrorKind::Auth, "the host refused the login", Moment::Hide, Detail::Hide, ""},
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

// Once the command runs, the end of a connection is Lost, whatever ended it.
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
  if (row->moment == Moment::Show) message += doing(stage);
  if (row->detail == Detail::Show) message += ": " + show(text, kShown);
  return Error(kind_at(stage, row->kind), std::move(message)).with_hint(std::string(row->hint));
}

bool is_dropped_connection(std::string_view text) {
  constexpr std::array<std::string_view, 5> kDrops{"Socket error: disconnected", "Connection reset by peer",
                                                   "Software caused connection abort", "Broken pipe",
                                                   "Writing packet: error on socket"};
  return std::any_of(kDrops.begin(), kDrops.end(),
                     [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

std::string not_read(std::string_view keyword) {
  return ", and the built-in SSH client does not read " + std::string(keyword) + " of the ssh config";
}

Error flooded() {
  return Error(ErrorKind::Connect, std::string(kNoServer) + ": it sends without end before the session begins")
      .with_hint("see --ssh-port");
}

}  // namespace sml::ssh

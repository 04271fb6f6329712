#include "launcher/transport/ssh/ssh_error.h"

#include "tests/support/catch.h"

using sml::ErrorKind;
using sml::ssh::explain;
using sml::ssh::is_dropped_connection;
using sml::ssh::LoginStage;

TEST_CASE("what libssh says becomes a kind and a clause of ours", "[ssh]") {
  struct Row {
    LoginStage stage;
    const char* text;
    ErrorKind kind;
    const char* message;
  };
  const auto row = GENERATE(
      Row{LoginStage::KeyExchange, "Socket error: disconnected", ErrorKind::Connect,
          "the connection was closed by the host before the login"},
      Row{LoginStage::Authentication, "Socket error: Connection reset by peer", ErrorKind::Connect,
          "the connection was closed by the host during the login"},
      Row{LoginStage::Running, "Socket error: disconnected", ErrorKind::Lost, "the connection was closed by the host"},
      Row{LoginStage::Running, "Socket error: Connection timed out", ErrorKind::Lost,
          "the connection broke: Socket error: Connection timed out"},
      Row{LoginStage::KeyExchange, "Receiving banner: too large banner", ErrorKind::Connect,
          "what answers there is no ssh server"},
      Row{LoginStage::Authentication, "Received SSH_MSG_DISCONNECT: 2:Too many authentication failures",
          ErrorKind::Auth, "the host refused the login after too many keys"},
      Row{LoginStage::KeyExchange, "Received SSH_MSG_DISCONNECT: 11:no", ErrorKind::Connect,
          "the host ended the connection before the login: Received SSH_MSG_DISCONNECT: 11:no"},
      Row{LoginStage::Command, "Channel request exec failed", ErrorKind::Io, "the host refused to run a command"},
      Row{LoginStage::Authentication, "something new", ErrorKind::Auth, "ssh failed during the login: something new"},
      Row{LoginStage::Channel, "", ErrorKind::Io, "ssh failed after the login: no reason given"});
  const auto error = explain(row.stage, row.text);
  CHECK(error.kind() == row.kind);
  CHECK(error.message() == row.message);
}

TEST_CASE("an error that another client would not have names that client", "[ssh]") {
  const auto error = explain(LoginStage::KeyExchange, "kex error : no match for method server host key algo: ...");
  CHECK(error.hint().find("--ssh-command ssh") != std::string::npos);
}

TEST_CASE("text of the far side is bounded and escaped", "[ssh]") {
  const std::string evil = "Received SSH_MSG_DISCONNECT: 2:\x1b]0;gotcha\x07" + std::string(100'000, 'x');
  const auto error = explain(LoginStage::KeyExchange, evil);
  CHECK(error.message().size() < 500);
  CHECK(error.message().find('\x1b') == std::string::npos);
  CHECK(error.message().find('\x07') == std::string::npos);
}

TEST_CASE("only a connection that just ended is worth another try", "[ssh]") {
  CHECK(is_dropped_connection("Socket error: disconnected"));
  CHECK(is_dropped_connection("Socket error: Connection reset by peer"));
  CHECK(is_dropped_connection("Connection reset by peer"));
  CHECK_FALSE(is_dropped_connection("kex error : no match for method"));
  CHECK_FALSE(is_dropped_connection("Received SSH_MSG_DISCONNECT: 2:Too many authentication failures"));
  CHECK_FALSE(is_dropped_connection(""));
}

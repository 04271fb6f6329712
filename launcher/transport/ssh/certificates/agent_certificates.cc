#include "launcher/transport/ssh/certificates/agent_certificates.h"

#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include <poll.h>
#include <sys/socket.h>

#include "launcher/transport/ssh/certificates/certificate.h"

namespace sml::ssh {
namespace {

// Messages of the protocol (draft-miller-ssh-agent).
constexpr char kKeysAnswer = 12;
constexpr char kSignRequest = 13;
constexpr std::size_t kMostBytes = 256 * 1024;  // of a message, as libssh and ssh have it

// Takes a number or a string of the wire format off `bytes`; nullopt: there is none.
std::optional<std::uint32_t> take_number(std::string_view& bytes) {
  if (bytes.size() < 4) return std::nullopt;
  std::uint32_t number = 0;
  for (const char c : bytes.substr(0, 4)) number = number << 8 | static_cast<unsigned char>(c);
  bytes.remove_prefix(4);
  return number;
}

std::optional<std::string_view> take_string(std::string_view& bytes) {
  const auto length = take_number(bytes);
  if (!length || *length > bytes.size()) return std::nullopt;
  const std::string_view out = bytes.substr(0, *length);
  bytes.remove_prefix(*length);
  return out;
}

void put_number(std::string& to, std::size_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) to += static_cast<char>(number >> shift & 0xff);
}

void put_string(std::string& to, std::string_view bytes) {
  put_number(to, bytes.size());
  to += bytes;
}

bool read_exactly(int fd, std::span<char> into) {
  while (!into.empty()) {
    const auto n = ::recv(fd, into.data(), into.size(), 0);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return false;
    if (n > 0) {
      into = into.subspan(static_cast<std::size_t>(n));
    } else {
      pollfd ready{fd, POLLIN, 0};
      ::poll(&ready, 1, -1);
    }
  }
  return true;
}

bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(n));
    } else if (n < 0 && errno == EAGAIN) {
      pollfd ready{fd, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (n == 0 || errno != EINTR) {
      return false;
    }
  }
  return true;
}

// A message without its length; nullopt: the connection has ended.
std::optional<std::string> read_message(int fd) {
  std::array<char, 4> head{};
  if (!read_exactly(fd, head)) return std::nullopt;
  std::string_view rest(head.data(), head.size());
  const std::uint32_t length = take_number(rest).value_or(0);
  if (length > kMostBytes) return std::nullopt;
  std::string out(length, '\0');
  if (!read_exactly(fd, out)) return std::nullopt;
  return out;
}

bool send_message(int fd, const std::string& message) {
  std::string out;
  put_string(out, message);
  return send_all(fd, out);
}

}  // namespace

AgentCertificates::AgentCertificates(std::set<std::string> certificates) : certificates_(std::move(certificates)) {}

std::string AgentCertificates::extended(std::string_view answer) {
  std::string_view rest = answer;
  if (!rest.starts_with(kKeysAnswer)) return std::string(answer);
  rest.remove_prefix(1);
  std::uint32_t count = take_number(rest).value_or(0);
  std::string list;
  for (std::uint32_t i = count; i > 0; --i) {
    const auto key = take_string(rest);
    const auto comment = take_string(rest);
    if (!key || !comment) return std::string(answer);
    for (const std::string& certificate : certificates_) {
      if (!certifies_key(certificate, *key)) continue;
      keys_.emplace(certificate, *key);
      if (answer.find(certificate) != std::string_view::npos) continue;  // the agent has it, too
      put_string(list, certificate);
      put_string(list, *comment);
      ++count;
    }
    put_string(list, *key);
    put_string(list, *comment);
  }
  std::string out(1, kKeysAnswer);
  put_number(out, count);
  out += list;
  return out.size() <= kMostBytes ? out : std::string(answer);
}

std::string AgentCertificates::for_agent(std::string_view request) const {
  std::string_view rest = request;
  if (!rest.starts_with(kSignRequest)) return std::string(request);
  rest.remove_prefix(1);
  const std::string certificate(take_string(rest).value_or(""));
  const auto key = keys_.find(certificate);
  if (key == keys_.end()) return std::string(request);
  std::string out(1, kSignRequest);
  put_string(out, key->second);
  out += rest;  // what is to be signed, and how
  return out;
}

CertifiedAgent::CertifiedAgent(int agent_fd, const std::set<std::string>& certificates)
    : agent_fd_(agent_fd), certificates_(certificates) {
  if (certificates.empty()) return;
  auto ends = os::make_socketpair();
  if (!ends) return;
  ours_ = std::move((*ends)[0]);
  theirs_ = std::move((*ends)[1]);
  try {
    thread_ = std::thread([this] { serve(); });
  } catch (const std::system_error&) {
    ours_.reset();
  }
}

void CertifiedAgent::end() {
  if (!thread_.joinable()) return;
  ::shutdown(theirs_.get(), SHUT_RDWR);
  ::shutdown(agent_fd_, SHUT_RDWR);
  thread_.join();
}

void CertifiedAgent::serve() {
  for (;;) {
    const auto request = read_message(theirs_.get());
    if (!request || !send_message(agent_fd_, certificates_.for_agent(*request))) break;
    const auto answer = read_message(agent_fd_);
    if (!answer || !send_message(theirs_.get(), certificates_.extended(*answer))) break;
  }
  ::shutdown(theirs_.get(), SHUT_RDWR);
}

}  // namespace sml::ssh

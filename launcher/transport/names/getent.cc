#include "launcher/transport/names/getent.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/core/text.h"
#include "common/os/fd.h"
#include "common/os/spawn.h"

namespace sml::names {

namespace {

constexpr std::size_t kAnswerLimit = 65536;

std::optional<Address> parse_address(const std::string& text, std::uint16_t port) {
  Address address;
  auto& v4 = reinterpret_cast<sockaddr_in&>(address.storage);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(address.storage);
  if (::inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    address.size = sizeof v4;
    return address;
  }
  if (::inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    address.size = sizeof v6;
    return address;
  }
  return std::nullopt;
}

bool same(const Address& a, const Address& b) {
  return a.size == b.size && std::memcmp(&a.storage, &b.storage, a.size) == 0;
}

std::string read_answer(int fd) {
  std::string text;
  std::array<char, 4096> piece;
  while (text.size() < kAnswerLimit) {
    const ssize_t n = ::read(fd, piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(n));
  }
  return text;
}

}  // namespace

std::vector<Address> parse_hosts(std::string_view lines, std::uint16_t port, int family) {
  std::vector<Address> found;
  while (!lines.empty()) {
    const std::string_view line = take_until(lines, '\n');
    const std::string word(line.substr(0, line.find_first_of(" \t")));
    const std::optional<Address> address = parse_address(word, port);
    if (!address || (family != AF_UNSPEC && address->storage.ss_family != family)) continue;
    const auto known = std::any_of(found.begin(), found.end(), [&](const Address& a) { return same(a, *address); });
    if (!known) found.push_back(*address);
  }
  return found;
}

std::optional<Account> parse_account(std::string_view line) {
  constexpr std::size_t kFields = 7;  // passwd(5)
  constexpr std::size_t kHome = 5;
  std::string_view rest = line.substr(0, line.find('\n'));
  std::vector<std::string_view> fields;
  while (!rest.empty()) fields.push_back(take_until(rest, ':'));
  if (line.substr(0, line.find('\n')).ends_with(':')) fields.emplace_back();  // an empty shell field
  if (fields.size() != kFields || fields.front().empty()) return std::nullopt;
  return Account{.name = std::string(fields.front()), .home = std::string(fields[kHome])};
}

std::string ask_getent(const std::string& database, const std::string& key) {
  if (key.empty() || key.starts_with('-')) return "";  // getent would take it for an option
  const Result<os::UniqueFd> null = os::open_dev_null();
  std::array<int, 2> ends{};
  if (!null || ::pipe2(ends.data(), O_CLOEXEC) != 0) return "";
  os::UniqueFd answer(ends[0]);
  os::UniqueFd question(ends[1]);
  const Result<pid_t> pid = os::spawn_helper({.argv = {"getent", database, key},
                                              .stdin_fd = null->get(),
                                              .stdout_fd = question.get(),
                                              .stderr_fd = null->get()});
  question.reset();
  if (!pid) return "";
  std::string text = read_answer(answer.get());
  answer.reset();
  while (::waitpid(*pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return text;
}

}  // namespace sml::names

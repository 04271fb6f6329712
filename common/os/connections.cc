#include "common/os/connections.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <dirent.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "common/core/letters.h"
#include "common/core/text.h"
#include "common/os/fd.h"
#include "common/os/small_file.h"

namespace sml::os {

namespace {

// Columns of /proc/net/tcp: 0 number, 1 local address, 2 remote address, 3 state, ... 7 user, ... 9 inode.
constexpr std::size_t kLocal = 1;
constexpr std::size_t kRemote = 2;
constexpr std::size_t kState = 3;
constexpr std::size_t kUser = 7;
constexpr std::size_t kInode = 9;
constexpr std::string_view kEstablished = "01";
constexpr std::string_view kListening = "0A";

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> out;
  while (!line.empty()) {
    if (const std::string_view word = take_until(line, ' '); !word.empty()) out.push_back(word);
  }
  return out;
}

// "00000000000000000000000001000000:D204" → 0xD204
std::uint16_t port_of(std::string_view address) {
  take_until(address, ':');
  return parse_number<std::uint16_t>(address, 16).value_or(0);
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> out;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
  if (!open) return out;
  while (const dirent* entry = ::readdir(open.get())) out.emplace_back(entry->d_name);
  return out;
}

bool holds_one_of(const std::string& process, const std::set<ino_t>& sockets) {
  const std::string folder = process + "/fd/";
  for (const std::string& name : names_in(folder)) {
    struct stat file {};
    if (::stat((folder + name).c_str(), &file) == 0 && S_ISSOCK(file.st_mode) && sockets.contains(file.st_ino)) {
      return true;
    }
  }
  return false;
}

// The third field after the command in /proc/PID/stat: state, parent, group.
pid_t group_of(const std::string& process) {
  constexpr std::size_t kGroup = 2;
  const std::string stat = read_small_file(process + "/stat");
  const std::size_t end = stat.rfind(')');
  if (end == std::string::npos) return 0;
  const std::vector<std::string_view> words = words_of(std::string_view(stat).substr(end + 1));
  return words.size() > kGroup ? parse_number<pid_t>(words[kGroup]).value_or(0) : 0;
}

// Adds the sockets of a family that listen; false if the kernel does not answer.
bool add_listening(int netlink, std::uint8_t family, std::vector<inet_diag_msg>& out) {
  struct {
    nlmsghdr head;
    inet_diag_req_v2 body;
  } request{};
  request.head = {.nlmsg_len = sizeof request,
                  .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                  .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
                  .nlmsg_seq = 0,
                  .nlmsg_pid = 0};
  request.body.sdiag_family = family;
  request.body.sdiag_protocol = IPPROTO_TCP;
  request.body.idiag_states = 1U << TCP_LISTEN;
  if (::send(netlink, &request, sizeof request, 0) != static_cast<ssize_t>(sizeof request)) return false;
  alignas(nlmsghdr) char answer[std::size_t{32} << 10];
  for (;;) {
    const ssize_t got = ::recv(netlink, answer, sizeof answer, MSG_DONTWAIT);
    if (got <= 0) return false;
    auto left = static_cast<std::uint32_t>(got);
    for (const auto* m = reinterpret_cast<const nlmsghdr*>(answer); NLMSG_OK(m, left); m = NLMSG_NEXT(m, left)) {
      if (m->nlmsg_type == NLMSG_DONE) return true;
      if (m->nlmsg_type != SOCK_DIAG_BY_FAMILY || m->nlmsg_len < NLMSG_LENGTH(sizeof(inet_diag_msg))) return false;
      out.push_back(*static_cast<const inet_diag_msg*>(NLMSG_DATA(m)));
    }
  }
}

std::optional<std::vector<inet_diag_msg>> listening_sockets() {
  const UniqueFd netlink(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  std::vector<inet_diag_msg> out;
  const bool told =
      netlink && add_listening(netlink.get(), AF_INET, out) && add_listening(netlink.get(), AF_INET6, out);
  return told ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace

std::set<ino_t> sockets_connected_to(std::uint16_t port, std::string_view table) {
  std::set<ino_t> out;
  while (!table.empty()) {
    const std::vector<std::string_view> words = words_of(take_until(table, '\n'));
    if (words.size() <= kInode || words[kState] != kEstablished || port_of(words[kRemote]) != port) continue;
    if (const auto inode = parse_number<ino_t>(words[kInode]).value_or(0); inode != 0) out.insert(inode);
  }
  return out;
}

std::set<pid_t> groups_connected_to(std::uint16_t port, const std::set<pid_t>& groups) {
  std::set<ino_t> sockets;
  for (const char* table : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    sockets.merge(sockets_connected_to(port, read_small_file(table)));
  }
  std::set<pid_t> out;
  if (sockets.empty()) return out;
  for (const std::string& name : names_in("/proc")) {
    if (!all_digits(name)) continue;
    const std::string process = "/proc/" + name;
    const pid_t group = group_of(process);
    if (groups.contains(group) && !out.contains(group) && holds_one_of(process, sockets)) out.insert(group);
  }
  return out;
}

std::optional<Listener> listener_on(std::uint16_t port, std::string_view table) {
  while (!table.empty()) {
    const std::vector<std::string_view> words = words_of(take_until(table, '\n'));
    if (words.size() <= kInode || words[kState] != kListening || port_of(words[kLocal]) != port) continue;
    return Listener{parse_number<uid_t>(words[kUser]).value_or(0), parse_number<ino_t>(words[kInode]).value_or(0)};
  }
  return std::nullopt;
}

std::optional<Listener> listener_on(std::uint16_t port) {
  const std::optional<std::vector<inet_diag_msg>> sockets = listening_sockets();
  if (sockets) {
    for (const inet_diag_msg& one : *sockets) {
      if (ntohs(one.id.idiag_sport) == port) return Listener{one.idiag_uid, one.idiag_inode};
    }
    return std::nullopt;
  }
  std::optional<Listener> out;
  for (const char* table : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    if (!out) out = listener_on(port, read_small_file(table));
  }
  return out;
}

std::optional<PortHolder> holder_of_port(std::uint16_t port) {
  const std::optional<Listener> listener = listener_on(port);
  if (!listener) return std::nullopt;
  PortHolder holder{listener->user, 0, ""};
  for (const std::string& name : names_in("/proc")) {
    if (!all_digits(name)) continue;
    const std::string process = "/proc/" + name;
    if (!holds_one_of(process, {listener->socket})) continue;
    holder.pid = parse_number<pid_t>(name).value_or(0);
    holder.program = read_small_file(process + "/comm");
    while (holder.program.ends_with('\n')) holder.program.pop_back();
    break;
  }
  return holder;
}

}  // namespace sml::os

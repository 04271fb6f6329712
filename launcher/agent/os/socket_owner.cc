#include "launcher/agent/os/socket_owner.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <string>

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "common/core/text.h"
#include "common/core/text_cursor.h"
#include "common/os/small_file.h"

namespace sml::os {

namespace {

using State = SocketOwner::State;
using Endpoint = boost::asio::ip::tcp::endpoint;

constexpr int kAnyState = 0xfff;

void put_address(const Endpoint& end, __be16& port, __be32* words) {
  port = htons(end.port());
  if (end.address().is_v4()) {
    const auto bytes = end.address().to_v4().to_bytes();
    std::memcpy(words, bytes.data(), bytes.size());
  } else {
    const auto bytes = end.address().to_v6().to_bytes();
    std::memcpy(words, bytes.data(), bytes.size());
  }
}

struct Question {
  nlmsghdr head{};
  inet_diag_req_v2 body{};
};

Question question_for(const TcpEnds& ends) {
  Question out;
  out.head.nlmsg_len = sizeof out;
  out.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  out.head.nlmsg_flags = NLM_F_REQUEST;
  out.body.sdiag_family = ends.local.address().is_v4() ? AF_INET : AF_INET6;
  out.body.sdiag_protocol = IPPROTO_TCP;
  out.body.idiag_states = kAnyState;
  put_address(ends.local, out.body.id.idiag_sport, out.body.id.idiag_src);
  put_address(ends.remote, out.body.id.idiag_dport, out.body.id.idiag_dst);
  out.body.id.idiag_cookie[0] = INET_DIAG_NOCOOKIE;
  out.body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  return out;
}

SocketOwner owner(std::uint32_t inode, uid_t uid) {
  return inode == 0 ? SocketOwner{State::Closed, 0} : SocketOwner{State::Held, uid};
}

template <class Bytes>
void append_words(std::string& out, const Bytes& bytes) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint32_t)) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    std::array<char, 8> digits{'0', '0', '0', '0', '0', '0', '0', '0'};
    std::array<char, 8> text{};
    const auto size = static_cast<std::size_t>(std::to_chars(text.begin(), text.end(), word, 16).ptr - text.begin());
    std::memcpy(digits.end() - size, text.data(), size);
    out.append(digits.data(), digits.size());
  }
}

// An address in the form of /proc/net/tcp: its words in the machine's byte order, in hexadecimal; and the port.
std::string in_table(const Endpoint& end) {
  std::string out;
  if (end.address().is_v4()) {
    append_words(out, end.address().to_v4().to_bytes());
  } else {
    append_words(out, end.address().to_v6().to_bytes());
  }
  std::array<char, 4> digits{};
  const unsigned port = end.port();
  for (std::size_t i = 0; i < digits.size(); ++i)
    digits[digits.size() - 1 - i] = "0123456789abcdef"[(port >> (4 * i)) & 15U];
  return out.append(":").append(digits.data(), digits.size());
}

bool equal_but_for_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

Endpoint mapped(const Endpoint& end) {
  return {boost::asio::ip::make_address_v6(boost::asio::ip::v4_mapped, end.address().to_v4()), end.port()};
}

}  // namespace

SocketOwners::SocketOwners() : netlink_(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG)) {}

// The kernel may return a listening socket on the same port instead of a socket that is gone, so the ports are
// compared.
std::optional<DiagAnswer> read_diag_answer(const TcpEnds& ends, std::string_view bytes) {
  nlmsghdr head{};
  if (bytes.size() < NLMSG_HDRLEN) return std::nullopt;
  std::memcpy(&head, bytes.data(), sizeof head);
  const std::string_view body = bytes.substr(NLMSG_HDRLEN);
  if (head.nlmsg_type == NLMSG_ERROR) {
    nlmsgerr error{};
    if (body.size() < sizeof error) return std::nullopt;
    std::memcpy(&error, body.data(), sizeof error);
    if (error.error != -ENOENT) return std::nullopt;
    return DiagAnswer{DiagAnswer::About::NoSocket, {State::Absent, 0}};
  }
  inet_diag_msg found{};
  if (head.nlmsg_type != SOCK_DIAG_BY_FAMILY || body.size() < sizeof found) return std::nullopt;
  std::memcpy(&found, body.data(), sizeof found);
  const bool same =
      found.id.idiag_sport == htons(ends.local.port()) && found.id.idiag_dport == htons(ends.remote.port());
  return DiagAnswer{DiagAnswer::About::ASocket,
                    same ? owner(found.idiag_inode, found.idiag_uid) : SocketOwner{State::Absent, 0}};
}

// The kernel's reply is there before send() returns.
std::optional<SocketOwner> SocketOwners::ask_kernel(const TcpEnds& ends) {
  if (!netlink_) return std::nullopt;
  const Question question = question_for(ends);
  if (::send(netlink_.get(), &question, sizeof question, 0) < 0) return std::nullopt;
  std::array<char, 4096> bytes{};
  const ssize_t size = ::recv(netlink_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (size < 0) return std::nullopt;
  const auto answer = read_diag_answer(ends, std::string_view(bytes.data(), static_cast<std::size_t>(size)));
  if (!answer) return std::nullopt;
  if (answer->about == DiagAnswer::About::ASocket) answers_ = true;
  return answer->owner;
}

SocketOwner SocketOwners::owner_of(const TcpEnds& ends) {
  const std::optional<SocketOwner> answer = ask_kernel(ends);
  if (answer && (answer->state != State::Absent || answers_)) return *answer;
  bool read = false;
  for (const char* path : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    const std::string table = read_small_file(path);
    read = read || !table.empty();
    if (const std::optional<SocketOwner> found = find_owner(ends, table)) return *found;
  }
  return {read ? State::Absent : State::Unknown, 0};
}

// Columns: 0 number, 1 local address, 2 remote address, ... 7 uid, 8 timeout, 9 inode.
std::optional<SocketOwner> find_owner(const TcpEnds& ends, std::string_view table) {
  constexpr std::size_t kLocal = 1;
  constexpr std::size_t kRemote = 2;
  constexpr std::size_t kUid = 7;
  constexpr std::size_t kInode = 9;
  std::string local = in_table(ends.local);
  std::string remote = in_table(ends.remote);
  std::string local_mapped = ends.local.address().is_v4() ? in_table(mapped(ends.local)) : local;
  std::string remote_mapped = ends.remote.address().is_v4() ? in_table(mapped(ends.remote)) : remote;
  while (!table.empty()) {
    std::string_view line = take_until(table, '\n');
    std::array<std::string_view, kInode + 1> words;
    for (std::string_view& word : words) word = take_word(line);
    if (words[kInode].empty()) continue;
    const bool plain = equal_but_for_case(words[kLocal], local) && equal_but_for_case(words[kRemote], remote);
    if (plain ||
        (equal_but_for_case(words[kLocal], local_mapped) && equal_but_for_case(words[kRemote], remote_mapped))) {
      return owner(parse_number<std::uint32_t>(words[kInode]).value_or(0),
                   parse_number<std::uint32_t>(words[kUid]).value_or(0));
    }
  }
  return std::nullopt;
}

}  // namespace sml::os

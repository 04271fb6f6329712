// Any bytes as what the kernel tells of TCP sockets (/proc/net/tcp, sock_diag): a socket is only said to be somebody's
// where the bytes hold it, and a line that has it is found whatever stands around it. Input: two ports, a choice, text.
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>

#include "common/os/connections.h"
#include "launcher/agent/os/socket_owner.h"
#include "tests/fuzz/require.h"

using namespace sml::os;
using sml::fuzz::require;
using State = SocketOwner::State;

namespace {

constexpr std::size_t kChoices = 5;
constexpr uid_t kUid = 4711;

TcpEnds ends_of(std::string_view input) {
  const auto port = [input](std::size_t at) {
    return static_cast<std::uint16_t>(static_cast<unsigned char>(input[at]) << 8 |
                                      static_cast<unsigned char>(input[at + 1]));
  };
  const char* address = (input[4] & 1) != 0 ? "fe80::1" : "127.0.0.1";
  return {{boost::asio::ip::make_address(address), port(0)}, {boost::asio::ip::make_address(address), port(2)}};
}

std::string line_of(const TcpEnds& ends) {
  const std::string_view address = ends.local.address().is_v4() ? "0100007F" : "000080FE000000000000000001000000";
  return fmt::format("  7: {}:{:04X} {}:{:04X} 01 00000000:00000000 00:00000000 00000000 {:5} 0 99 1\n", address,
                     ends.local.port(), address, ends.remote.port(), kUid);
}

void check_tables(const TcpEnds& ends, std::string_view text) {
  const auto alone = find_owner(ends, text);
  require(!alone || alone->state == State::Held || alone->state == State::Closed);
  const std::string around = std::string(text) + "\n" + line_of(ends) + std::string(text);
  const auto found = find_owner(ends, around);
  require(found.has_value());
  require(alone ? found->uid == alone->uid : found->state == State::Held && found->uid == kUid);
  require(sockets_connected_to(ends.remote.port(), around).contains(99));
  for (const ino_t inode : sockets_connected_to(ends.remote.port(), text)) require(inode != 0);
  (void)listener_on(ends.local.port(), text);
}

void check_answer(const TcpEnds& ends, std::string_view bytes) {
  const auto answer = read_diag_answer(ends, bytes);
  if (!answer) return;
  require(answer->owner.state != State::Unknown && bytes.size() >= NLMSG_HDRLEN + sizeof(nlmsgerr));
  if (answer->owner.state == State::Absent) return;
  require(answer->about == DiagAnswer::About::ASocket && bytes.size() >= NLMSG_HDRLEN + sizeof(inet_diag_msg));
  inet_diag_msg said{};
  std::memcpy(&said, bytes.data() + NLMSG_HDRLEN, sizeof said);
  require(answer->owner.state == State::Closed || answer->owner.uid == said.idiag_uid);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < kChoices) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const TcpEnds ends = ends_of(input);
  check_tables(ends, input.substr(kChoices));
  check_answer(ends, input.substr(kChoices));
  return 0;
}

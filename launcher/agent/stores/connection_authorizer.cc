#include "launcher/agent/stores/connection_authorizer.h"

#include <utility>

#include "launcher/agent/core/waits.h"

namespace sml::agent {

using boost::asio::ip::address;

namespace {

constexpr int kIdBits = 20;  // leaves room for more callers than one attempt has

}  // namespace

address plain(const address& any) {
  if (!any.is_v6() || !any.to_v6().is_v4_mapped()) return any;
  return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, any.to_v6());
}

std::optional<os::TcpEnds> ends_of(const wire::Caller& caller) {
  boost::system::error_code bad_caller;
  boost::system::error_code bad_store;
  const address from = boost::asio::ip::make_address(caller.address, bad_caller);
  const address to = boost::asio::ip::make_address(caller.store_address, bad_store);
  if (bad_caller || bad_store || from.is_v4() != to.is_v4()) return std::nullopt;
  return os::TcpEnds{{from, caller.port}, {to, caller.store_port}};
}

ConnectionAuthorizer::ConnectionAuthorizer(boost::asio::io_context& loop, LocalConnectionCheck& local, OwnAddresses own,
                                           std::uint32_t attempt, Send send)
    : loop_(loop), local_(local), own_(std::move(own)), send_(std::move(send)), next_id_((attempt - 1) << kIdBits) {}

bool ConnectionAuthorizer::is_own(const address& from) {
  if (!own_addresses_) {
    own_addresses_.emplace();
    for (const std::string& text : own_()) {
      boost::system::error_code error;
      const address one = boost::asio::ip::make_address(text, error);
      if (!error) own_addresses_->insert(plain(one));
    }
  }
  return own_addresses_->contains(from);
}

void ConnectionAuthorizer::ask(const os::TcpEnds& ends, Answer answer) {
  const address from = ends.local.address();
  if (from.is_loopback() || is_own(from)) return local_.ask(ends, std::move(answer));
  gathered_.push_back({.id = next_id_,
                       .address = from.to_string(),
                       .port = ends.local.port(),
                       .store_address = ends.remote.address().to_string(),
                       .store_port = ends.remote.port()});
  asked_.emplace(next_id_++, std::move(answer));
  if (gathered_.size() == wire::kMaxCallers) return flush();
  if (gathered_.size() == 1) {
    soon(loop_, lifetime_.guard([this] { flush(); }));
  }
}

void ConnectionAuthorizer::flush() {
  if (!gathered_.empty()) send_(wire::AskPeerOwnership{std::exchange(gathered_, {})});
}

void ConnectionAuthorizer::take_verdicts(const wire::PeerVerdicts& m) {
  for (const wire::PeerVerdict& ruling : m.verdicts) {
    const auto found = asked_.find(ruling.id);
    if (found == asked_.end()) continue;
    const Answer answer = std::move(found->second);
    asked_.erase(found);
    answer(ruling.is_ours);
  }
}

}  // namespace sml::agent

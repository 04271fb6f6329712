// A request to the agents of all hosts whose workers run, each of which sends one reply.
#pragma once
#include <chrono>
#include <functional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/wire/messages.h"
#include "launcher/attempt/hosts/host_broadcast.h"

namespace sml::attempt {

// `Reply`: the type of the reply message; Reply::Answers is the type of the request. Both have an `id`; the request has
// no other field.
template <class Reply>
class HostQuery {
 public:
  struct HostReply {
    std::string host;
    Reply reply;
  };
  // Receives the replies that have come, in the order of arrival; hosts that have not replied are missing.
  using Done = std::function<void(const std::vector<HostReply>&)>;

  static constexpr Duration kLimit = std::chrono::seconds(1);  // then the replies received so far count

  // The fleet outlives this.
  HostQuery(const boost::asio::any_io_executor& loop, fleet::Fleet& fleet) : poll_(loop, fleet) {}

  // `done` is called once, from the loop or from within end(). A request made while another is pending gets the same
  // replies.
  void ask(Done done) {
    waiting_.push_back(std::move(done));
    if (poll_.waits()) return;
    replies_.clear();
    const auto request = [](std::uint32_t id) { return typename Reply::Answers{id}; };
    poll_.ask(request, kLimit, [this](const std::vector<std::string>&) { conclude(); });
  }
  void handle(const fleet::Host& host, const Reply& m) {
    if (!poll_.awaits(m.id)) return;
    replies_.push_back({host.name(), m});
    poll_.answered(host, m.id);
  }
  // No more replies will come: concludes with those received.
  void end() { poll_.end(); }

 private:
  void conclude() {
    const std::vector<Done> waiting = std::exchange(waiting_, {});
    const std::vector<HostReply> replies = std::exchange(replies_, {});
    for (const Done& done : waiting) done(replies);
  }

  HostBroadcast poll_;
  std::vector<Done> waiting_;
  std::vector<HostReply> replies_;
};

// One query for each reply of a tuple.
template <class Replies>
class HostQuerySet;
template <class... Replies>
class HostQuerySet<std::tuple<Replies...>> : private HostQuery<Replies>... {
 public:
  // The fleet outlives this.
  HostQuerySet(const boost::asio::any_io_executor& loop, fleet::Fleet& fleet) : HostQuery<Replies>(loop, fleet)... {}

  template <class Reply>
  requires(std::is_same_v<Reply, Replies> || ...) HostQuery<Reply>
  &of() { return *this; }
  // No more replies will come.
  void end() { (HostQuery<Replies>::end(), ...); }
};

}  // namespace sml::attempt

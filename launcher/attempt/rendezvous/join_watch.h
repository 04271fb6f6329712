// Which workers have not joined torch's store yet: decides when to ask, and what to print. Pure.
//
// The launcher's own store counts the ranks that joined but cannot tell them apart; each agent can tell which of its
// workers hold no connection to the store. So the count decides whether ranks are missing, and the agents name them. If
// rank 0 has the store, there is no count: then ranks are missing if twice, with the timeout between, some but not all
// workers are connected.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/core/strong.h"

namespace sml::attempt {

class JoinWatch {
 public:
  enum class Ask : std::uint8_t { Nobody, Store, Everybody };

  enum class Store : std::uint8_t { OfAgent, OfRank0 };

  // `timeout`: the time that the last worker has to join after the first has joined. `store`: who serves the store.
  JoinWatch(Duration timeout, std::uint32_t world_size, Store store = Store::OfAgent)
      : timeout_(timeout), world_size_(world_size), store_(store) {}

  // Whom to ask when due() has come.
  Ask first() const { return store_ == Store::OfAgent ? Ask::Store : Ask::Everybody; }

  void started(TimePoint now) { due_ = now + timeout_; }  // the workers have started
  // When to ask first(); nullopt: no check is needed any more, or replies are awaited.
  std::optional<TimePoint> due() const { return due_; }
  // Call when the store's agent, or all `hosts` agents, have been asked.
  void asking_store() { due_.reset(), asking_ = Ask::Store; }
  void asking_everybody(std::size_t hosts) { due_.reset(), unanswered_ = hosts, asking_ = Ask::Everybody; }
  Ask asking() const { return asking_; }

  // Handles the store's reply: `joined` ranks, the first of them `since_first` ago. Returns whom to ask next. If that
  // is Nobody, due() may be set again.
  Ask on_store_reply(std::uint64_t joined, Duration since_first, TimePoint now);
  // Call after on_store_reply(). Returns a sentence to print, once: why no worker may have joined although `with_torch`
  // workers of the store's host have torch loaded. Empty if some have joined, none has torch loaded, or it is too
  // early.
  std::string why_nobody(std::uint64_t with_torch);
  // Handles the reply of one host's agent: `missing` are its running workers without a connection to the store,
  // `connected` is the number of the others. After the last reply, returns the sentence to print; empty if there is
  // none. If rank 0 has the store, due() may be set again.
  std::string host_says(const std::string& host, const std::vector<Rank>& missing, std::uint64_t connected,
                        TimePoint now);

 private:
  std::string conclude(TimePoint now);
  std::string sentence() const;

  struct Missing {
    std::string host;
    std::vector<Rank> ranks;
  };
  Duration timeout_;
  std::uint32_t world_size_;
  Store store_;
  bool some_seen_ = false;           // only if rank 0 has the store: some were connected at the last check
  std::uint64_t connected_ = 0;      // connections counted in this check
  std::uint32_t empty_answers_ = 0;  // replies of the launcher's store that no rank has joined
  bool said_why_ = false;
  Ask asking_ = Ask::Nobody;
  std::size_t unanswered_ = 0;  // number of hosts whose reply is missing
  std::uint64_t joined_ = 0;
  std::vector<Missing> missing_;
  std::optional<TimePoint> due_;
};

}  // namespace sml::attempt

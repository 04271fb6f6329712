// Which workers have not come to torch's store yet: when to ask, and what to say. Pure.
//
// Our store counts who has joined but cannot tell ranks apart; each agent can tell which of its workers hold no
// connection to the store. So the count decides whether somebody is missing, and the agents say who. Where rank 0 has
// the store there is no count: some connections, and not all, seen twice with the patience between, tell as much.
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

  // `patience`: for the last worker, from when the first has joined.
  JoinWatch(Duration patience, std::uint32_t world_size, Store store = Store::OfAgent)
      : patience_(patience), world_size_(world_size), store_(store) {}

  // Whom to ask when it is due.
  Ask first() const { return store_ == Store::OfAgent ? Ask::Store : Ask::Everybody; }

  void started(TimePoint now) { due_ = now + patience_; }  // the workers
  // When to call on_time(); nothing: there is no need any more, or answers are awaited.
  std::optional<TimePoint> due() const { return due_; }
  void asking_store() { due_.reset(), asking_ = Ask::Store; }
  void asking_everybody(std::size_t hosts) { due_.reset(), unanswered_ = hosts, asking_ = Ask::Everybody; }
  Ask asking() const { return asking_; }

  // The store's answer; what to ask next. With Nobody due() may come again.
  Ask store_says(std::uint64_t joined, Duration since_first, TimePoint now);
  // To be said after an answer of our store, once: why none of the workers that have torch loaded, `with_torch` on the
  // store's host, may have come. Empty: somebody has, there are none, or it is early.
  std::string why_nobody(std::uint64_t with_torch);
  // The answer of one host's agent, whose other workers that run, `connected`, are connected; the sentence to be said
  // when the last has answered, empty when there is none. With a store of rank 0 due() may come again.
  std::string host_says(const std::string& host, const std::vector<Rank>& missing, std::uint64_t connected,
                        TimePoint now);

 private:
  std::string conclude(TimePoint now);
  std::string sentence() const;

  struct Missing {
    std::string host;
    std::vector<Rank> ranks;
  };
  Duration patience_;
  std::uint32_t world_size_;
  Store store_;
  bool some_seen_ = false;           // connections, of a store of rank 0
  std::uint64_t connected_ = 0;      // those of this time
  std::uint32_t empty_answers_ = 0;  // of our store
  bool said_why_ = false;
  Ask asking_ = Ask::Nobody;
  std::size_t unanswered_ = 0;
  std::uint64_t joined_ = 0;
  std::vector<Missing> missing_;
  std::optional<TimePoint> due_;
};

}  // namespace sml::attempt

// Which workers have not come to torch's store yet: when to ask, and what to say. Pure.
//
// The store counts who has joined but cannot tell ranks apart; each agent can tell which of its workers hold no
// connection to the store. So the count decides whether somebody is missing, and the agents say who.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/core/strong.h"

namespace sml::job {

class JoinWatch {
 public:
  enum class Ask : std::uint8_t { Nobody, Store, Everybody };

  // `patience`: for the last worker, from when the first has joined.
  JoinWatch(Duration patience, std::uint32_t world_size) : patience_(patience), world_size_(world_size) {}

  void started(TimePoint now) { due_ = now + patience_; }  // the workers
  // When to call on_time(); nothing: there is no need any more, or answers are awaited.
  std::optional<TimePoint> due() const { return due_; }
  void asking_store() { due_.reset(), asking_ = Ask::Store; }
  void asking_everybody(std::size_t hosts) { unanswered_ = hosts, asking_ = Ask::Everybody; }
  Ask asking() const { return asking_; }

  // The store's answer; what to ask next. With Nobody due() may come again.
  Ask store_says(std::uint64_t joined, Duration since_first, TimePoint now);
  // The answer of one host's agent; the sentence to be said when the last has answered, empty when there is none.
  std::string host_says(const std::string& host, const std::vector<Rank>& missing);

 private:
  std::string sentence() const;

  struct Missing {
    std::string host;
    std::vector<Rank> ranks;
  };
  Duration patience_;
  std::uint32_t world_size_;
  Ask asking_ = Ask::Nobody;
  std::size_t unanswered_ = 0;
  std::uint64_t joined_ = 0;
  std::vector<Missing> missing_;
  std::optional<TimePoint> due_;
};

}  // namespace sml::job

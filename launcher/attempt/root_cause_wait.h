// Delays the stop of a job whose first failure is a consequence: a rank that has lost a peer often ends before that
// peer, which is still being torn down. A peer that is stopped meanwhile would never end by itself, so that its own
// status and failure would be lost (see report/outcome/ROOT-CAUSE.md).
#pragma once
#include <functional>
#include <memory>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/strong.h"
#include "launcher/attempt/rank_table.h"

namespace sml::attempt {

// One thread, the loop's.
class RootCauseWait {
 public:
  // `table` outlives this. There is at most one wait, of report::kRootCauseWindow from the first such failure on.
  // `over` is called once, from the loop, when it is over; never after the destructor.
  RootCauseWait(const boost::asio::any_io_executor& loop, const RankTable& table, std::function<void()> over)
      : table_(table), over_(std::move(over)), timer_(loop) {}

  // Call when `rank` has failed by itself, or has asked for the job's end, while the workers ran. True: stop the job at
  // once. False: the rank failed as one that has lost a peer does, and others still run; a wait is under way, and
  // `over` will be called.
  [[nodiscard]] bool stops_now(Rank rank);

 private:
  const RankTable& table_;
  std::function<void()> over_;
  boost::asio::steady_timer timer_;
  bool waits_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sml::attempt

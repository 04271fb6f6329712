// Asks the agents for the resource usage of their workers.
#pragma once
#include <functional>
#include <vector>

#include "common/wire/messages.h"
#include "launcher/attempt/hosts/host_broadcast.h"

namespace sml::attempt {

class UsageQuery {
 public:
  using Done = std::function<void(std::vector<wire::RankUse>)>;

  static constexpr Duration kLimit = std::chrono::seconds(1);  // then the replies received so far count

  // The fleet outlives this.
  UsageQuery(const boost::asio::any_io_executor& loop, fleet::Fleet& fleet) : poll_(loop, fleet) {}

  // `done` is called once, from the loop or from within end(). A request made while another is pending gets the same
  // replies.
  void ask(Done done);
  void handle(const fleet::Host& host, const wire::WorkersUse& m);
  // No more replies will come: concludes with those received.
  void end() { poll_.end(); }

 private:
  void conclude();

  HostBroadcast poll_;
  std::vector<Done> waiting_;
  std::vector<wire::RankUse> workers_;
};

}  // namespace sml::attempt

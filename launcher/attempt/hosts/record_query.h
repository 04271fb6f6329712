// Asks the agents for what torch's flight recorders have recorded in their workers.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/wire/messages.h"
#include "launcher/attempt/hosts/host_broadcast.h"
#include "launcher/report/hosts/hang_report.h"

namespace sml::attempt {

class RecordQuery {
 public:
  // In the order of the ranks; ranks without a record are missing.
  using Done = std::function<void(const std::vector<report::Recording>&)>;

  // The time that the agents are given. To write its first record, torch may have to import more modules, in all ranks
  // at once.
  static constexpr Duration kAgents = std::chrono::seconds(10);
  static constexpr Duration kAll = std::chrono::milliseconds(10'600);  // then the replies received so far count

  // The fleet outlives this.
  RecordQuery(const boost::asio::any_io_executor& loop, fleet::Fleet& fleet) : poll_(loop, fleet) {}

  // `done` is called once, from the loop or from within end(). A request made while another is pending gets the same
  // replies.
  void ask(Done done);
  void handle(const wire::Recorded& m);
  void handle(const fleet::Host& host, const wire::RecordedAll& m) { poll_.answered(host, m.id); }
  // No more replies will come: concludes with those received.
  void end() { poll_.end(); }

 private:
  void conclude();

  HostBroadcast poll_;
  std::vector<Done> waiting_;
  std::map<Rank, std::string> records_;  // the pieces that have come so far
};

}  // namespace sml::attempt

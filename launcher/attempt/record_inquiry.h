// Asks the agents what torch has recorded of their workers.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/wire/messages.h"
#include "launcher/attempt/host_poll.h"
#include "launcher/report/hang_report.h"

namespace sml::attempt {

class RecordInquiry {
 public:
  // By rank.
  using Done = std::function<void(const std::vector<report::Recording>&)>;

  // That an agent has. To write its first record, torch may have to import more of itself, all ranks at once.
  static constexpr Duration kAgents = std::chrono::seconds(10);
  static constexpr Duration kAll = std::chrono::milliseconds(10'600);  // then what has come is all

  // The fleet outlives this.
  RecordInquiry(const boost::asio::any_io_executor& loop, fleet::Fleet& fleet) : poll_(loop, fleet) {}

  // `done` is called once, from the loop or from within end(). Who asks while another waits gets the same answers.
  void ask(Done done);
  void handle(const wire::Recorded& m);
  void handle(const fleet::Host& host, const wire::RecordedAll& m) { poll_.answered(host, m.id); }
  // Nobody will answer any more: what has come is all.
  void end() { poll_.end(); }

 private:
  void conclude();

  HostPoll poll_;
  std::vector<Done> waiting_;
  std::map<Rank, std::string> records_;
};

}  // namespace sml::attempt

// What --check has found, as a table or as JSON; what would keep the job from starting, and what would hurt it. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/core/strong.h"
#include "common/plan/host_facts.h"
#include "launcher/report/mpi_offer.h"
#include "launcher/report/verdict.h"

namespace sml::report {

// Whether a host has connected to rank 0's host.
enum class Reaches : std::uint8_t { NotTried, Yes, No };

// One host. What is empty could not be found out.
struct HostCheck {
  HostIndex index;
  std::string name;
  std::uint32_t slots = 0;
  std::uint32_t ranks = 0;
  std::vector<Error> faults;          // why no worker could be started there; empty: they could
  std::vector<std::string> warnings;  // clauses of its agent
  std::string address;                // at which the other hosts reach it
  Reaches reaches_first = Reaches::NotTried;
  std::optional<Duration> round_trip;    // of a message to its agent, the quickest
  std::optional<Duration> clock_offset;  // its time of day less ours
  std::optional<plan::HostFacts> facts;
  std::vector<MpiOffer> mpi{};  // of each program
  std::string pmix{};           // the library that would serve the ranks, and its version; empty: none
};

struct CheckReport {
  std::vector<HostCheck> hosts;  // those with ranks, in host order: the first has rank 0
  std::uint32_t world_size = 0;
  std::string host_source;
  std::string master_address;  // at which all hosts reach rank 0's; empty: there is none
  std::vector<std::string> command;
  std::optional<int> stop_signal;                  // the user did not wait for the end
  std::vector<std::vector<std::string>> machines;  // each with the names of one machine, which several hosts are
};

// As judge(): exit status 0 when the job would start, and one line for each kind of fault.
Verdict judge(const CheckReport& report);

// What would hurt, as lines that name their hosts; nothing that is a fault.
std::vector<std::string> check_warnings(const CheckReport& report);

// A line for each host; where there are many, hosts that are alike share one, with the worst of what differs. At most
// 120 columns where names are short. Ends with a newline.
std::string check_table(const CheckReport& report);

// One object on one line, with what judge() and check_warnings() say.
std::string check_json(const CheckReport& report);

}  // namespace sml::report

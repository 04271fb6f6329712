// The findings of --check about each host, in a table or as JSON: its description, the faults that would keep the job
// from starting, and warnings. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/core/strong.h"
#include "common/plan/host_facts.h"
#include "launcher/report/hosts/mpi_offer.h"
#include "launcher/report/outcome/job_outcome.h"

namespace sml::report {

// Whether a host could connect to rank 0's host.
enum class Reaches : std::uint8_t { NotTried, Yes, No };

// How much of a host was checked. NotCalled: the host was to call, and had not when the check ended. Interrupted: its
// answer was still missing when the check ended.
enum class Looked : std::uint8_t { Whole, NotCalled, Interrupted };

// One host. Fields are empty if the value could not be determined.
struct HostCheck {
  HostIndex index;
  std::string name;
  std::uint32_t slots = 0;
  std::uint32_t ranks = 0;
  std::vector<Error> faults;  // why no worker could be started there
  Looked looked = Looked::Whole;
  std::vector<std::string> warnings;  // parts of sentences, most from its agent
  std::string address;                // the address at which the other hosts can, or probably can, connect to it
  Reaches reaches_first = Reaches::NotTried;
  std::optional<Duration> round_trip;    // the shortest of several pings to its agent
  std::optional<Duration> clock_offset;  // its time of day minus this machine's
  std::optional<plan::HostFacts> facts;
  std::vector<MpiOffer> mpi{};  // for each of its programs
  std::string pmix{};           // the libpmix that would serve the ranks, and its version; empty: none
};

// Whether workers can start there: the host was checked as a whole, and has no fault.
bool is_ready(const HostCheck& host);

struct CheckReport {
  // those with ranks, in host order (the first has rank 0), then hosts without ranks that have not called
  std::vector<HostCheck> hosts;
  std::uint32_t world_size = 0;
  std::string host_source;
  std::string master_address;  // at which all hosts can connect to rank 0's host; empty: none
  std::vector<std::string> command;
  std::optional<int> stop_signal;                  // the signal by which the user stopped the check
  std::vector<std::vector<std::string>> machines;  // groups of host names that are one machine
};

// The outcome, as judge(const AttemptFacts&) decides that of a job: exit status 0 if the job would start; one line for
// each kind of fault.
JobOutcome judge(const CheckReport& report);

// Lines that warn of problems other than faults, and name their hosts.
std::vector<std::string> check_warnings(const CheckReport& report);

// One line for each host; with many hosts, similar ones share a line, which shows the worst of their values. At most
// 120 columns if names are short. If these are more than the terminal's `columns`, limits and space have a second
// table, and both are cut to `columns`. Lines about programs and MPI follow, of any length. Ends with a newline.
std::string check_table(const CheckReport& report, std::optional<std::size_t> columns = std::nullopt);

// One object on one line, including the results of judge() and check_warnings().
std::string check_json(const CheckReport& report);

}  // namespace sml::report

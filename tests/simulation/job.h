// One job that a seed decides: its hosts, its workers, what befalls them; and what must be true of it in the end.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <sys/mman.h>

#include <boost/asio/any_io_executor.hpp>

#include "common/os/fd.h"
#include "common/plan/launch_plan.h"
#include "launcher/hosts/aliases.h"
#include "launcher/options/job_options.h"
#include "launcher/transport/agent_image.h"
#include "launcher/transport/agent_launcher.h"
#include "tests/simulation/host.h"
#include "tests/simulation/reader.h"
#include "tests/simulation/world.h"

namespace sml::sim {

// Why a job may end as it does.
struct Cause {
  TimePoint first;  // it may have counted from then on
  TimePoint last;   // it must have counted by then; max: it may never
  int exit_code = 0;
  std::string words;
};

inline constexpr int kOfRootCause = 77;  // the exit status of Job::root_cause_, and of no other rank

class Job {
 public:
  // The world is there already; `image` outlives the job.
  Job(std::uint64_t seed, const transport::AgentImage& image);
  ~Job();

  // Runs it, and all that is left of it, to the end. What was wrong is with the world.
  void run();

  // What AgentLauncher, the agents and the launcher ask.
  std::shared_ptr<Link> link_to(HostId id, const boost::asio::any_io_executor& loop, const std::string& mark,
                                LinkPurpose purpose);
  enum class Address : std::uint8_t { OfAHost, OfADeadHost, OfNoHost };
  Address whose(const std::string& address) const;
  void add_host(const std::string& name) { names_.push_back(name); }  // of the next id
  void attempt_begins(std::uint32_t number);                          // a worker of it is started; from 0
  void stop_launcher();                                               // returns when it goes on
  void at_moment(const char* name);

 private:
  void make_hosts();
  void make_options();
  void make_scripts();
  static WorkerScript make_script(Dice& dice);
  WorkerScript script_of(Rank rank, std::uint32_t attempt);
  void make_other_name();
  Result<plan::LaunchPlan> plan_anew(std::span<const hosts::MachineNames> machines);
  void make_changes();
  void make_cascade();
  void make_fates();
  static void take_longer(WorkerScript& script, Dice& dice);
  void change_list();
  void make_resets();
  void befall(std::size_t kind);
  void reset_links(Host& host);
  bool can_come_back(const Host& host) const;
  void befall_host(Host& host, std::size_t kind);
  void signal_launcher(int signo);

  void run_launcher();
  void check_left();
  void check_restarts();
  void check_exit();
  void check_exit_of_changing();
  void check_output();
  void check_output_of_changing();
  bool all_ended_well() const;
  bool all_ended() const;
  bool all_started() const;
  bool all_left() const;  // no process, no agent
  std::vector<Cause> causes() const;
  const RankTruth* truth(Rank rank) const;
  const Host& host_of(Rank rank) const { return *hosts_[plan_.map.ranks[rank.value()].host.value()]; }
  Host& host_of(Rank rank) { return *hosts_[plan_.map.ranks[rank.value()].host.value()]; }

  std::uint64_t seed_;
  Dice dice_;
  const transport::AgentImage& image_;
  os::UniqueFd program_{::memfd_create("train", MFD_CLOEXEC)};  // one that agents find; nothing executes it
  plan::LaunchPlan plan_;
  JobOptions options_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::vector<std::string> names_;  // by HostId
  // Hosts come and go, by a file that is watched.
  struct Changes {
    explicit Changes(std::uint64_t seed) : dice(seed) {}
    ~Changes();
    Dice dice;
    std::string path;
    std::set<std::string> listed;
  };
  std::optional<Changes> changes_;
  std::optional<Rank> root_cause_;     // of a failure that others see before it ends; nothing else befalls the job
  std::vector<WorkerScript> scripts_;  // by rank
  std::unique_ptr<Reader> reader_;
  std::vector<Cause> befallen_;
  std::uint32_t attempt_ = 0;
  bool launcher_runs_ = false;
  bool stands_still_ = false;
  bool stood_still_ = false;
  bool stood_still_at_start_ = false;  // ... before all workers ran
  bool killed_ = false;
  int signals_ = 0;
  std::optional<int> exit_code_;
  std::uint64_t armed_moment_ = 0;  // at which moments something befalls
  std::uint64_t armed_visit_ = 0;
  bool sprung_ = false;
};

extern Job* job;

}  // namespace sml::sim

// The world that the programs under simulation live in: its time, what happens next, and whose turn it is.
//
// kernel.cc puts it where the programs ask for the time, and where they wait. So their own loops, timers and pipes are
// what runs, and nothing of them knows. One thread; one world at a time.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/core/clock.h"

namespace sml::sim {

// Numbers that a seed decides (splitmix64).
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::uint64_t below(std::uint64_t end) { return next() % end; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  Duration up_to(Duration most) {
    return Duration(static_cast<Duration::rep>(below(static_cast<std::uint64_t>(most.count()) + 1)));
  }
  Duration between(Duration least, Duration most) { return least + up_to(most - least); }

 private:
  std::uint64_t state_;
};

// A program that waits by giving its turn back.
class Process {
 public:
  virtual ~Process() = default;
  virtual void turn() = 0;

  bool ready = true;               // it has something to do
  bool frozen = false;             // gets no turn
  std::optional<TimePoint> wakes;  // by itself; true time
  Duration clock_offset{};         // of its machine's clock
};

// Thrown where a program waits: the turn is over.
struct WouldBlock {};
// Thrown where the launcher waits, when it has been killed.
struct Killed {};
// A rule that the programs have broken, in words; or the world's limit.
struct Broken {
  std::string what;
};

class World {
 public:
  explicit World(std::uint64_t seed) : dice(seed) {}

  TimePoint now() const { return now_; }
  void at(TimePoint when, std::function<void()> what);
  void after(Duration delay, std::function<void()> what) { at(now_ + delay, std::move(what)); }

  void add(Process& process) { processes_.push_back(&process); }
  void remove(const Process& process) { std::erase(processes_, &process); }
  Process* current() const { return current_; }  // null: the launcher, or the world itself
  void give_turn(Process& process);

  // Lets the next thing happen, unless that is later than `until`: then it is `until`, and false.
  bool go_on(TimePoint until);
  void run_for(Duration time);

  // Something rare goes on: more may befall now.
  void moment(const char* name) {
    if (at_moment) at_moment(name);
  }
  void note(const std::string& line);  // for the trace
  // Something that must not be. The first counts.
  void broken(const std::string& what);
  const std::string& fault() const { return fault_; }

  Dice dice;
  bool traced = false;
  bool launcher_killed = false;
  bool launcher_has_news = false;  // on its loop, which is not told of what its own thread puts there
  std::function<void(const char*)> at_moment;
  std::string plant;

 private:
  Process* next_ready();

  TimePoint now_{std::chrono::hours(1000)};
  std::uint64_t events_ = 0;
  std::map<std::pair<TimePoint, std::uint64_t>, std::function<void()>> queue_;
  std::vector<Process*> processes_;
  std::size_t next_process_ = 0;
  Process* current_ = nullptr;
  std::uint64_t steps_ = 0;
  std::string fault_;
};

// The one that is there; null: real time.
extern World* world;
extern int report_fd;  // what a person reads; 1 and 2 are sml-run's

std::string show_time(TimePoint at);

}  // namespace sml::sim

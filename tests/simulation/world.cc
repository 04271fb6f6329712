#include "tests/simulation/world.h"

#include <cstdio>

namespace sml::sim {

namespace {
constexpr Duration kLongest = std::chrono::hours(6);  // of virtual time
constexpr std::uint64_t kMostSteps = 3'000'000;
constexpr TimePoint kBegin{std::chrono::hours(1000)};
}  // namespace

World* world = nullptr;
int report_fd = 2;

std::uint64_t Dice::next() {
  state_ += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

std::string show_time(TimePoint at) {
  char text[32];
  std::snprintf(text, sizeof text, "%10.4f", std::chrono::duration<double>(at - kBegin).count());
  return text;
}

void World::at(TimePoint when, std::function<void()> what) {
  queue_.emplace(std::pair(std::max(when, now_), events_++), std::move(what));
}

void World::give_turn(Process& process) {
  Process* before = std::exchange(current_, &process);
  process.ready = false;
  process.wakes.reset();
  process.turn();
  current_ = before;
}

Process* World::next_ready() {
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    next_process_ = (next_process_ + 1) % processes_.size();
    Process* process = processes_[next_process_];
    if (process->ready && !process->frozen) return process;
  }
  return nullptr;
}

bool World::go_on(TimePoint until) {
  if (++steps_ > kMostSteps) throw Broken{"it takes too many steps"};
  if (Process* process = next_ready()) {
    give_turn(*process);
    return true;
  }
  Process* sleeper = nullptr;
  for (Process* process : processes_) {
    if (process->frozen || !process->wakes) continue;
    if (sleeper == nullptr || *process->wakes < *sleeper->wakes) sleeper = process;
  }
  const bool queued = !queue_.empty() && (sleeper == nullptr || queue_.begin()->first.first <= *sleeper->wakes);
  if (!queued && sleeper == nullptr && until == TimePoint::max()) throw Broken{"everybody waits for ever"};
  const TimePoint next = queued ? queue_.begin()->first.first : sleeper != nullptr ? *sleeper->wakes : until;
  now_ = std::max(now_, std::min(next, until));
  if (now_ - kBegin > kLongest) throw Broken{"it does not end"};
  if (next > until) return false;
  if (!queued && sleeper == nullptr) return false;
  if (queued) {
    const std::function<void()> what = std::move(queue_.begin()->second);
    queue_.erase(queue_.begin());
    what();
  } else {
    give_turn(*sleeper);
  }
  return true;
}

void World::run_for(Duration time) {
  const TimePoint end = now_ + time;
  while (go_on(end)) {
  }
}

void World::note(const std::string& line) {
  if (traced) dprintf(report_fd, "%s  %s\n", show_time(now_).c_str(), line.c_str());
}

void World::broken(const std::string& what) {
  note("BROKEN: " + what);
  if (fault_.empty()) fault_ = what;
}

}  // namespace sml::sim

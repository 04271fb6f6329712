#include "common/os/side_thread.h"

#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <boost/asio/post.hpp>

namespace sml::os {

struct SideThread::Shared {
  struct Task {
    std::function<void()> work;
    std::function<void()> then;
  };
  std::mutex mutex;
  std::condition_variable changed;
  // Guarded by mutex.
  boost::asio::any_io_executor loop;
  std::deque<Task> tasks;  // the first is being done, unless it was just added
  bool left = false;       // by the owner; the loop may be gone
};

SideThread::SideThread(boost::asio::any_io_executor loop) : shared_(std::make_shared<Shared>()) {
  shared_->loop = std::move(loop);
}

SideThread::~SideThread() {
  const std::lock_guard lock(shared_->mutex);
  shared_->left = true;
  shared_->loop = {};
  shared_->changed.notify_all();
}

// Blocks all signals on the new thread: they are for the loop's thread.
bool SideThread::start() {
  if (started_) return true;
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread([shared = shared_] { run(shared); }).detach();
    started_ = true;
  } catch (const std::system_error&) {
    started_ = false;  // no more processes or memory
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started_;
}

void SideThread::post(std::function<void()> work, std::function<void()> then) {
  auto guarded = [then = std::move(then), alive = std::weak_ptr<const char>(alive_)] {
    if (!alive.expired()) then();
  };
  if (!start()) {
    work();
    return boost::asio::post(shared_->loop, std::move(guarded));
  }
  const std::lock_guard lock(shared_->mutex);
  shared_->tasks.push_back({std::move(work), std::move(guarded)});
  shared_->changed.notify_all();
}

void SideThread::run(const std::shared_ptr<Shared>& shared) {
  std::unique_lock lock(shared->mutex);
  for (;;) {
    shared->changed.wait(lock, [&] { return !shared->tasks.empty() || shared->left; });
    if (shared->tasks.empty()) return;
    const std::function<void()> work = std::move(shared->tasks.front().work);
    lock.unlock();
    work();
    lock.lock();
    if (!shared->left) boost::asio::post(shared->loop, std::move(shared->tasks.front().then));
    shared->tasks.pop_front();
    shared->changed.notify_all();
  }
}

bool SideThread::finish(Duration limit) {
  std::unique_lock lock(shared_->mutex);
  const auto done = [this] { return shared_->tasks.empty(); };
  if (limit != Duration::max()) return shared_->changed.wait_for(lock, limit, done);
  shared_->changed.wait(lock, done);
  return true;
}

}  // namespace sml::os

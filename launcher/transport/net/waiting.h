// Bounded waits in the log-in threads: each has a deadline, and the loop thread can end any of them at once.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>

#include <sys/types.h>

#include "common/core/clock.h"
#include "common/os/fd.h"

namespace sml::net {

// Set once by the loop thread, read by the log-in thread. Both threads share its ownership, so neither can outlive it.
// Thread-safe.
class CancelToken {
 public:
  CancelToken();
  CancelToken(const CancelToken&) = delete;
  CancelToken& operator=(const CancelToken&) = delete;

  void cancel();
  bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }
  int fd() const { return event_.get(); }  // readable once cancelled; -1 if the system had no descriptor left

 private:
  friend class ShutdownOnCancel;
  friend class KillOnCancel;
  void guard(int fd);             // cancel() will shut `fd` down; -1: nothing
  void guard_group(pid_t group);  // cancel() will kill the process group; 0: nothing

  std::atomic<bool> cancelled_{false};
  os::UniqueFd event_;
  std::mutex mutex_;
  int guarded_ = -1;         // under mutex_
  pid_t guarded_group_ = 0;  // likewise
};

// For a library call that blocks on a socket without a time limit: cancel() shuts `fd` down while this object lives.
// The caller keeps ownership of `fd`, which must outlive this.
class ShutdownOnCancel {
 public:
  ShutdownOnCancel(CancelToken& token, int fd) : token_(token) { token_.guard(fd); }
  ~ShutdownOnCancel() { token_.guard(-1); }
  ShutdownOnCancel(const ShutdownOnCancel&) = delete;
  ShutdownOnCancel& operator=(const ShutdownOnCancel&) = delete;

 private:
  CancelToken& token_;
};

// For a child process that the caller waits for: cancel() kills its process group while this object lives. The caller
// must not reap the child meanwhile, since its number could then belong to another process.
class KillOnCancel {
 public:
  KillOnCancel(CancelToken& token, pid_t group) : token_(token) { token_.guard_group(group); }
  ~KillOnCancel() { token_.guard_group(0); }
  KillOnCancel(const KillOnCancel&) = delete;
  KillOnCancel& operator=(const KillOnCancel&) = delete;

 private:
  CancelToken& token_;
};

enum class Waited { Ready, TimedOut, Cancelled, Flooded };  // Flooded: the far side has sent more than is allowed

// Waits until `fd` has one of the poll(2) `events` (or an error, or the end of the connection). A negative `fd` waits
// for the deadline only. Never returns Flooded: that is for callers that check bytes_received().
Waited wait_for(int fd, short events, TimePoint deadline, const CancelToken& cancel);

// Makes the kernel acknowledge the next bytes of this TCP connection at once (TCP_QUICKACK). The kernel resets this:
// call before every wait. No effect on other sockets.
void arm_quick_ack(int fd);

// The number of bytes received on this TCP connection, read or not; 0 for other sockets.
std::uint64_t bytes_received(int fd);

}  // namespace sml::net

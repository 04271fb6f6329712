// One connection of a host on which a step has started this program (step_task.h), as the launcher sees it. The
// launcher can have the host start one program, the agent or a helper, and exchanges bytes with it.
#pragma once
#include <memory>
#include <span>
#include <string>

#include "common/core/error.h"
#include "common/os/fd.h"
#include "launcher/dialin/coordinator/connection_limiter.h"
#include "launcher/dialin/link.h"
#include "launcher/dialin/messages.h"

namespace sml::dialin {

class StepCaller;

// Callbacks for the owner of a StepCaller. Called on the loop's thread.
class StepCallerOwner {
 public:
  virtual ~StepCallerOwner() = default;
  // The host has proved the key and sent its Introduction, of this protocol version.
  virtual void caller_introduces(StepCaller& caller) = 0;
  // The connection has ended. Called once, unless abandon() was called; the caller may be destroyed, but not from
  // within this call.
  virtual void caller_is_gone(StepCaller& caller) = 0;
};

// Callbacks for the owner of the program that is started on the host. Called on the loop's thread.
class StepProgramEvents {
 public:
  virtual ~StepProgramEvents() = default;
  // Bytes of its standard output.
  virtual void program_says(std::span<const char> bytes) = 0;
  // The last call. `text` is empty if it ended with status 0, as agents do after their last message; else the reason.
  virtual void program_ended(const std::string& text) = 0;
  // The last call: the connection broke; the program may still run.
  virtual void program_lost(const Error& why) = 0;
};

// All calls and callbacks are on the loop's thread.
class StepCaller final : public std::enable_shared_from_this<StepCaller>, private LinkEvents {
 public:
  // The numeric addresses of the connection; empty if unknown.
  struct Ends {
    std::string near;
    std::string far;
  };
  // `owner` outlives this.
  StepCaller(StepCallerOwner& owner, std::shared_ptr<Link> link, Ends ends, ConnectionLimiter::Id id);
  ~StepCaller() override { abandon(); }

  void start() { link_->start(*this); }
  ConnectionLimiter::Id id() const { return id_; }
  const Ends& ends() const { return ends_; }
  const std::string& host() const { return host_; }  // as its Introduction names it; empty before that
  bool is_gone() const { return gone_; }

  // Has the host run `script` by /bin/sh. `events` gets all events of that program, and must stay valid until the last
  // of them or abandon(). Call once.
  void begin(StepProgramEvents& events, const std::string& script);
  // Whether begin() may be called.
  bool is_idle() const { return !gone_ && !host_.empty() && events_ == nullptr && !begun_; }
  // Sends bytes to the standard input of the program, and ends that input.
  void send(std::string_view bytes);
  void end_input() { link_->send(encode(ToPeer(EndInput{}))); }
  std::size_t unsent() const { return link_->unsent(); }
  // Sends JobEnd: the host ends its part. The connection ends then, and caller_is_gone() follows.
  void dismiss();
  // Sends the refusal, which ends the host's part, too.
  void refuse(const Refused& refused);
  // Closes the connection; no further callback.
  void abandon();

 private:
  void link_proved() override {}
  void link_bytes(std::span<const char> bytes) override;
  void link_closed(const Error& why) override;
  void leave(const Error& why);
  bool handle(const ToCoordinator& message);

  StepCallerOwner& owner_;
  std::shared_ptr<Link> link_;
  Ends ends_;
  ConnectionLimiter::Id id_;
  FrameReader<ToCoordinator> reader_;
  std::string host_;
  StepProgramEvents* events_ = nullptr;  // null: no program was started, or its last event was sent
  bool begun_ = false;                   // begin() was called
  bool gone_ = false;
};

}  // namespace sml::dialin

// A host that a step has started and that calls, as the launcher sees it: one connection.
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

class StepCallerOwner {
 public:
  virtual ~StepCallerOwner() = default;
  virtual void caller_introduces(StepCaller& caller) = 0;
  // Called once, unless abandon() was; the caller may be destroyed, but not from within this call.
  virtual void caller_is_gone(StepCaller& caller) = 0;
};

// Callbacks for whoever has the program that is started on the host.
class StepProgramEvents {
 public:
  virtual ~StepProgramEvents() = default;
  virtual void program_says(std::span<const char> bytes) = 0;
  // The last call. `text` is empty if it ended with status 0, as agents do after their last word.
  virtual void program_ended(const std::string& text) = 0;
  virtual void program_lost(const Error& why) = 0;
};

// One thread, the loop's.
class StepCaller final : public std::enable_shared_from_this<StepCaller>, private LinkEvents {
 public:
  struct Ends {
    std::string near;
    std::string far;
  };
  // `owner` outlives it.
  StepCaller(StepCallerOwner& owner, std::shared_ptr<Link> link, Ends ends, ConnectionLimiter::Id id);
  ~StepCaller() override { abandon(); }

  void start() { link_->start(*this); }
  ConnectionLimiter::Id id() const { return id_; }
  const Ends& ends() const { return ends_; }
  const std::string& host() const { return host_; }  // as it says; empty before it has
  bool is_gone() const { return gone_; }

  // Starts the program for `events`, which gets all further events until release().
  void begin(StepProgramEvents& events, const std::string& script);
  bool is_idle() const { return !gone_ && !host_.empty() && events_ == nullptr && !begun_; }
  void send(std::string_view bytes);
  void end_input() { link_->send(encode(ToPeer(EndInput{}))); }
  std::size_t unsent() const { return link_->unsent(); }
  // The host is to leave.
  void dismiss();
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
  StepProgramEvents* events_ = nullptr;  // null: nothing was started, or nobody is interested
  bool begun_ = false;
  bool gone_ = false;
};

}  // namespace sml::dialin

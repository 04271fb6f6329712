// One caller, as the head has it: who it says to be, its place in the job, and its connection, which may break and be
// made again.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "launcher/dialin/conversation.h"
#include "launcher/dialin/door.h"
#include "launcher/dialin/link.h"
#include "launcher/dialin/messages.h"
#include "launcher/dialin/seating.h"
#include "launcher/launch/agent_transport.h"

namespace sml::dialin {

class Guest;

// Where a host and its session in the job meet, whoever comes first.
struct Seat {
  Guest* guest = nullptr;                     // null: not here
  launch::TransportEvents* events = nullptr;  // null: the session has not begun, or is over
  std::string mark;
  bool begun = false;                          // its agent has been asked for
  std::optional<Error> why_not{};              // it has called, and cannot take part
  TimePoint said_again_at = TimePoint::min();  // AgentTransport::said_again_at

  bool is_out() const { return begun && events == nullptr; }  // its guest only waits for the end
  void begin();
  void tell_end(const Error& why) {
    if (launch::TransportEvents* to = std::exchange(events, nullptr)) to->transport_closed(why);
  }
};

// What its head does with a guest.
class GuestOwner {
 public:
  virtual ~GuestOwner() = default;
  // It has proved the key and says who it is.
  virtual void guest_introduces(Guest& guest, const Introduction& introduction) = 0;
  // It has been here before.
  virtual void guest_comes_back(Guest& guest, const ComeBack& return_of) = 0;
  virtual void guest_stops(const std::string& host, int signo) = 0;
  // It has broken off before it has said who it is.
  virtual void guest_left_unknown(const Guest& guest, const Error& why) = 0;
  // Its connection has ended; once for each guest.
  virtual void guest_is_off(const Guest& guest) = 0;
  // It can be forgotten, but not from within this call.
  virtual void guest_is_gone(const Guest& guest) = 0;
};

// One thread, the loop's.
class Guest final : public std::enable_shared_from_this<Guest>, private LinkEvents {
 public:
  // All of it outlives the guest. `fd`: of the link. `longest`: for which a connection that has broken is waited for.
  Guest(const boost::asio::any_io_executor& loop, GuestOwner& owner, std::shared_ptr<Link> link, int fd, Door::Id id,
        Duration longest);
  ~Guest() override { link_->abandon(); }
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;

  Door::Id id() const { return id_; }
  // Of its connection, numeric; empty where unknown.
  struct Ends {
    std::string near;
    std::string far;
  };
  const Ends& ends() const { return ends_; }
  // Nobody will hear of it any more.
  bool gone() const { return gone_; }
  // It is waited for, as it may come back.
  bool is_broken() const { return broken_ && !gone_; }
  // Nothing has been heard of it for as long as a connection that has broken is waited for at most.
  bool is_silent() const { return Clock::now() - heard_at_ >= longest_; }

  // ---- before it has a place

  // It is one of ours, as far as it says, and may take its time now.
  void hear_out() { link_->known(); }
  // For a place, until the others are here.
  void wait(const Introduction& introduction) {
    waits_ = Unplaced{introduction.wished, ends_.far};
    share_ = introduction.share;
  }
  const plan::HostShare& share() const { return share_; }
  const std::optional<Unplaced>& waits() const { return waits_; }
  // For a place that there is not yet.
  void wait_for_more() { is_late_ = true; }
  bool is_late() const { return is_late_; }
  void turn_away(const Refused& refused);
  // For one that came later.
  void give_way();

  // ---- with a place

  void take(std::shared_ptr<Seat> seat, Welcome welcome, const std::string& host);
  // Null: it has not been let in, or has come back as another.
  std::shared_ptr<Seat> seat() const { return stay_ ? stay_->seat : nullptr; }
  const std::string& host() const { return stay_->host; }
  bool has(std::string_view ticket) const { return stay_ && wire::same_secret(stay_->ticket, ticket); }
  void send(const ToHost& message) { say(encode(message)); }
  void send_bytes(std::string_view bytes) {
    send_in_pieces(bytes, [this](Bytes piece) { say(encode(ToHost(std::move(piece)))); });
  }
  std::size_t unsent() const { return broken_ ? 0 : link_->unsent(); }
  // It is told nothing more.
  void finish();
  // The one that has been here before: we are in its place from now on. False: what it has not heard is not kept.
  [[nodiscard]] bool go_on_for(Guest& before, std::uint64_t heard);

 private:
  // What stays when its connection is made again.
  struct Stay {
    std::shared_ptr<Seat> seat;
    std::string host;
    std::string ticket;
    Conversation conversation = {};
    bool finishing = false;
  };

  void link_proved() override {}
  void link_bytes(std::span<const char> bytes) override;
  void link_closed(const Error& why) override;
  void say(const std::string& frame);
  void leave(const Error& why);

  void handle(const Introduction& m);
  void handle(const ComeBack& m);
  void handle(const Heard& m);
  void handle(const Alive&) {}
  void handle(const Bytes& m);
  void handle(const AgentEnded& m);
  void handle(const StopAsked& m);

  GuestOwner& owner_;
  std::shared_ptr<Link> link_;
  Door::Id id_;
  FrameReader<ToHead> reader_;
  Ends ends_;
  TimePoint called_at_ = Clock::now();
  TimePoint heard_at_ = called_at_;
  Duration longest_;
  Duration patience_{};
  boost::asio::steady_timer patience_timer_;
  std::optional<Stay> stay_;  // nothing: it has not been let in
  std::optional<Unplaced> waits_;
  plan::HostShare share_;
  bool is_late_ = false;
  bool introduced_ = false;
  bool broken_ = false;  // it is waited for
  bool gone_ = false;
};

}  // namespace sml::dialin

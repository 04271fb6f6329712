// A peer's connection to the coordinator that survives breaks: once the coordinator has accepted this host, a broken
// connection is made again, and bytes that were lost in transit are sent again.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/os/fd.h"
#include "launcher/dialin/link.h"
#include "launcher/dialin/messages.h"
#include "launcher/dialin/resume_buffer.h"
#include "launcher/transport/names/addresses.h"
#include "launcher/transport/net/waiting.h"

namespace sml::dialin {

// Called on the loop's thread, never from within a call of the owner. A callback may begin another connection or end
// this one.
class CoordinatorConnectionOwner {
 public:
  virtual ~CoordinatorConnectionOwner() = default;
  // The coordinator has proved that it has the key and now expects an Introduction.
  virtual void call_is_proved() = 0;
  virtual void call_brings(const ToPeer& message) = 0;
  // The connection could not be made, or has ended for good.
  virtual void call_ends(const Error& why) = 0;
};

struct CoordinatorEndpoint {
  std::string host;  // name or address
  std::uint16_t port = 0;
};

// One thread. Operations under way keep the loop alive after the destructor, and then do nothing. A name look-up may go
// on in a thread that cannot be ended.
class CoordinatorConnection final {
 public:
  // Operations under way share `loop`; `credentials` and `owner` outlive this. Once the coordinator has accepted this
  // host, the connection is given up after `heartbeat_timeout` without a byte from it.
  CoordinatorConnection(std::shared_ptr<boost::asio::io_context> loop, CoordinatorEndpoint callee,
                        Duration heartbeat_timeout, Credentials& credentials, CoordinatorConnectionOwner& owner);
  ~CoordinatorConnection();
  CoordinatorConnection(const CoordinatorConnection&) = delete;
  CoordinatorConnection& operator=(const CoordinatorConnection&) = delete;

  // Starts a new connection; abandons an existing one.
  void begin();
  // Sends a message before agree(): the Introduction, and what cannot wait until then. Does not survive a break.
  void introduce(const ToCoordinator& message);
  // The coordinator has accepted this host: from now on the connection is made again after a break. `ticket` identifies
  // this host then.
  void agree(const std::string& ticket);
  // Sends a message; only after agree(). It is delivered also if the connection breaks.
  void send(const ToCoordinator& message);
  // The last message has been received: acknowledges it to the coordinator, and does not reconnect from now on.
  void say_goodbye();
  // Sends what is queued, then shuts down the sending direction; does not reconnect.
  void finish();
  // Closes everything; no further callback.
  void abandon();

  // The numeric address of the coordinator; empty if it has never been reached.
  const std::string& peer() const { return peer_; }

 private:
  class Way;
  enum class State : std::uint8_t {
    Over,
    Made,    // connected or connecting, before agree()
    Lasts,   // connected, after agree()
    Broken,  // reconnecting
    Ending,  // connected, and will not be made again
  };

  void dial(Duration limit);
  void dialled(Result<os::UniqueFd> socket);
  void proved(const Way& way);
  void came(Way& way, std::span<const char> bytes);
  void closed(const Way& way, const Error& why);

  void hear(Way& way, const ToPeer& message, std::size_t size);
  void go_on(std::uint64_t heard);
  void come_back();
  void broke(const Error& why);
  void dial_again();
  void dial_later();
  void give_up(const Error& why);
  void drop(std::unique_ptr<Way> way);
  void watch();
  void look();

  std::shared_ptr<boost::asio::io_context> loop_;
  std::unique_ptr<boost::asio::thread_pool> pool_ = std::make_unique<boost::asio::thread_pool>(1);
  std::shared_ptr<net::CancelToken> cancel_ = std::make_shared<net::CancelToken>();
  CoordinatorEndpoint callee_;
  Duration heartbeat_timeout_;
  Credentials& credentials_;
  CoordinatorConnectionOwner& owner_;
  State state_ = State::Over;
  std::unique_ptr<Way> now_;
  std::unique_ptr<Way> next_;  // the replacement that is being set up
  bool dialling_ = false;
  std::string peer_;
  std::optional<names::Address> reached_;  // the coordinator's address at the last connection
  ResumeBuffer conversation_;
  std::string ticket_;
  TimePoint dialled_at_;
  Duration took_{};
  TimePoint heard_at_;
  TimePoint said_at_;
  Error why_{ErrorKind::Lost, ""};  // why the connection broke
  boost::asio::steady_timer limit_;
  boost::asio::steady_timer pause_;
  boost::asio::steady_timer watch_;
};

}  // namespace sml::dialin

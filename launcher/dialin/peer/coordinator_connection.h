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

// Callbacks of a CoordinatorConnection ("call" in their names). Called on the loop's thread, never from within a call
// of the owner into the connection. A callback may call begin() or abandon().
class CoordinatorConnectionOwner {
 public:
  virtual ~CoordinatorConnectionOwner() = default;
  // The coordinator has proved that it has the key and now expects an Introduction.
  virtual void call_is_proved() = 0;
  // A message of the coordinator has come. Each comes once, also if the connection breaks.
  virtual void call_brings(const ToPeer& message) = 0;
  // The connection could not be made, or has ended for good; no further callback until begin(). Kinds as
  // LinkEvents::link_closed(), those of a failed connection, or Protocol.
  virtual void call_ends(const Error& why) = 0;
};

struct CoordinatorEndpoint {
  std::string host;  // name or address
  std::uint16_t port = 0;
};

// All calls are on the loop's thread. Operations that are pending at the destructor keep the io_context alive, and do
// nothing when they end. A name look-up may still be running on a thread that cannot be stopped.
class CoordinatorConnection final {
 public:
  // Pending operations share `loop`; `credentials` and `owner` outlive this. After agree() the connection is given up
  // when the coordinator has sent no byte for `heartbeat_timeout`.
  CoordinatorConnection(std::shared_ptr<boost::asio::io_context> loop, CoordinatorEndpoint callee,
                        Duration heartbeat_timeout, Credentials& credentials, CoordinatorConnectionOwner& owner);
  ~CoordinatorConnection();
  CoordinatorConnection(const CoordinatorConnection&) = delete;
  CoordinatorConnection& operator=(const CoordinatorConnection&) = delete;

  // Starts a new connection, with a new message stream; abandons an existing one.
  void begin();
  // Sends a message before agree(): the Introduction, or a StopAsked, which cannot wait. The message is lost if the
  // connection breaks.
  void introduce(const ToCoordinator& message);
  // The coordinator has accepted this host (Welcome): from now on the connection is made again after a break. `ticket`:
  // Welcome::ticket, which identifies this host then.
  void agree(const std::string& ticket);
  // Sends a message; only after agree(). If the connection breaks, it is sent again on the next one.
  void send(const ToCoordinator& message);
  // The last message, JobEnd, has been received: acknowledges it to the coordinator. Does not reconnect from now on.
  void say_goodbye();
  // Sends what is queued, then shuts down the sending direction; does not reconnect.
  void finish();
  // Closes everything; no further callback.
  void abandon();

  // The numeric address of the coordinator; empty if it has never been reached.
  const std::string& peer() const { return peer_; }

 private:
  class Way;  // one connection
  enum class State : std::uint8_t {
    Over,    // no connection
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

  void handle(Way& way, const ToPeer& message, std::size_t size);
  void resume(std::uint64_t received);
  void send_reconnect();
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
  std::unique_ptr<Way> now_;   // null: not connected
  std::unique_ptr<Way> next_;  // a replacement that is being set up; null: none
  bool dialling_ = false;      // a look-up or connect() is pending on the thread of pool_
  std::string peer_;
  std::optional<names::Address> reached_;  // the coordinator's address at the last connection
  ResumeBuffer conversation_;              // the message stream in both directions
  std::string ticket_;
  TimePoint dialled_at_;             // when the last connect began
  Duration took_{};                  // from then to the proof of the key, for the first connection
  TimePoint received_at_;            // when the last bytes came
  TimePoint sent_at_;                // when the last message was sent
  Error why_{ErrorKind::Lost, ""};   // why the connection broke
  boost::asio::steady_timer limit_;  // the longest wait for a new connection after a break
  boost::asio::steady_timer pause_;  // between two attempts to reconnect
  boost::asio::steady_timer watch_;  // for silence of the coordinator, and for the next Alive
};

}  // namespace sml::dialin

// A host's connection to the head, as one that does not break: where it does, once the head has let the host in, the
// head is called again, and what was on its way is said once more.
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
#include "launcher/dialin/conversation.h"
#include "launcher/dialin/link.h"
#include "launcher/dialin/messages.h"
#include "launcher/names/addresses.h"
#include "launcher/net/waiting.h"

namespace sml::dialin {

// Told on the loop's thread, never from within a call of the owner; it may begin another call, or end this one.
class CallOwner {
 public:
  virtual ~CallOwner() = default;
  // The head has the key, and is to be told who calls.
  virtual void call_is_proved() = 0;
  virtual void call_brings(const ToHost& message) = 0;
  // It could not be made, or has ended for good.
  virtual void call_ends(const Error& why) = 0;
};

struct Callee {
  std::string host;  // name or address
  std::uint16_t port = 0;
};

// One thread. What is under way when it is destroyed keeps the loop, and does nothing more; a name look-up may go on in
// a thread that cannot be ended.
class Call final {
 public:
  // `loop`, kept by what is under way; `credentials` and `owner` outlive this. Once the head has let us in it may be
  // silent for `heartbeat_timeout`.
  Call(std::shared_ptr<boost::asio::io_context> loop, Callee callee, Duration heartbeat_timeout,
       Credentials& credentials, CallOwner& owner);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Anew, in the place of one that there may be.
  void begin();
  // Before it lasts: who calls, and what cannot wait until then.
  void introduce(const ToHead& message);
  // The head has let us in: from now on it lasts.
  void agree(const std::string& ticket);
  // Once it lasts.
  void send(const ToHead& message);
  // The last word has been heard: it need not be made again, and the head is told so.
  void say_goodbye();
  // Sends what there is, then ends our direction; it is not made again.
  void finish();
  // Nothing more is told.
  void abandon();

  // Of the head, numeric; empty: it has never been reached.
  const std::string& peer() const { return peer_; }

 private:
  class Way;
  enum class State : std::uint8_t {
    Over,
    Made,    // or being made
    Lasts,   // and is there
    Broken,  // and is being made again
    Ending,  // is there, and is not made again
  };

  void dial(Duration limit);
  void dialled(Result<os::UniqueFd> socket);
  void proved(const Way& way);
  void came(Way& way, std::span<const char> bytes);
  void closed(const Way& way, const Error& why);

  void hear(Way& way, const ToHost& message, std::size_t size);
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
  Callee callee_;
  Duration heartbeat_timeout_;
  Credentials& credentials_;
  CallOwner& owner_;
  State state_ = State::Over;
  std::unique_ptr<Way> now_;
  std::unique_ptr<Way> next_;  // in which it may go on
  bool dialling_ = false;
  std::string peer_;
  std::optional<names::Address> reached_;  // where the head was
  Conversation conversation_;
  std::string ticket_;
  TimePoint dialled_at_;
  Duration took_{};
  TimePoint heard_at_;
  TimePoint said_at_;
  Error why_{ErrorKind::Lost, ""};  // it broke
  boost::asio::steady_timer limit_;
  boost::asio::steady_timer pause_;
  boost::asio::steady_timer watch_;
};

}  // namespace sml::dialin

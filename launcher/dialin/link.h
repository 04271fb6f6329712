// One connection between a peer and the coordinator: TLS 1.3 (RFC 8446) with an external pre-shared key and no
// certificates. Both sides prove that they have the key; an ephemeral exchange (psk_dhe_ke) keeps past traffic secret
// from anyone who learns the key later. Carries bytes; knows no messages.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "common/core/error.h"
#include "common/os/fd.h"
#include "launcher/dialin/peer_proof.h"
#include "launcher/dialin/settings.h"

namespace sml::dialin {

// Which end of a link this process is. The coordinator accepts the connection, a host makes it.
enum class Side : std::uint8_t { Coordinator, Host };

// The TLS settings of one side: the key and, with a peer proof, threads on which the proof is made and checked.
// Outlives the links that are made with it.
class Credentials {
 public:
  virtual ~Credentials() = default;
};
// `proof`: what each side shows beyond the key; null: the key suffices. Error (Internal): the TLS library fails.
Result<std::unique_ptr<Credentials>> make_credentials(Side side, const Key& key, std::shared_ptr<PeerProof> proof);

// Callbacks of a link; on the loop thread, never from within a call of the owner into the link.
class LinkEvents {
 public:
  virtual ~LinkEvents() = default;
  // Both sides have proved the key and, with a peer proof, themselves. Bytes may be sent from now on.
  virtual void link_proved() = 0;
  // Received bytes. The view is valid during the call only.
  virtual void link_bytes(std::span<const char> bytes) = 0;
  // Last call. Auth: the other side has not proved the key or itself, or has rejected this side's proof. Timeout: the
  // handshake took more than 10 s or, on the coordinator's side, the peer has not identified itself within that time.
  // Lost: the connection has ended.
  virtual void link_closed(const Error& why) = 0;
};

// All calls are on the loop's thread. Pending operations keep the link alive: an owner that drops its pointer must call
// abandon() first.
class Link {
 public:
  virtual ~Link() = default;
  // Call once. `events` must outlive the link or its abandon().
  virtual void start(LinkEvents& events) = 0;
  // On the coordinator's side: the peer has identified itself. Cancels the 10 s limit, which otherwise goes on after
  // the handshake.
  virtual void known() = 0;
  // Queues; never blocks. Ignored before link_proved() and after finish().
  virtual void send(std::string bytes) = 0;
  // The number of bytes queued and not yet handed to the kernel.
  virtual std::size_t unsent() const = 0;
  // Sends what is queued, then shuts down the sending direction. Bytes may still arrive; link_closed() follows.
  virtual void finish() = 0;
  // Closes the connection at once; no further callback.
  virtual void abandon() = 0;
};

// Makes a link of a connected TCP socket, which it owns from then on. `credentials` must outlive the loop's handlers.
// The process must ignore SIGPIPE. Error (Io): the socket cannot be used.
Result<std::shared_ptr<Link>> make_link(const boost::asio::any_io_executor& loop, os::UniqueFd socket,
                                        Credentials& credentials);

}  // namespace sml::dialin

// One libssh session and its one channel. Every libssh call of the program is in ssh_session.cc (libssh 0.10.6 or
// newer), so that a newer libssh can be adopted in one place.
//
// Threads: one session is used by one thread at a time; it may be handed over. No call blocks, except
// authenticate_with_agent(), which waits for the ssh agent without a timeout (guard its socket with ShutdownOnCancel).
// Step::Again means: wait until the socket is readable (or writable, if wants_write()), then repeat the same call.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/core/error.h"

namespace sml::ssh {

enum class Step : std::uint8_t { Done, Again, Failed };
enum class AuthStep : std::uint8_t { Accepted, Again, Refused, Failed };  // Failed: the connection is unusable
enum class KeyState : std::uint8_t { Usable, Missing, Unreadable, Encrypted };

struct HostKey {
  std::string type;    // as in known_hosts: "ssh-ed25519"
  std::string base64;  // as in known_hosts
};

// "SHA256:..." of a key; empty if it cannot be parsed.
std::string fingerprint(const HostKey& key);

// Algorithms: comma separated, best first; empty: libssh's own.
struct SessionSetup {
  std::string user;
  std::string host_key_algorithms;
  std::string key_exchange;
  std::string ciphers;
  std::string macs;
  std::string public_key_algorithms;
};

// A private key read from a file; never prompts for a passphrase.
class PrivateKey {
 public:
  PrivateKey();
  ~PrivateKey();
  PrivateKey(const PrivateKey&) = delete;
  PrivateKey& operator=(const PrivateKey&) = delete;
  KeyState load(const std::string& path);
  // Adds the certificate of a file to a key that is Usable and has none. False: the file has no certificate, or one for
  // another key.
  bool certify(const std::string& path);

 private:
  friend class SshSession;
  struct State;
  std::unique_ptr<State> state_;
};

class SshSession {
 public:
  SshSession();
  ~SshSession();  // ends the connection without waiting
  SshSession(SshSession&&) noexcept;
  SshSession& operator=(SshSession&&) noexcept;

  // Takes a connected socket. libssh is inconsistent about closing its socket, so it gets a duplicate; `fd` stays the
  // caller's. Error: Io if descriptors or memory are exhausted; Config if libssh knows none of an option's names.
  static Result<SshSession> make(const SessionSetup& setup, int fd);

  // ---- log-in, in this order
  Step key_exchange();
  HostKey host_key() const;
  AuthStep authenticate_with_agent(
      int agent_fd);  // a connection to the ssh agent, which is duplicated; tries all its keys
  AuthStep authenticate(const PrivateKey& key);
  Step open_channel();
  Step execute(const std::string& command);

  // libssh's text of the last failure. Contains text from the remote host: escape it for display.
  std::string last_error() const;
  // True if libssh has bytes that wait for the socket to become writable, or still waits for the connection.
  bool wants_write() const;

  // ---- the running channel
  enum class Pumped : std::uint8_t { Idle, More, Failed };
  // Reads from the socket into output() and errors(), until the socket is empty (Idle) or about `budget` bytes were
  // read (More). Also sends buffered bytes.
  Pumped pump(std::size_t budget);
  // Bytes that have arrived on the channel (from open_channel() on) and were not yet taken by the caller.
  std::string& output();
  std::string& errors();

  // Returns how many of the bytes were taken (0: the window or the socket is full); negative on failure.
  std::ptrdiff_t write(std::string_view bytes);
  Step send_eof();

  bool at_end() const;                     // the remote side sends no more
  bool closed() const;                     // ... and has closed the channel
  std::optional<int> exit_status() const;  // of the command; nullopt: it has not arrived
  std::string exit_signal() const;         // "KILL"; empty: none

 private:
  struct State;
  explicit SshSession(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sml::ssh

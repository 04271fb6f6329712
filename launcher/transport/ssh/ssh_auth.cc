#include "launcher/transport/ssh/ssh_auth.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <span>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/core/text.h"
#include "common/os/fd.h"
#include "launcher/transport/ssh/certificates/agent_certificates.h"
#include "launcher/transport/ssh/certificates/certificate.h"
#include "launcher/transport/ssh/local_identity.h"
#include "launcher/transport/ssh/ssh_error.h"

namespace sml::ssh {
namespace {

// ---- number of the agent's keys, requested first: libssh would wait for a hung agent for ever

constexpr auto kAgentAnswer = std::chrono::seconds(5);

bool receive_all(int fd, std::span<char> into, TimePoint deadline, const net::CancelToken& cancel) {
  while (!into.empty()) {
    const auto n = ::recv(fd, into.data(), into.size(), 0);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return false;
    if (n > 0) into = into.subspan(static_cast<std::size_t>(n));
    if (n < 0 && net::wait_for(fd, POLLIN, deadline, cancel) != net::Waited::Ready) return false;
  }
  return true;
}

std::uint32_t number_at(const char* bytes) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = (value << 8) | static_cast<unsigned char>(bytes[i]);
  return value;
}

// The number of keys; nullopt if the agent does not reply as one.
std::optional<std::uint32_t> count_keys(int fd, TimePoint deadline, const net::CancelToken& cancel) {
  constexpr std::array<char, 5> kRequest{0, 0, 0, 1, 11};  // SSH2_AGENTC_REQUEST_IDENTITIES
  constexpr char kAnswer = 12;
  constexpr std::uint32_t kMaxAnswer = 256 * 1024;
  std::array<char, 9> head{};
  if (::send(fd, kRequest.data(), kRequest.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(kRequest.size())) return {};
  if (!receive_all(fd, head, deadline, cancel)) return {};
  const std::uint32_t length = number_at(head.data());
  if (head[4] != kAnswer || length < 5 || length > kMaxAnswer) return {};
  std::string rest(length - 5, '\0');
  if (!receive_all(fd, rest, deadline, cancel)) return {};
  return number_at(head.data() + 5);
}

os::UniqueFd connect_agent(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return {};
  std::memcpy(address.sun_path, path.data(), path.size());
  os::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd || ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return {};
  return fd;
}

// In the wire format; empty: the file has none.
std::string read_certificate(const std::string& path) {
  constexpr std::size_t kMost = 64 * 1024;
  const os::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd || !is_file_or_null(fd.get())) return {};
  std::string text(kMost, '\0');
  const auto n = ::read(fd.get(), text.data(), text.size());
  return n <= 0 ? std::string() : certificate_in(text.substr(0, static_cast<std::size_t>(n)));
}

// libssh writes to the agent without MSG_NOSIGNAL. The signal stays blocked on this thread, which belongs to the log-in
// pool.
void block_sigpipe() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

class Authenticator {
 public:
  Authenticator(SshSession& session, const LoginSettings& settings, TimePoint deadline, net::CancelToken& cancel,
                const WaitForSession& wait)
      : session_(session), settings_(settings), deadline_(deadline), cancel_(cancel), wait_(wait) {}

  Result<void> run() {
    if (settings_.key_login == KeyLogin::Forbidden) {
      return Error(ErrorKind::Auth, "the ssh config forbids login by key (PubkeyAuthentication no)");
    }
    if (try_all() && !broken_) return {};
    for (const std::string& file : settings_.certificates) {
      if (!used_certificates_.contains(file)) note(file, "a certificate of no key that can be used");
    }
    if (broken_) return *broken_;
    return offered_ == Offered::Something ? refused() : nothing_to_offer();
  }

 private:
  enum class Offered { Nothing, Something };

  Error refused() const {
    return Error(ErrorKind::Auth,
                 "the host refused the login of user " + show(settings_.session.user) + " (" + tried_ + ")")
        .with_hint(
            "put the public key into ~/.ssh/authorized_keys there, or name another key with --ssh-identity-file");
  }

  Error nothing_to_offer() const {
    return Error(ErrorKind::Auth, "there is no key to log in with" + (tried_.empty() ? "" : " (" + tried_ + ")"))
        .with_hint(advice_.empty() ? "start an ssh agent that has one (ssh-add), or name a key with --ssh-identity-file"
                                   : advice_);
  }

  // Returns true if logged in. Stops at once if the connection is lost.
  bool try_all() {
    const std::string& first = settings_.explicit_identity;
    if (!first.empty() && try_file(first, MissingFile::Tell)) return true;
    if (!broken_ && settings_.agent_turn == AgentTurn::First && try_agent()) return true;
    const auto missing = settings_.identity_source == IdentitySource::Config ? MissingFile::Tell : MissingFile::Ignore;
    for (const std::string& path : settings_.identities) {
      if (broken_) return false;
      if (path != first && try_file(path, missing)) return true;
    }
    return !broken_ && settings_.agent_turn == AgentTurn::Last && needs_agent_ && try_agent();
  }

  enum class MissingFile { Ignore, Tell };
  bool try_file(const std::string& path, MissingFile missing) {
    if (others_can_read(path, ::geteuid())) {
      advise("a key that others can read is not used; run: chmod 600 " + shell_quote(path));
      return note(path, "ignored, as others can read it");
    }
    PrivateKey key;
    switch (key.load(path)) {
      case KeyState::Missing: return missing == MissingFile::Tell ? note(path, "no such file") : false;
      case KeyState::Unreadable: needs_agent_ = true; return note(path, "unreadable");
      case KeyState::Encrypted:
        needs_agent_ = true;
        advise("sml-run does not ask for a passphrase; run: eval $(ssh-agent); ssh-add " + shell_quote(path));
        return note(path, "encrypted");
      case KeyState::Usable: break;
    }
    if (try_certificates(path)) return true;
    return !broken_ && (try_key(key) || note(path, "refused"));
  }

  // Keeps the first advice on a key that cannot be used.
  void advise(std::string advice) {
    if (advice_.empty()) advice_ = std::move(advice);
  }

  bool try_key(const PrivateKey& key) {
    return drive([&] { return session_.authenticate(key); }) == AuthStep::Accepted;
  }

  // The key with each of its certificates.
  bool try_certificates(const std::string& path) {
    std::vector<std::string> files = settings_.certificates;
    files.push_back(path + "-cert.pub");
    for (const std::string& file : files) {
      PrivateKey key;
      if (broken_ || key.load(path) != KeyState::Usable || !key.certify(file)) continue;
      used_certificates_.insert(file);
      if (try_key(key)) return true;
      note(path + " with " + file, "refused");
    }
    return false;
  }

  // The certificates of all keys, whether the launcher can read these or not, by file.
  std::map<std::string, std::string> all_certificates() const {
    std::vector<std::string> files = settings_.certificates;
    if (!settings_.explicit_identity.empty()) files.push_back(settings_.explicit_identity + "-cert.pub");
    for (const std::string& path : settings_.identities) files.push_back(path + "-cert.pub");
    std::map<std::string, std::string> out;
    for (const std::string& file : files) {
      if (std::string found = read_certificate(file); !found.empty()) out.emplace(file, std::move(found));
    }
    return out;
  }

  // The agent's keys, each with its certificates.
  bool try_agent() {
    const TimePoint answer_by = std::min(deadline_, Clock::now() + kAgentAnswer);
    const os::UniqueFd fd = connect_agent(settings_.agent_socket);
    if (!fd) return note("agent", "not running");
    const auto keys = count_keys(fd.get(), answer_by, cancel_);
    if (!keys) return note("agent", "no answer");
    if (*keys == 0) return note("agent", "no keys");
    block_sigpipe();
    const net::ShutdownOnCancel guard(cancel_, fd.get());
    const std::map<std::string, std::string> files = all_certificates();
    std::set<std::string> certificates;
    for (const auto& [file, certificate] : files) certificates.insert(certificate);
    CertifiedAgent agent(fd.get(), certificates);
    int agent_fd = agent.fd();
    const AuthStep step = drive([&] { return session_.authenticate_with_agent(std::exchange(agent_fd, -1)); });
    agent.end();
    if (step == AuthStep::Accepted) return true;
    for (const auto& [file, certificate] : files) {
      if (!agent.certificates().has_key_of(certificate)) continue;
      used_certificates_.insert(file);
      note("agent with " + file, "refused");
    }
    return note("agent", std::to_string(*keys) + (*keys == 1 ? " key" : " keys") + " refused");
  }

  template <class Call>
  AuthStep drive(const Call& call) {
    offered_ = Offered::Something;
    AuthStep step = call();
    for (; step == AuthStep::Again; step = call()) {
      const net::Waited waited = wait_();
      if (waited == net::Waited::Ready) continue;
      if (waited == net::Waited::Flooded) {
        broken_ = flooded();
        return AuthStep::Failed;
      }
      broken_ = waited == net::Waited::TimedOut ? Error(ErrorKind::Timeout, "the host did not answer during the login")
                                                : Error(ErrorKind::Internal, "cancelled");
      return AuthStep::Failed;
    }
    if (step == AuthStep::Failed) broken_ = explain(LoginStage::Authentication, session_.last_error());
    return step;
  }

  // Always returns false, so that it can end a failed attempt.
  bool note(const std::string& what, const std::string& outcome) {
    tried_ += (tried_.empty() ? "" : "; ") + show(what) + ": " + outcome;
    return false;
  }

  SshSession& session_;
  const LoginSettings& settings_;
  TimePoint deadline_;
  net::CancelToken& cancel_;
  const WaitForSession& wait_;
  std::string tried_;
  std::string advice_;  // on the first key that cannot be used; empty: none
  std::set<std::string> used_certificates_;
  Offered offered_ = Offered::Nothing;
  bool needs_agent_ = false;     // a file could not be used without it
  std::optional<Error> broken_;  // the connection failed: no further attempts
};

}  // namespace

Result<void> authenticate(SshSession& session, const LoginSettings& settings, TimePoint deadline,
                          net::CancelToken& cancel, const WaitForSession& wait) {
  return Authenticator(session, settings, deadline, cancel, wait).run();
}

}  // namespace sml::ssh

#include "launcher/dialin/link.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include <sys/socket.h>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include "common/core/clock.h"
#include "common/core/text.h"

namespace sml::dialin {

namespace {

namespace asio = boost::asio;

constexpr char kIdentity[] = "sml-run dial-in 1";  // the key's name on the wire; there is one key for each job
constexpr char kCipher[] = "TLS_AES_128_GCM_SHA256";
constexpr std::array<unsigned char, 2> kCipherId{0x13, 0x01};
constexpr Duration kProveLimit = std::chrono::seconds(10);
constexpr std::size_t kRecordSize = std::size_t{16} << 10;  // the largest of TLS
constexpr int kReadsInTurn = 4;                             // then the loop's other handlers have their turn
constexpr std::size_t kProofThreads = 2;

// ---- frames of the proof

enum class ProofKind : char { Credential = 'C', Refusal = 'R' };
constexpr std::size_t kProofHead = 3;  // of the size and the kind
constexpr std::size_t kMaxRefusal = 500;

std::string proof_frame(ProofKind kind, std::string_view text) {
  std::string out{static_cast<char>(text.size() >> 8), static_cast<char>(text.size() & 0xff), static_cast<char>(kind)};
  return out += text;
}

// The claim of a side's credential: a value that only the two ends of this connection know, for this side. Empty: the
// library fails.
std::string claim_of(Side side, SSL* ssl) {
  constexpr std::string_view kHead = "EXPORTER-sml-run head";
  constexpr std::string_view kHost = "EXPORTER-sml-run host";
  const std::string_view label = side == Side::Coordinator ? kHead : kHost;
  std::array<unsigned char, 32> bytes{};
  if (::SSL_export_keying_material(ssl, bytes.data(), bytes.size(), label.data(), label.size(), nullptr, 0, 0) != 1)
    return {};
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const unsigned char byte : bytes) {
    out += kDigits[byte >> 4];
    out += kDigits[byte & 0xf];
  }
  return out;
}

class KeyCredentials;

struct FreeContext {
  void operator()(SSL_CTX* context) const { ::SSL_CTX_free(context); }
};
struct FreeSession {
  void operator()(SSL* ssl) const { ::SSL_free(ssl); }
};

class KeyCredentials final : public Credentials {
 public:
  KeyCredentials(Side side, const Key& key, std::shared_ptr<PeerProof> proof)
      : side_(side),
        key_(key),
        proof_(std::move(proof)),
        context_(::SSL_CTX_new(side == Side::Coordinator ? ::TLS_server_method() : ::TLS_client_method())) {}
  ~KeyCredentials() override { ::OPENSSL_cleanse(key_.data(), key_.size()); }

  bool prepare() {
    SSL_CTX* context = context_.get();
    if (context == nullptr) return false;
    if (proof_) threads_.emplace(kProofThreads);
    SSL_CTX_set_app_data(context, this);
    ::SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION | SSL_OP_IGNORE_UNEXPECTED_EOF);
    // A coordinator has thousands of connections, most of them idle: they keep no buffers.
    SSL_CTX_set_mode(context,
                     SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(context, 1);  // one system call for a record instead of two
    if (::SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1) return false;
    if (::SSL_CTX_set_ciphersuites(context, kCipher) != 1 || ::SSL_CTX_set_num_tickets(context, 0) != 1) return false;
    ::SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    if (side_ == Side::Coordinator) {
      ::SSL_CTX_set_psk_find_session_callback(context, &find_session);
    } else {
      // Rejects a coordinator that has a certificate instead of the key.
      ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
      ::SSL_CTX_set_psk_use_session_callback(context, &use_session);
    }
    return true;
  }

  Side side() const { return side_; }
  SSL_CTX* context() const { return context_.get(); }
  const std::shared_ptr<PeerProof>& proof() const { return proof_; }  // null: the key suffices
  asio::thread_pool& threads() { return *threads_; }                  // with a proof

 private:
  static const KeyCredentials& of(SSL* ssl) {
    return *static_cast<KeyCredentials*>(SSL_CTX_get_app_data(::SSL_get_SSL_CTX(ssl)));
  }

  // Returns null if the library has no memory or lacks the cipher. The library takes ownership of the session.
  SSL_SESSION* make_session(SSL* ssl) const {
    const SSL_CIPHER* cipher = ::SSL_CIPHER_find(ssl, kCipherId.data());
    SSL_SESSION* session = ::SSL_SESSION_new();
    const bool made = cipher != nullptr && session != nullptr &&
                      ::SSL_SESSION_set1_master_key(session, key_.data(), key_.size()) == 1 &&
                      ::SSL_SESSION_set_cipher(session, cipher) == 1 &&
                      ::SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1;
    if (made) return session;
    ::SSL_SESSION_free(session);
    return nullptr;
  }

  static int use_session(SSL* ssl, const EVP_MD*, const unsigned char** identity, std::size_t* size,
                         SSL_SESSION** session) {
    *session = of(ssl).make_session(ssl);
    *identity = reinterpret_cast<const unsigned char*>(kIdentity);
    *size = sizeof kIdentity - 1;
    return *session == nullptr ? 0 : 1;
  }

  static int find_session(SSL* ssl, const unsigned char* identity, std::size_t size, SSL_SESSION** session) {
    const bool ours = size == sizeof kIdentity - 1 && std::memcmp(identity, kIdentity, size) == 0;
    *session = ours ? of(ssl).make_session(ssl) : nullptr;
    return 1;
  }

  Side side_;
  Key key_;
  std::shared_ptr<PeerProof> proof_;
  std::unique_ptr<SSL_CTX, FreeContext> context_;
  std::optional<asio::thread_pool> threads_;  // joined before the rest goes
};

class TlsLink final : public Link, public std::enable_shared_from_this<TlsLink> {
 public:
  TlsLink(const asio::any_io_executor& loop, KeyCredentials& credentials)
      : side_(credentials.side()),
        credentials_(credentials),
        socket_(loop),
        limit_(loop),
        ssl_(::SSL_new(credentials.context())) {}

  bool adopt(os::UniqueFd socket) {
    if (!ssl_ || ::SSL_set_fd(ssl_.get(), socket.get()) != 1) return false;
    side_ == Side::Coordinator ? ::SSL_set_accept_state(ssl_.get()) : ::SSL_set_connect_state(ssl_.get());
    boost::system::error_code error;
    socket_.assign(socket.get(), error);
    if (error) return false;
    socket.release();
    socket_.native_non_blocking(true, error);
    return !error;
  }

  void start(LinkEvents& events) override {
    events_ = &events;
    limit_.expires_after(kProveLimit);
    limit_.async_wait([self = shared_from_this()](boost::system::error_code error) {
      if (error) return;
      self->close(Error(ErrorKind::Timeout,
                        self->proved_ ? "it has not identified itself in time" : "it has proved nothing in time"));
    });
    later([](TlsLink& link) { link.shake_hands(); });
  }

  void known() override { limit_.cancel(); }

  // The first bytes go at once, and those of the same turn of the loop together after them.
  void send(std::string bytes) override {
    if (!proved_ || finishing_ || events_ == nullptr) return;
    pending_ += bytes;
    if (writes_later_ || waits_to_write_) return;
    write();
    if (!waits_to_write_) write_later();
  }

  std::size_t unsent() const override { return pending_.size() - written_; }

  void finish() override {
    finishing_ = true;
    if (proved_) write();
  }

  void abandon() override {
    events_ = nullptr;
    close({});
  }

 private:
  // ---- the loop

  // Calls `work` on the loop, unless the link has ended.
  template <class Work>
  void later(Work work) {
    asio::post(socket_.get_executor(), [self = shared_from_this(), work] {
      if (self->events_ != nullptr) work(*self);
    });
  }

  template <class Work>
  void when_ready(asio::posix::descriptor_base::wait_type what, Work work) {
    socket_.async_wait(what, [self = shared_from_this(), work](boost::system::error_code) {
      if (self->events_ != nullptr) work(*self);
    });
  }

  // The result of a call of the library that has not done its work: waits for the socket and calls `again`, or returns
  // false if the connection has ended.
  template <class Again>
  bool wait_as_asked(int result, Again again) {
    switch (::SSL_get_error(ssl_.get(), result)) {
      case SSL_ERROR_WANT_READ: when_ready(asio::posix::descriptor_base::wait_read, again); return true;
      case SSL_ERROR_WANT_WRITE: when_ready(asio::posix::descriptor_base::wait_write, again); return true;
      case SSL_ERROR_ZERO_RETURN: end_ = End::Closed; return false;
      case SSL_ERROR_SYSCALL:
        end_errno_ = errno;
        end_ = end_errno_ == 0 ? End::Closed : End::Lost;
        return false;
      default: end_ = End::Protocol; return false;
    }
  }

  // Returns the number of bytes, or what wait_as_asked() takes.
  int receive(std::span<char> to) {
    ::ERR_clear_error();
    errno = 0;
    return ::SSL_read(ssl_.get(), to.data(), static_cast<int>(to.size()));
  }

  // ---- the handshake

  void shake_hands() {
    ::ERR_clear_error();
    errno = 0;
    const int result = ::SSL_do_handshake(ssl_.get());
    if (result != 1) {
      if (!wait_as_asked(result, [](TlsLink& link) { link.shake_hands(); })) close(why_unproved());
      return;
    }
    // Without the key the handshake cannot succeed, since there is no other authentication; this check is a safeguard.
    if (::SSL_session_reused(ssl_.get()) != 1) return close(why_unproved());
    if (!credentials_.proof()) return be_proved();
    return side_ == Side::Host ? show_credential() : read_proof();
  }

  void be_proved() {
    if (side_ == Side::Host) limit_.cancel();
    proved_ = true;
    events_->link_proved();
    if (events_ == nullptr) return;
    if (finishing_) write();
    read();
  }

  // ---- the proof beyond the key: the host's first, then the coordinator's

  // Calls `work` on a thread that may block, and `then` with its result on the loop.
  template <class Work, class Then>
  void ask_authority(Work work, Then then) {
    asio::post(credentials_.threads(), [self = shared_from_this(), work = std::move(work), then]() mutable {
      auto result = work(*self->credentials_.proof());
      const asio::any_io_executor loop = self->socket_.get_executor();
      asio::post(loop, [self = std::move(self), result = std::move(result), then] {
        if (self->events_ != nullptr) then(*self, result);
      });
    });
  }

  void show_credential() {
    const std::string claim = claim_of(side_, ssl_.get());
    ask_authority([claim](PeerProof& proof) { return proof.make(claim); },
                  [](TlsLink& link, const Result<std::string>& made) {
                    if (!made) return link.refuse(made.error().message());
                    link.write_proof(proof_frame(ProofKind::Credential, *made), [&link] {
                      return link.side_ == Side::Host ? link.read_proof() : link.be_proved();
                    });
                  });
  }

  void write_proof(std::string frame, std::function<void()> then) {
    pending_ = std::move(frame);
    proof_written_ = std::move(then);
    write();
  }

  void read_proof() {
    read_part(kProofHead, [](TlsLink& link) {
      const auto byte = [&link](std::size_t i) { return static_cast<unsigned char>(link.part_[i]); };
      const std::size_t size = std::size_t{byte(0)} << 8 | byte(1);
      const auto kind = static_cast<ProofKind>(link.part_[2]);
      const bool refused = kind == ProofKind::Refusal && link.side_ == Side::Host;
      if (size == 0 || size > kMaxCredential || (kind != ProofKind::Credential && !refused))
        return link.close(Error(ErrorKind::Auth, "it shows no credential"));
      link.read_part(size, [refused](TlsLink& whole) {
        if (!refused) return whole.check_credential();
        whole.close(Error(ErrorKind::Auth, "the head turns this host away: " + show(whole.part_, kMaxRefusal)));
      });
    });
  }

  template <class Then>
  void read_part(std::size_t size, Then then) {
    part_.assign(size, '\0');
    fill_part(0, then);
  }

  template <class Then>
  void fill_part(std::size_t filled, Then then) {
    while (filled < part_.size()) {
      const int size = receive(std::span<char>(part_).subspan(filled));
      if (size <= 0) return fill_part_later(size, filled, then);
      filled += static_cast<std::size_t>(size);
    }
    then(*this);
  }

  template <class Then>
  void fill_part_later(int result, std::size_t filled, Then then) {
    if (!wait_as_asked(result, [filled, then](TlsLink& link) { link.fill_part(filled, then); })) close(why_unproved());
  }

  void check_credential() {
    const Side other = side_ == Side::Host ? Side::Coordinator : Side::Host;
    const std::string claim = claim_of(other, ssl_.get());
    ask_authority([claim, shown = part_](PeerProof& proof) { return proof.check(shown, claim); },
                  [](TlsLink& link, const Result<void>& checked) {
                    if (!checked) return link.refuse("its credential " + checked.error().message());
                    return link.side_ == Side::Host ? link.be_proved() : link.show_credential();
                  });
  }

  // The coordinator sends the reason, for which the host waits.
  void refuse(const std::string& why) {
    const Error error(ErrorKind::Auth, why);
    if (side_ == Side::Host) return close(error);
    write_proof(proof_frame(ProofKind::Refusal, why.substr(0, kMaxRefusal)), [this, error] { close(error); });
  }

  Error why_unproved() const {
    if (end_ != End::Protocol) return Error(ErrorKind::Lost, "the connection closed before authentication");
    return Error(ErrorKind::Auth, "the two sides do not have the same secret");
  }

  // ---- the bytes of the owner

  void read() {
    std::array<char, kRecordSize> buffer;
    for (int i = 0; i < kReadsInTurn; ++i) {
      const int size = receive(buffer);
      if (size <= 0) return read_later(size);
      events_->link_bytes(std::span<const char>(buffer.data(), static_cast<std::size_t>(size)));
      if (events_ == nullptr) return;
    }
    later([](TlsLink& link) { link.read(); });
  }

  void read_later(int result) {
    if (!wait_as_asked(result, [](TlsLink& link) { link.read(); })) close(why_lost());
  }

  Error why_lost() const {
    switch (end_) {
      case End::Closed: return Error(ErrorKind::Lost, "the connection ended");
      case End::Lost: return sys_error(ErrorKind::Lost, "the connection is lost", end_errno_);
      case End::Protocol: break;
    }
    return Error(ErrorKind::Lost, "the connection is lost: a broken TLS record");
  }

  // Writes a record of what is queued; the others have their turn before the next one. After an error the rest is
  // dropped: the read reports the end, behind what the other side had sent before it.
  void write() {
    if (events_ == nullptr || waits_to_write_) return;
    if (unsent() > 0) {
      ::ERR_clear_error();
      const int size =
          ::SSL_write(ssl_.get(), pending_.data() + written_, static_cast<int>(std::min(unsent(), kRecordSize)));
      if (size <= 0 && ::SSL_get_error(ssl_.get(), size) == SSL_ERROR_WANT_WRITE) return wait_to_write();
      written_ = size <= 0 ? pending_.size() : written_ + static_cast<std::size_t>(size);
    }
    if (unsent() > 0) return write_later();
    std::string().swap(pending_);  // the memory, too
    written_ = 0;
    if (proof_written_) return std::exchange(proof_written_, nullptr)();
    if (finishing_) ::shutdown(socket_.native_handle(), SHUT_WR);
  }

  void write_later() {
    if (std::exchange(writes_later_, true)) return;
    later([](TlsLink& link) {
      link.writes_later_ = false;
      link.write();
    });
  }

  void wait_to_write() {
    pending_.erase(0, std::exchange(written_, 0));
    waits_to_write_ = true;
    when_ready(asio::posix::descriptor_base::wait_write, [](TlsLink& link) {
      link.waits_to_write_ = false;
      link.write();
    });
  }

  void close(const Error& error) {
    LinkEvents* events = std::exchange(events_, nullptr);
    proof_written_ = nullptr;
    limit_.cancel();
    boost::system::error_code ignored;
    socket_.close(ignored);
    if (events != nullptr) events->link_closed(error);
  }

  // How the connection has ended.
  enum class End : std::uint8_t { Closed, Lost, Protocol };

  Side side_;
  KeyCredentials& credentials_;
  asio::posix::stream_descriptor socket_;
  asio::steady_timer limit_;
  std::unique_ptr<SSL, FreeSession> ssl_;
  LinkEvents* events_ = nullptr;  // null: abandoned, or link_closed() was called
  std::string part_;              // of the other side's proof
  std::string pending_;
  std::size_t written_ = 0;  // of pending_
  std::function<void()> proof_written_;
  End end_ = End::Protocol;
  int end_errno_ = 0;
  bool proved_ = false;
  bool finishing_ = false;
  bool waits_to_write_ = false;
  bool writes_later_ = false;  // in the next turn of the loop
};

}  // namespace

Result<std::unique_ptr<Credentials>> make_credentials(Side side, const Key& key, std::shared_ptr<PeerProof> proof) {
  auto credentials = std::make_unique<KeyCredentials>(side, key, std::move(proof));
  if (!credentials->prepare()) return Error(ErrorKind::Internal, "the TLS library takes no pre-shared key");
  return std::unique_ptr<Credentials>(std::move(credentials));
}

Result<std::shared_ptr<Link>> make_link(const asio::any_io_executor& loop, os::UniqueFd socket,
                                        Credentials& credentials) {
  auto link = std::make_shared<TlsLink>(loop, static_cast<KeyCredentials&>(credentials));  // the only implementation
  if (!link->adopt(std::move(socket))) return sys_error(ErrorKind::Io, "cannot use a connection", errno);
  return std::shared_ptr<Link>(std::move(link));
}

}  // namespace sml::dialin

#include "launcher/dialin/link.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include <sys/socket.h>

#include <openssl/ssl.h>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/write.hpp>

#include "common/core/clock.h"
#include "common/core/text.h"

namespace sml::dialin {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr char kIdentity[] = "sml-run dial-in 1";  // the key's name on the wire; there is one key for each job
constexpr char kCipher[] = "TLS_AES_128_GCM_SHA256";
constexpr std::array<unsigned char, 2> kCipherId{0x13, 0x01};
constexpr Duration kProveLimit = std::chrono::seconds(10);
constexpr std::size_t kReadSize = std::size_t{16} << 10;  // of one TLS record
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

// The index of the KeyCredentials pointer in an SSL_CTX; Asio uses the app data.
int slot_for_credentials() {
  static const int index = ::SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

class KeyCredentials final : public Credentials {
 public:
  KeyCredentials(Side side, const Key& key, std::shared_ptr<PeerProof> proof)
      : side_(side),
        key_(key),
        proof_(std::move(proof)),
        context_(side == Side::Coordinator ? asio::ssl::context::tlsv13_server : asio::ssl::context::tlsv13_client) {}
  ~KeyCredentials() override { ::OPENSSL_cleanse(key_.data(), key_.size()); }

  bool prepare() {
    if (proof_) threads_.emplace(kProofThreads);
    SSL_CTX* context = context_.native_handle();
    ::SSL_CTX_set_ex_data(context, slot_for_credentials(), this);
    ::SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);  // a head has thousands of connections, most of them idle
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
  asio::ssl::context& context() { return context_; }
  const std::shared_ptr<PeerProof>& proof() const { return proof_; }  // null: the key suffices
  asio::thread_pool& threads() { return *threads_; }                  // with a proof

 private:
  static const KeyCredentials& of(SSL* ssl) {
    return *static_cast<KeyCredentials*>(::SSL_CTX_get_ex_data(::SSL_get_SSL_CTX(ssl), slot_for_credentials()));
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
  asio::ssl::context context_;
  std::optional<asio::thread_pool> threads_;  // joined before the rest goes
};

class TlsLink final : public Link, public std::enable_shared_from_this<TlsLink> {
 public:
  TlsLink(const asio::any_io_executor& loop, KeyCredentials& credentials)
      : side_(credentials.side()),
        credentials_(credentials),
        stream_(tcp::socket(loop), credentials.context()),
        limit_(loop),
        buffer_(kReadSize, '\0') {}

  bool adopt(os::UniqueFd socket) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return false;
    boost::system::error_code error;
    stream_.lowest_layer().assign(address.ss_family == AF_INET6 ? tcp::v6() : tcp::v4(), socket.get(), error);
    if (error) return false;
    socket.release();
    return true;
  }

  void start(LinkEvents& events) override {
    events_ = &events;
    limit_.expires_after(kProveLimit);
    limit_.async_wait([self = shared_from_this()](boost::system::error_code error) {
      if (error) return;
      self->close(Error(ErrorKind::Timeout,
                        self->proved_ ? "it has not said in time who it is" : "it has proved nothing in time"));
    });
    stream_.async_handshake(
        side_ == Side::Coordinator ? asio::ssl::stream_base::server : asio::ssl::stream_base::client,
        [self = shared_from_this()](boost::system::error_code error) { self->shaken(error); });
  }

  void known() override { limit_.cancel(); }

  void send(std::string bytes) override {
    if (!proved_ || finishing_) return;
    pending_ += bytes;
    write();
  }

  std::size_t unsent() const override { return pending_.size() + writing_.size(); }

  void finish() override {
    finishing_ = true;
    write();
  }

  void abandon() override {
    events_ = nullptr;
    close({});
  }

 private:
  void shaken(boost::system::error_code error) {
    if (error) limit_.cancel();
    if (events_ == nullptr) return;
    // Without the key the handshake cannot succeed, since there is no other authentication; this check is a safeguard.
    if (error || ::SSL_session_reused(stream_.native_handle()) != 1) return close(why_unproved(error));
    if (!credentials_.proof()) return be_proved();
    return side_ == Side::Host ? show_credential() : read_proof();
  }

  void be_proved() {
    if (side_ == Side::Host) limit_.cancel();
    proved_ = true;
    read();
    events_->link_proved();
  }

  // ---- the proof beyond the key: the host's first, then the coordinator's

  // Calls `work` on a thread that may block, and `then` with its result on the loop.
  template <class Work, class Then>
  void ask_authority(Work work, Then then) {
    asio::post(credentials_.threads(), [self = shared_from_this(), work = std::move(work), then]() mutable {
      auto result = work(*self->credentials_.proof());
      const asio::any_io_executor loop = self->stream_.get_executor();
      asio::post(loop, [self = std::move(self), result = std::move(result), then] {
        if (self->events_ != nullptr) then(*self, result);
      });
    });
  }

  void show_credential() {
    const std::string claim = claim_of(side_, stream_.native_handle());
    ask_authority([claim](PeerProof& proof) { return proof.make(claim); },
                  [](TlsLink& link, const Result<std::string>& made) {
                    if (!made) return link.refuse(made.error().message());
                    link.write_proof(proof_frame(ProofKind::Credential, *made));
                  });
  }

  void write_proof(std::string frame) {
    auto bytes = std::make_shared<const std::string>(std::move(frame));
    asio::async_write(stream_, asio::buffer(*bytes),
                      [self = shared_from_this(), bytes](boost::system::error_code error, std::size_t) {
                        if (self->events_ == nullptr) return;
                        if (error) return self->close(why_unproved(error));
                        return self->side_ == Side::Host ? self->read_proof() : self->be_proved();
                      });
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
    asio::async_read(stream_, asio::buffer(part_),
                     [self = shared_from_this(), then](boost::system::error_code error, std::size_t) {
                       if (self->events_ == nullptr) return;
                       if (error) return self->close(why_unproved(error));
                       then(*self);
                     });
  }

  void check_credential() {
    const Side other = side_ == Side::Host ? Side::Coordinator : Side::Host;
    const std::string claim = claim_of(other, stream_.native_handle());
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
    auto bytes = std::make_shared<const std::string>(proof_frame(ProofKind::Refusal, why.substr(0, kMaxRefusal)));
    asio::async_write(stream_, asio::buffer(*bytes),
                      [self = shared_from_this(), bytes, error](boost::system::error_code, std::size_t) {
                        if (self->events_ != nullptr) self->close(error);
                      });
  }

  static Error why_unproved(boost::system::error_code error) {
    const bool ended = error == asio::error::eof || error == asio::ssl::error::stream_truncated ||
                       error.category() == asio::error::get_system_category();
    if (ended) return Error(ErrorKind::Lost, "the connection ended before anything was proved");
    return Error(ErrorKind::Auth, "the two sides do not have the same secret");
  }

  void read() {
    stream_.async_read_some(asio::buffer(buffer_),
                            [self = shared_from_this()](boost::system::error_code error, std::size_t size) {
                              if (self->events_ == nullptr) return;
                              if (error) return self->close(why(error));
                              self->events_->link_bytes(std::span<const char>(self->buffer_.data(), size));
                              if (self->events_ != nullptr) self->read();
                            });
  }

  static Error why(boost::system::error_code error) {
    if (error == asio::error::eof || error == asio::ssl::error::stream_truncated) {
      return Error(ErrorKind::Lost, "the connection ended");
    }
    return Error(ErrorKind::Lost, "the connection is lost: " + error.message());
  }

  void write() {
    if (!proved_ || !writing_.empty() || events_ == nullptr) return;
    if (pending_.empty()) {
      boost::system::error_code ignored;
      if (finishing_) stream_.lowest_layer().shutdown(tcp::socket::shutdown_send, ignored);
      return;
    }
    writing_.swap(pending_);
    asio::async_write(stream_, asio::buffer(writing_),
                      [self = shared_from_this()](boost::system::error_code error, std::size_t) {
                        self->writing_.clear();
                        if (!error) self->write();  // on an error, the read reports the end
                      });
  }

  void close(const Error& error) {
    LinkEvents* events = std::exchange(events_, nullptr);
    limit_.cancel();
    boost::system::error_code ignored;
    stream_.lowest_layer().close(ignored);
    if (events != nullptr) events->link_closed(error);
  }

  Side side_;
  KeyCredentials& credentials_;
  asio::ssl::stream<tcp::socket> stream_;
  asio::steady_timer limit_;
  LinkEvents* events_ = nullptr;  // null: abandoned, or link_closed() was called
  std::string buffer_;
  std::string part_;  // of the other side's proof
  std::string pending_;
  std::string writing_;
  bool proved_ = false;
  bool finishing_ = false;
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

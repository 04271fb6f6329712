#include "launcher/dialin/link.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/socket.h>

#include <openssl/ssl.h>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include "common/core/clock.h"

namespace sml::dialin {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr char kIdentity[] = "sml-run dial-in 1";  // the key's name on the wire; there is one key for each job
constexpr char kCipher[] = "TLS_AES_128_GCM_SHA256";
constexpr std::array<unsigned char, 2> kCipherId{0x13, 0x01};
constexpr Duration kProveLimit = std::chrono::seconds(10);
constexpr std::size_t kReadSize = std::size_t{64} << 10;

class KeyCredentials;

// The index of the KeyCredentials pointer in an SSL_CTX; Asio uses the app data.
int slot_for_credentials() {
  static const int index = ::SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

class KeyCredentials final : public Credentials {
 public:
  KeyCredentials(Side side, const Key& key)
      : side_(side),
        key_(key),
        context_(side == Side::Coordinator ? asio::ssl::context::tlsv13_server : asio::ssl::context::tlsv13_client) {}
  ~KeyCredentials() override { ::OPENSSL_cleanse(key_.data(), key_.size()); }

  bool prepare() {
    SSL_CTX* context = context_.native_handle();
    ::SSL_CTX_set_ex_data(context, slot_for_credentials(), this);
    ::SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION);
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
  asio::ssl::context context_;
};

class TlsLink final : public Link, public std::enable_shared_from_this<TlsLink> {
 public:
  TlsLink(const asio::any_io_executor& loop, KeyCredentials& credentials)
      : side_(credentials.side()),
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
    if (side_ == Side::Host || error) limit_.cancel();
    if (events_ == nullptr) return;
    // Without the key the handshake cannot succeed, since there is no other authentication; this check is a safeguard.
    if (error || ::SSL_session_reused(stream_.native_handle()) != 1) return close(why_unproved(error));
    proved_ = true;
    read();
    events_->link_proved();
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
  asio::ssl::stream<tcp::socket> stream_;
  asio::steady_timer limit_;
  LinkEvents* events_ = nullptr;  // null: abandoned, or link_closed() was called
  std::string buffer_;
  std::string pending_;
  std::string writing_;
  bool proved_ = false;
  bool finishing_ = false;
};

}  // namespace

Result<std::unique_ptr<Credentials>> make_credentials(Side side, const Key& key) {
  auto credentials = std::make_unique<KeyCredentials>(side, key);
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

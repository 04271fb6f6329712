#include <array>
#include <cerrno>
#include <memory>
#include <optional>

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "common/core/text.h"
#include "common/os/fd.h"
#include "launcher/notify/deliver.h"
#include "launcher/transport/names/addresses.h"
#include "launcher/transport/net/tcp_connect.h"

namespace sml::notify {

namespace {

constexpr std::size_t kMostResponse = 4096;  // its beginning suffices

Error too_late() { return {ErrorKind::Timeout, "does not answer in time"}; }

// Waits for the socket; false: the time is over.
bool await(int fd, short events, TimePoint end) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return false;
    pollfd ready{fd, events, 0};
    const int n = ::poll(&ready, 1, static_cast<int>(left));
    if (n > 0) return true;
    if (n == 0 || errno != EINTR) return false;
  }
}

// A connection on which bytes go both ways, until a deadline.
class Wire {
 public:
  Wire(int fd, TimePoint end) : fd_(fd), end_(end) {}
  virtual ~Wire() = default;
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  Result<void> send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = put(bytes);
      if (n > 0) {
        bytes.remove_prefix(static_cast<std::size_t>(n));
      } else if (Result<void> ready = step("cannot be sent to"); !ready) {
        return ready;
      }
    }
    return {};
  }
  // Up to the end of the response's first line, or of the connection.
  Result<std::string> first_line() {
    std::string text;
    std::array<char, kMostResponse> bytes;
    while (text.size() < kMostResponse && text.find('\n') == std::string::npos) {
      const ssize_t n = get(bytes.data(), bytes.size());
      if (n > 0) {
        text.append(bytes.data(), static_cast<std::size_t>(n));
      } else if (n == 0) {
        break;
      } else if (Result<void> ready = step("does not answer"); !ready) {
        return ready.error();
      }
    }
    return text;
  }

 protected:
  // Return the number of bytes, 0 at the end of the connection, -1 with `waits_for_` set, or -1 and 0 there: an error.
  virtual ssize_t put(std::string_view bytes) = 0;
  virtual ssize_t get(char* bytes, std::size_t size) = 0;
  virtual std::string fault() const = 0;

  Result<void> step(const std::string& what) {
    if (waits_for_ == 0) return Error(ErrorKind::Io, what + ": " + fault());
    if (!await(fd_, waits_for_, end_)) return too_late();
    return {};
  }

  int fd_;
  TimePoint end_;
  short waits_for_ = 0;
};

class PlainWire final : public Wire {
 public:
  using Wire::Wire;

 private:
  ssize_t put(std::string_view bytes) override {
    return note(::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL), POLLOUT);
  }
  ssize_t get(char* bytes, std::size_t size) override { return note(::recv(fd_, bytes, size, 0), POLLIN); }
  std::string fault() const override { return errno_text(errno_); }

  ssize_t note(ssize_t n, short events) {
    errno_ = errno;
    waits_for_ = n < 0 && (errno_ == EAGAIN || errno_ == EINTR) ? events : short{0};
    return n;
  }
  int errno_ = 0;
};

// ---- TLS

struct Freed {
  void operator()(SSL_CTX* context) const { ::SSL_CTX_free(context); }
  void operator()(SSL* ssl) const { ::SSL_free(ssl); }
};

// The file of authorities where the library's own place has none, as on systems other than the one it was built for.
constexpr std::array kOtherAuthorities{"/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem",
                                       "/etc/ssl/ca-bundle.pem", "/etc/ssl/certs/ca-certificates.crt"};

// With these authorities alone, if a file of them is given.
Result<std::unique_ptr<SSL_CTX, Freed>> make_context(const std::string& authorities) {
  std::unique_ptr<SSL_CTX, Freed> out(::SSL_CTX_new(::TLS_client_method()));
  if (!out || ::SSL_CTX_set_min_proto_version(out.get(), TLS1_2_VERSION) != 1) {
    return Error(ErrorKind::Io, "TLS cannot be begun");
  }
  if (!authorities.empty()) {
    if (::SSL_CTX_load_verify_locations(out.get(), authorities.c_str(), nullptr) != 1) {
      return Error(ErrorKind::Config, show(authorities) + " holds no certificates that can be read");
    }
  } else {
    ::SSL_CTX_set_default_verify_paths(out.get());
    for (const char* file : kOtherAuthorities) {
      if (::access(file, R_OK) == 0) ::SSL_CTX_load_verify_locations(out.get(), file, nullptr);
    }
  }
  ::SSL_CTX_set_verify(out.get(), SSL_VERIFY_PEER, nullptr);
  return out;
}

// A file that is not replaced in place, as the mounts of Kubernetes, is another one by its inode.
bool is_same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

}  // namespace

class ReadAuthorities {
 public:
  // Valid until the next call.
  Result<SSL_CTX*> context(const std::string& authorities) {
    struct stat now {};
    if (!authorities.empty() && ::stat(authorities.c_str(), &now) != 0) {
      return sys_error(ErrorKind::Config, "cannot read " + show(authorities), errno);
    }
    if (context_ && authorities == path_ && is_same_file(now, file_)) return context_.get();
    Result<std::unique_ptr<SSL_CTX, Freed>> made = make_context(authorities);
    if (!made) return made.error();
    context_ = std::move(*made);
    path_ = authorities;
    file_ = now;
    return context_.get();
  }

 private:
  std::unique_ptr<SSL_CTX, Freed> context_;
  std::string path_;
  struct stat file_ {};
};

std::shared_ptr<ReadAuthorities> keep_authorities() { return std::make_shared<ReadAuthorities>(); }

namespace {

class TlsWire final : public Wire {
 public:
  TlsWire(SSL_CTX* context, int fd, TimePoint end) : Wire(fd, end), ssl_(::SSL_new(context)) {}

  Result<void> shake_hands(const std::string& host, bool is_address) {
    if (!ssl_ || ::SSL_set_fd(ssl_.get(), fd_) != 1) return Error(ErrorKind::Io, "TLS cannot be begun");
    X509_VERIFY_PARAM* wanted = ::SSL_get0_param(ssl_.get());
    const int named = is_address ? ::X509_VERIFY_PARAM_set1_ip_asc(wanted, host.c_str())
                                 : ::X509_VERIFY_PARAM_set1_host(wanted, host.c_str(), host.size());
    if (named != 1 || (!is_address && SSL_set_tlsext_host_name(ssl_.get(), host.c_str()) != 1)) {
      return Error(ErrorKind::Io, "its name cannot be verified");
    }
    for (;;) {
      ::ERR_clear_error();
      const int done = ::SSL_connect(ssl_.get());
      if (done == 1) return {};
      note(done);
      if (Result<void> ready = step("TLS fails"); !ready) return ready;
    }
  }

 private:
  ssize_t put(std::string_view bytes) override {
    ::ERR_clear_error();
    return note(::SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())));
  }
  ssize_t get(char* bytes, std::size_t size) override {
    ::ERR_clear_error();
    return note(::SSL_read(ssl_.get(), bytes, static_cast<int>(size)));
  }
  std::string fault() const override {
    const long verdict = ::SSL_get_verify_result(ssl_.get());
    if (verdict != X509_V_OK) return show(::X509_verify_cert_error_string(verdict));
    const unsigned long code = ::ERR_peek_last_error();
    const char* reason = code == 0 ? nullptr : ::ERR_reason_error_string(code);
    return reason == nullptr ? "the connection broke" : reason;
  }

  ssize_t note(int n) {
    waits_for_ = 0;
    if (n > 0) return n;
    const int why = ::SSL_get_error(ssl_.get(), n);
    if (why == SSL_ERROR_WANT_READ) waits_for_ = POLLIN;
    if (why == SSL_ERROR_WANT_WRITE) waits_for_ = POLLOUT;
    return why == SSL_ERROR_ZERO_RETURN ? 0 : -1;
  }

  std::unique_ptr<SSL, Freed> ssl_;
};

Result<void> exchange(Wire& wire, const Url& url, const Letter& letter) {
  if (Result<void> sent = wire.send(post_request(url, letter.body, letter.bearer)); !sent) return sent;
  const Result<std::string> answer = wire.first_line();
  if (!answer) return answer.error();
  return read_response(*answer);
}

}  // namespace

Result<void> post(const Url& url, const Letter& letter, Duration limit) {
  const TimePoint end = Clock::now() + limit;
  const Result<std::vector<names::Address>> addresses = names::addresses_of(url.host, url.port, AF_UNSPEC);
  if (!addresses) return addresses.error();
  const bool is_address = addresses->size() == 1 &&
                          url.host.find_first_not_of("0123456789.:abcdefABCDEF") == url.host.npos &&
                          names::numeric(addresses->front().any(), addresses->front().size) == url.host;
  const net::CancelToken never;
  const auto share =
      std::max<Duration>((end - Clock::now()) / static_cast<int>(addresses->size()), std::chrono::milliseconds(1));
  const Result<os::UniqueFd> socket = net::connect_to(*addresses, share, never);
  if (!socket) return socket.error();
  if (url.scheme == Url::Scheme::Http) {
    PlainWire wire(socket->get(), end);
    return exchange(wire, url, letter);
  }
  const auto authorities = letter.kept ? letter.kept : keep_authorities();
  const Result<SSL_CTX*> context = authorities->context(letter.authorities);
  if (!context) return context.error();
  TlsWire wire(*context, socket->get(), end);
  if (Result<void> met = wire.shake_hands(url.host, is_address); !met) return met;
  return exchange(wire, url, letter);
}

}  // namespace sml::notify

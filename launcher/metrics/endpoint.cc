#include "launcher/metrics/endpoint.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/core/text.h"
#include "common/os/own_file.h"

namespace sml::metrics {

namespace {

constexpr int kWaiting = 512;  // connections that the kernel keeps until they are accepted

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  const sockaddr* any() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* any() { return reinterpret_cast<sockaddr*>(&storage); }
};

SocketAddress internet_address(const MetricsAddress& address) {
  SocketAddress out;
  auto& v4 = reinterpret_cast<sockaddr_in&>(out.storage);
  if (::inet_pton(AF_INET, address.host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(address.port);
    out.size = sizeof v4;
    return out;
  }
  out.storage = {};
  auto& v6 = reinterpret_cast<sockaddr_in6&>(out.storage);
  if (::inet_pton(AF_INET6, address.host.c_str(), &v6.sin6_addr) != 1) return out;
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(address.port);
  out.size = sizeof v6;
  return out;
}

// Goes by the open folder, so that nobody can put a link on the way any more.
Result<SocketAddress> unix_address(const os::Place& place, const std::string& written) {
  SocketAddress out;
  const std::string path = "/proc/self/fd/" + std::to_string(place.folder.get()) + "/" + place.name;
  auto& local = reinterpret_cast<sockaddr_un&>(out.storage);
  if (std::max(path.size(), written.size()) >= sizeof local.sun_path) {
    return Error(ErrorKind::Usage,
                 "the name of a socket has at most " + std::to_string(sizeof local.sun_path - 1) + " bytes");
  }
  local.sun_family = AF_UNIX;
  std::memcpy(local.sun_path, path.c_str(), path.size() + 1);
  out.size = sizeof local;
  return out;
}

os::UniqueFd make_socket(int family) {
  return os::UniqueFd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// Removes a socket of which nobody takes connections any more.
Result<void> clear_name(const os::Place& place, const SocketAddress& address) {
  struct stat there {};
  if (::fstatat(place.folder.get(), place.name.c_str(), &there, AT_SYMLINK_NOFOLLOW) != 0) return {};
  if (!S_ISSOCK(there.st_mode)) return Error(ErrorKind::Usage, "there is a file of that name that is no socket");
  const os::UniqueFd probe = make_socket(AF_UNIX);
  const bool refused = ::connect(probe.get(), address.any(), address.size) != 0 && errno == ECONNREFUSED;
  if (!refused) return Error(ErrorKind::Usage, "another process listens there, or it belongs to somebody else");
  if (::unlinkat(place.folder.get(), place.name.c_str(), 0) != 0)
    return sys_error(ErrorKind::Usage, "the socket of an earlier job cannot be removed", errno);
  return {};
}

// The file's number; 0: there is none.
ino_t file_of(int folder, const std::string& name) {
  struct stat there {};
  return ::fstatat(folder, name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 ? there.st_ino : 0;
}

std::string port_of(int fd) {
  SocketAddress own;
  own.size = sizeof own.storage;
  if (::getsockname(fd, own.any(), &own.size) != 0) return "?";
  const bool is_v6 = own.storage.ss_family == AF_INET6;
  return std::to_string(ntohs(is_v6 ? reinterpret_cast<const sockaddr_in6&>(own.storage).sin6_port
                                    : reinterpret_cast<const sockaddr_in&>(own.storage).sin_port));
}

}  // namespace

Endpoint& Endpoint::operator=(Endpoint&& other) noexcept {
  close();
  fd_ = std::move(other.fd_);
  url_ = std::move(other.url_);
  folder_ = std::move(other.folder_);
  name_ = std::move(other.name_);
  file_ = other.file_;
  return *this;
}

Result<Endpoint> Endpoint::open(const MetricsAddress& address) {
  const bool is_unix = !address.path.empty();
  const std::string written = is_unix ? "unix:" + address.path : address.host + ":" + std::to_string(address.port);
  const auto wrong = [&](Error why) { return std::move(why).in("--metrics: " + show(written)); };
  Result<os::Place> place = is_unix ? os::find_place(address.path, os::Folders::MustExist) : os::Place();
  if (!place) return wrong(Error(ErrorKind::Usage, place.error().message()));
  const Result<SocketAddress> where = is_unix ? unix_address(*place, address.path) : internet_address(address);
  if (!where) return wrong(where.error());
  if (is_unix) {
    if (Result<void> cleared = clear_name(*place, *where); !cleared) return wrong(cleared.error());
  }
  Endpoint out;
  out.fd_ = make_socket(where->storage.ss_family);
  if (!out.fd_) return wrong(sys_error(ErrorKind::Usage, "no socket can be made", errno));
  constexpr int kOn = 1;
  if (!is_unix) ::setsockopt(out.fd(), SOL_SOCKET, SO_REUSEADDR, &kOn, sizeof kOn);
  if (::bind(out.fd(), where->any(), where->size) != 0) {
    return wrong(sys_error(ErrorKind::Usage, "cannot listen there", errno));
  }
  if (is_unix) {
    out.file_ = file_of(place->folder.get(), place->name);
    out.folder_ = std::move(place->folder);
    out.name_ = std::move(place->name);
  }
  if (::listen(out.fd(), kWaiting) != 0) return wrong(sys_error(ErrorKind::Usage, "cannot listen there", errno));
  const bool is_v6 = address.host.find(':') != std::string::npos;
  const std::string host = is_v6 ? "[" + address.host + "]" : address.host;
  out.url_ = is_unix ? written : "http://" + host + ":" + port_of(out.fd()) + "/metrics";
  return out;
}

void Endpoint::close() {
  if (!fd_) return;
  if (folder_ && file_of(folder_.get(), name_) == file_) ::unlinkat(folder_.get(), name_.c_str(), 0);
  folder_.reset();
  fd_.reset();
}

}  // namespace sml::metrics

// The listening socket at which metrics are served. Linux.
#pragma once
#include <string>

#include <sys/types.h>

#include "common/core/error.h"
#include "common/os/fd.h"
#include "launcher/options/observer_options.h"

namespace sml::metrics {

class Endpoint {
 public:
  Endpoint() = default;  // closed
  Endpoint(Endpoint&&) = default;
  Endpoint& operator=(Endpoint&& other) noexcept;
  ~Endpoint() { close(); }

  // Listens at `address`. A Unix socket gets the mode that the umask leaves. It replaces a socket that an earlier job
  // has left, but neither a socket at which another process listens nor any other file. Follows links
  // on the way only if no other user can have put them there (common/os/own_file.h). Error (Usage): names the address
  // and the reason.
  static Result<Endpoint> open(const MetricsAddress& address);

  bool is_open() const { return static_cast<bool>(fd_); }
  int fd() const { return fd_.get(); }
  // "http://127.0.0.1:9400/metrics", "unix:/run/job.sock"
  const std::string& url() const { return url_; }
  // Closes the socket and removes a Unix socket's file, if it still has its name.
  void close();

 private:
  os::UniqueFd fd_;
  std::string url_;
  os::UniqueFd folder_;  // of a Unix socket; none: it is not one, or is closed
  std::string name_;     // in the folder
  ino_t file_ = 0;       // of that name
};

}  // namespace sml::metrics

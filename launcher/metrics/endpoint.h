// The socket at which metrics are served. Linux.
#pragma once
#include <string>

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

  // Listens there. A Unix socket has the mode that the umask leaves; one that an earlier job has left is replaced, one
  // at which another process listens, and any other file, is not. Error (Usage): names the address and why.
  static Result<Endpoint> open(const MetricsAddress& address);

  bool is_open() const { return static_cast<bool>(fd_); }
  int fd() const { return fd_.get(); }
  // "http://127.0.0.1:9400/metrics", "unix:/run/job.sock"
  const std::string& url() const { return url_; }
  // Closes it and removes its name.
  void close();

 private:
  os::UniqueFd fd_;
  std::string url_;
  std::string path_;  // of a Unix socket; empty: none
};

}  // namespace sml::metrics

// Sends requests to the server that torch runs inside a worker, where its script has one.
//
// Source: torch/csrc/distributed/c10d/control_plane/WorkerServer.cpp and Handlers.cpp of torch 2.13: HTTP over the Unix
// socket of TORCH_WORKER_SERVER_SOCKET, each handler a POST to /handler/NAME. The server has its own threads: it
// answers while the script hangs, unless a thread holds Python's lock.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "launcher/agent/core/lifetime.h"

namespace sml::agent {

// The body of an HTTP answer with status 200 whose head is complete, else nullopt. Pure.
std::optional<std::string_view> body_of(std::string_view answer);

class WorkerServer {
 public:
  explicit WorkerServer(boost::asio::io_context& loop) : socket_(loop) {}
  WorkerServer(const WorkerServer&) = delete;
  WorkerServer& operator=(const WorkerServer&) = delete;

  // Sends a request to the server whose socket is at `path`, after give_up() of an earlier one. Returns false if no
  // server of this user listens there. `done` is called once, from the loop, with the handler's answer, or with nullopt
  // if there was none or it was longer than `most` bytes; not after give_up(). There is no time limit.
  using Done = std::function<void(std::optional<std::string>)>;
  bool ask(const std::string& path, std::string_view handler, std::size_t most, Done done);
  // Cancels the request, if there is one.
  void give_up();

 private:
  void read();
  void finish();

  boost::asio::posix::stream_descriptor socket_;
  std::size_t most_ = 0;
  std::string answer_;
  Done done_;
  Lifetime lifetime_;
};

}  // namespace sml::agent

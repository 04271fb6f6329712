// The launcher's side of sml-run ps, status, stop, signal, stacks and logs: a Unix socket in the user's runtime folder,
// which serves this user, and root, who can end the job anyway. Root of another user namespace is neither.
//
// Runs on the loop's thread. Only send_end() may block, and no call fails the job or slows its output: a slow reader
// loses part of the ranks' output, and receives the number of lost bytes.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>

#include <sys/socket.h>

#include "common/core/error.h"
#include "common/core/rank_set.h"
#include "common/core/stream.h"
#include "common/core/strong.h"
#include "common/os/fd.h"
#include "launcher/control/messages.h"

namespace sml::control {

class ControlSocket {
 public:
  // How the socket gets what clients request. Called on the loop's thread, until close(). A `done` may be called later
  // than that, and then has no effect.
  struct Deps {
    std::function<report::JobSummary()> summary;
    // Calls `done` with the answer, once, immediately or later.
    std::function<void(Form form, std::function<void(Result<std::string>)> done)> status;
    std::function<void(const ucred& asker)> stop;  // begins the stop of the job; `asker`: the process of the client
    // Returns a sentence about what was done, for the requesting user. Error: it cannot be done now.
    std::function<Result<std::string>(const Request& request)> signal;
    // Calls `done` with the answer, once, later. Error: the stacks are not available now.
    std::function<void(Form form, std::function<void(Result<std::string>)> done)> stacks;
    // The last bytes that a rank has printed on that stream, as far as they are kept.
    std::function<std::string_view(Rank rank, Stream stream)> tail;
    std::function<std::uint32_t()> ranks;  // number of ranks in the job
  };

  ControlSocket(boost::asio::any_io_executor loop, Deps deps);
  ~ControlSocket();  // calls close()
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

  // Error (Io): there is no safe folder for the socket, or the id cannot name one; the job can go on without a socket.
  Result<void> open(std::string_view job_id);
  // Sends the rank's output to the clients that follow it, as far as they read it.
  void output(Rank rank, Stream stream, std::string_view bytes);
  // The job has ended: notifies the clients that wait for that. Blocks for 200 ms at most, if one of them reads slowly.
  // `verdict`: the job outcome in words.
  void send_end(int exit_code, const std::string& verdict);
  // Removes the socket, and the folder if it is empty; closes all connections.
  void close();

 private:
  struct State;
  struct Visit;  // a connected client
  static void receive(const std::shared_ptr<State>& state, os::UniqueFd fd);
  static void read(const std::shared_ptr<Visit>& visit);
  static void await_bytes(const std::shared_ptr<Visit>& visit);
  static void answer(const std::shared_ptr<Visit>& visit, const Request& request);
  static void begin_logs(const std::shared_ptr<Visit>& visit, const Request& request);
  static void finish(const std::shared_ptr<Visit>& visit, const Answer& last);
  static void push(const std::shared_ptr<Visit>& visit);
  static void leave(const std::shared_ptr<Visit>& visit);
  std::shared_ptr<State> state_;
};

}  // namespace sml::control

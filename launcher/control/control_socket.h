// A running job's end of sml-run ps, status, stop, signal, stacks and logs: a Unix socket in the user's runtime folder,
// at which this user is answered and nobody else.
//
// One thread, the loop's. Nothing that happens here waits, fails the job or slows its output: whoever reads too slowly
// loses part of what the ranks print, and is told how much.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>

#include <sys/types.h>

#include "common/core/error.h"
#include "common/core/rank_set.h"
#include "common/core/stream.h"
#include "common/core/strong.h"
#include "launcher/control/messages.h"

namespace sml::control {

struct Handlers {
  std::function<report::JobSummary()> summary;
  // Answers by calling `done`, once, at once or later.
  std::function<void(Form form, std::function<void(Result<std::string>)> done)> status;
  std::function<void(pid_t asker)> stop;
  // Answers what has been done, for the one who asked. Error: it cannot be done now.
  std::function<Result<std::string>(const Request& request)> signal;
  // Answers by calling `done`, once, later. Error: it cannot be told now.
  std::function<void(Form form, std::function<void(Result<std::string>)> done)> stacks;
  // The end of what a rank has printed on that stream.
  std::function<std::string_view(Rank rank, Stream stream)> tail;
  std::function<std::uint32_t()> ranks;  // how many the job has
};

class ControlSocket {
 public:
  ControlSocket(boost::asio::any_io_executor loop, Handlers handlers);
  ~ControlSocket();  // as close()
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

  // Error (Io): there is no folder for it; nothing else follows from that.
  Result<void> open(std::string_view job_id);
  // Those who follow the rank's output get it, as far as they take it.
  void output(Rank rank, Stream stream, std::string_view bytes);
  // The job has ended: those who wait for that are told. Takes a moment where one of them reads slowly.
  void tell_end(int exit_code, const std::string& verdict);
  // Removes the socket, and the folder if it is empty.
  void close();

 private:
  struct State;
  struct Visit;
  static void accept(const std::shared_ptr<State>& state);
  static void await_visitors(const std::shared_ptr<State>& state);
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

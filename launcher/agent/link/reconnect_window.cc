#include "launcher/agent/link/reconnect_window.h"

#include <utility>

#include "common/wire/handshake.h"

namespace sml::agent {

ReconnectWindow::ReconnectWindow(boost::asio::io_context& loop, ControlLink& link, std::function<void()> back)
    : loop_(loop), link_(link), back_(std::move(back)) {}

ReconnectWindow::~ReconnectWindow() {
  if (socket_ && !link_.lost()) socket_->say_goodbye();
}

std::string ReconnectWindow::open_socket(const std::string& secret, Duration hold, Duration guardian_hold) {
  if (secret.empty()) return {};
  hold_ = pipe_hold_ = hold;
  guardian_hold_ = guardian_hold;
  socket_.emplace(loop_, secret, [this](Reconnected pipe) { return reconnected(std::move(pipe)); });
  if (!socket_->name().empty()) link_.make_resumable();
  return socket_->name();
}

void ReconnectWindow::first_pipe_ends() {
  if (!is_first_pipe_) return;
  pipe_hold_ = guardian_hold_;
  if (until_) link_broke();
}

bool ReconnectWindow::reconnected(Reconnected pipe) {
  std::string greeting = wire::goes_on_line(pipe.request.mark, link_.received());
  if (!link_.resume(std::move(pipe.in), std::move(pipe.out), std::move(greeting), pipe.request.received)) return false;
  until_.reset();
  is_first_pipe_ = false;
  pipe_hold_ = hold_;
  link_.send(wire::AgentLog{wire::LogLevel::Info, "the connection to it had broken, and has been made again"});
  back_();
  return true;
}

}  // namespace sml::agent

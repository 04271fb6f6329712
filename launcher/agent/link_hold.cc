#include "launcher/agent/link_hold.h"

#include <utility>

#include "common/wire/handshake.h"

namespace sml::agent {

LinkHold::LinkHold(boost::asio::io_context& loop, ControlLink& link, std::function<void()> back)
    : loop_(loop), link_(link), back_(std::move(back)) {}

LinkHold::~LinkHold() {
  if (door_ && !link_.lost()) door_->say_goodbye();
}

std::string LinkHold::open_door(const std::string& secret, Duration hold) {
  if (secret.empty()) return {};
  hold_ = hold;
  door_.emplace(loop_, secret, [this](Returned pipe) { return come_back(std::move(pipe)); });
  if (!door_->name().empty()) link_.make_lasting();
  return door_->name();
}

bool LinkHold::come_back(Returned pipe) {
  std::string greeting = wire::goes_on_line(pipe.wish.mark, link_.received());
  if (!link_.go_on(std::move(pipe.in), std::move(pipe.out), std::move(greeting), pipe.wish.received)) return false;
  until_.reset();
  link_.send(wire::AgentLog{wire::LogLevel::Info, "the connection to it had broken, and has been made again"});
  back_();
  return true;
}

}  // namespace sml::agent

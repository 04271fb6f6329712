#include "launcher/transport/clean_up.h"

#include <memory>
#include <string>
#include <utility>
#include <variant>

#include <boost/asio/steady_timer.hpp>

#include "common/core/clock.h"
#include "common/core/text.h"

namespace sml::transport {

namespace {

constexpr Duration kLimit = std::chrono::seconds(15);  // a batch system takes seconds to start a step

std::string not_ended(const std::string& host, const std::string& why) {
  return host + ": what its agent may have left there has not been looked for: " + why;
}

}  // namespace

CleanUp::CleanUp(boost::asio::io_context& loop, const AgentImage& image, AgentLauncher& agent_launcher,
                 std::function<void(const std::string&)> print)
    : loop_(loop), image_(image), agent_launcher_(agent_launcher), print_(std::move(print)) {}

void CleanUp::run(std::vector<AgentSession::Plan> hosts) {
  if (hosts.empty()) return;
  loop_.restart();
  boost::asio::steady_timer limit(loop_, kLimit);
  const auto here = std::make_shared<bool>();  // the loop may have queued the handler when this call returns
  limit.async_wait([this, here = std::weak_ptr<bool>(here)](boost::system::error_code error) {
    if (!error && !here.expired()) loop_.stop();
  });
  awaited_ = hosts.size();
  for (AgentSession::Plan& host : hosts) {
    sessions_.push_back(std::make_unique<AgentSession>(loop_.get_executor(), static_cast<SessionOwner&>(*this), image_,
                                                       agent_launcher_, std::move(host)));
    sessions_.back()->start();
  }
  loop_.run();
  const bool is_late = Clock::now() >= limit.expiry();  // else stopped, as by the user
  const std::string why = is_late ? "no answer within " + format_duration(kLimit) : "stopped before it answered";
  for (const auto& session : sessions_) {
    if (!session->ended()) print_(not_ended(session->name(), why));
  }
  sessions_.clear();
}

void CleanUp::session_message(AgentSession& session, wire::ToLauncher message) {
  const auto* ended = std::get_if<wire::LeftEnded>(&message);
  if (ended == nullptr) return;
  if (ended->count > 0) {
    print_(session.name() + ": ended " + std::to_string(ended->count) +
           (ended->count == 1 ? " process" : " processes") + " of the job that its agent had left there");
  }
  for (const std::string& left : ended->left) print_(session.name() + ": cannot be ended: " + show(left));
}

void CleanUp::session_ended(AgentSession& session, const Error* why) {
  if (why != nullptr) print_(not_ended(session.name(), why->message()));
  if (--awaited_ == 0) loop_.stop();
}

}  // namespace sml::transport

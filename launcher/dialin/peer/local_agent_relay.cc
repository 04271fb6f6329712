#include "launcher/dialin/peer/local_agent_relay.h"

#include <cstdint>
#include <utility>

#include <boost/asio/io_context.hpp>

#include "launcher/transport/clean_up.h"
#include "launcher/transport/local_launcher.h"
#include "launcher/transport/process_transport.h"

namespace sml::dialin {

namespace {

constexpr std::uint32_t kCleanUpSilenceMs = 30'000;  // longer than a clean-up takes

}  // namespace

void LocalAgentRelay::prepare() {
  unprepared_ = plan_.unable;
  if (plan_.task == nullptr) return;
  ready_ = false;
  preparation_.emplace(loop_, *plan_.task, [this](const Result<void>& done) {
    ready_ = true;
    if (!done) unprepared_ = done.error();
    start_if_ready();
  });
}

void LocalAgentRelay::start(const std::string& mark) {
  mark_ = mark;
  start_if_ready();
}

void LocalAgentRelay::start_if_ready() {
  if (!ready_ || !mark_ || ending_) return;
  if (unprepared_) return owner_.agent_cannot_start(*unprepared_);
  traces_.emplace(*mark_);
  agent_ = transport::make_local_transport(loop_, image_, *mark_, plan_.environment);
  agent_->start(*this);
}

void LocalAgentRelay::send(std::string bytes) {
  if (agent_) agent_->send(std::move(bytes));
}

void LocalAgentRelay::end_input() {
  if (agent_) agent_->finish();
}

bool LocalAgentRelay::end() {
  ending_ = true;
  if (!runs()) return false;
  agent_->finish();
  return true;
}

void LocalAgentRelay::transport_bytes(std::span<const char> bytes) {
  traces_->feed(bytes);
  owner_.agent_bytes({bytes.data(), bytes.size()});
}

void LocalAgentRelay::transport_closed(const Error& why) {
  over_ = true;
  owner_.agent_ended(why);
}

// Done here, since the coordinator cannot reach this host for a clean-up.
void LocalAgentRelay::end_what_it_left(const std::function<void(const std::string&)>& print) {
  const bool vanished = agent_ && !(over_ && agent_->far_side_ended_well());
  agent_.reset();
  if (!vanished || !traces_->found()) return;
  boost::asio::io_context loop(1);
  const std::string& name = plan_.settings.hosts[plan_.settings.own_index];
  transport::LocalLauncher agent_launcher(loop.get_executor(), image_, plan_.environment);
  transport::CleanUp(loop, image_, agent_launcher, print)
      .run({{.host = HostId(plan_.settings.own_index),
             .name = name,
             .hello = {.job_id = {}, .host = name, .heartbeat_timeout_ms = kCleanUpSilenceMs},
             .end_left = traces_->found()}});
}

}  // namespace sml::dialin

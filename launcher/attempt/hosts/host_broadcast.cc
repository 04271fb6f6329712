#include "launcher/attempt/hosts/host_broadcast.h"

#include <algorithm>
#include <utility>

namespace sml::attempt {

void HostBroadcast::ask(const std::function<wire::ToAgent(std::uint32_t id)>& question, Duration limit, Done done) {
  done_ = std::move(done);
  unanswered_.clear();
  const wire::ToAgent message = question(++id_);
  for (const fleet::Host& host : fleet_.hosts()) {
    if (!host.runs()) continue;
    unanswered_.emplace(host.id, host.name());
    host.session->send(message);
  }
  timer_.expires_after(unanswered_.empty() ? Duration::zero() : limit);
  timer_.async_wait([this, id = id_, alive = std::weak_ptr<bool>(alive_)](boost::system::error_code error) {
    if (!error && !alive.expired() && id == id_) end();
  });
}

void HostBroadcast::answered(const fleet::Host& host, std::uint32_t id) {
  if (!awaits(id)) return;
  unanswered_.erase(host.id);
  if (unanswered_.empty()) end();
}

void HostBroadcast::end() {
  if (!waits()) return;
  timer_.cancel();
  std::vector<std::string> silent;
  for (const auto& [id, name] : unanswered_) silent.push_back(name);
  std::sort(silent.begin(), silent.end());
  std::exchange(done_, {})(std::move(silent));
}

}  // namespace sml::attempt

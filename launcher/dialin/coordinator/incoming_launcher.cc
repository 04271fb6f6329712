#include "launcher/dialin/coordinator/incoming_launcher.h"

#include <utility>

namespace sml::dialin {

IncomingLauncher::IncomingLauncher(boost::asio::any_io_executor loop, const transport::AgentImage& image,
                                   CoordinatorPlan plan, std::vector<std::string> environment, std::uint32_t fanout)
    : LocalLauncher(std::move(loop), image, std::move(environment)),
      own_(plan.settings.own_index),
      task_(plan.task),
      threads_(fanout),
      plan_(std::move(plan)) {}

Result<void> IncomingLauncher::open(Events events) {
  Coordinator::Events of_head{std::move(events.print), std::move(events.come), std::move(events.stop_asked)};
  if (plan_->opened) {
    head_ = std::move(plan_->opened);
    head_->serve(std::move(of_head));
    return {};
  }
  boost::asio::thread_pool& pool = threads_.pool(plan_->settings.hosts.size());
  Result<std::unique_ptr<Coordinator>> head = make_coordinator(loop(), pool, std::move(*plan_), std::move(of_head));
  if (!head) return head.error();
  head_ = std::move(*head);
  head_->begin();
  return {};
}

std::unique_ptr<transport::AgentTransport> IncomingLauncher::transport(HostId host, const std::string& mark,
                                                                       const std::string&) {
  return host == own_ ? nullptr : head_->make_transport(host, mark);
}

std::vector<transport::AgentLauncher::Missing> IncomingLauncher::missing() const { return head_->missing(); }

bool IncomingLauncher::send_end(const transport::RunEnd& end, std::function<void()> done) {
  head_->end({end.exit_code, end.words, end.failure}, std::move(done));
  return true;
}

void IncomingLauncher::close() {
  head_.reset();
  threads_.abandon();
}

}  // namespace sml::dialin

#include "launcher/notify/notifier.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/core/text.h"
#include "common/os/side_thread.h"
#include "launcher/notify/deliver.h"
#include "launcher/notify/url.h"

namespace sml::notify {

namespace {

constexpr std::string_view kSlack = "hooks.slack.com";

std::string named(const std::string& text) { return "--notify " + show(text, 100); }

}  // namespace

struct Notifier::Target {
  Target(const boost::asio::any_io_executor& loop, const NotifyTarget& of) : given(of), thread(loop) {
    if (!given.command.empty()) return;
    if (Result<Url> parsed = Url::parse(given.text)) url = std::move(*parsed);
  }
  const NotifyTarget& given;
  std::optional<Url> url;
  std::size_t waiting = 0;
  bool complained = false;
  std::vector<std::shared_ptr<Result<void>>> outcomes;  // of those that wait; not to be read before they are delivered
  os::SideThread thread;                                // the last: what it uses outlives it
};

Result<void> Notifier::check(const ObserverOptions& options) {
  for (const NotifyTarget& target : options.notify) {
    Result<void> good;
    if (!target.command.empty()) {
      if (const auto found = check_command(target.command); !found) good = found.error();
    } else if (const Result<Url> url = Url::parse(target.text); !url) {
      good = url.error();
    }
    if (!good) return Error(ErrorKind::Usage, named(target.text) + ": " + good.error().message());
  }
  return {};
}

Notifier::Notifier(const boost::asio::any_io_executor& loop, const ObserverOptions& options, Print print)
    : print_(std::move(print)), maker_(options) {
  for (const NotifyTarget& target : options.notify) {
    targets_.push_back(std::make_unique<Target>(loop, target));
    if (target.command.empty()) continue;
    const Result<std::vector<std::string>> found = check_command(target.command);
    if (!found) continue;
    for (const std::string& why : *found) print_("warning: " + named(target.text) + ": " + why);
  }
}

Notifier::~Notifier() = default;

void Notifier::on_event(const report::Event& event) {
  const std::optional<Notice> notice = maker_.on_event(event);
  if (!notice) return;
  for (const auto& target : targets_) {
    if (target->waiting == kMostWaiting) {
      complain(*target, "is too slow: notifications are left out");
      continue;
    }
    ++target->waiting;
    const bool is_slack = target->url && target->url->host == kSlack;
    auto outcome = std::make_shared<Result<void>>();
    target->outcomes.push_back(outcome);
    // The thread may go on after this object has gone: it gets copies.
    target->thread.post(
        [command = target->given.command, url = target->url, body = is_slack ? to_slack(*notice) : to_json(*notice),
         outcome] { *outcome = url ? post(*url, {body}, kDeliveryLimit) : run_command(command, body, kDeliveryLimit); },
        [this, of = target.get(), outcome] {
          std::erase(of->outcomes, outcome);
          on_outcome(*of, *outcome);
        });
  }
}

void Notifier::on_outcome(Target& target, const Result<void>& outcome) {
  --target.waiting;
  if (!outcome) complain(target, outcome.error().message());
}

void Notifier::complain(Target& target, const std::string& why) {
  if (std::exchange(target.complained, true)) return;
  print_(named(target.given.text) + ": " + why + "; the job goes on, and later failures of it are not reported");
}

// The loop does not run any more, and reports nothing.
void Notifier::finish() {
  const TimePoint end = Clock::now() + kLastTimeout;
  for (const auto& target : targets_) {
    if (target->outcomes.empty()) continue;
    if (!target->thread.finish(std::max(end - Clock::now(), Duration::zero()))) {
      print_(named(target->given.text) + ": has not taken the last notification within " +
             format_duration(kLastTimeout) + " after the end of the job; it is left out");
      continue;
    }
    for (const auto& outcome : target->outcomes) {
      if (!*outcome) complain(*target, (*outcome).error().message());
    }
  }
}

}  // namespace sml::notify

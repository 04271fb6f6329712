#include "launcher/dialin/step/step_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

#include "common/core/clock.h"
#include "common/core/letters.h"
#include "common/core/text.h"
#include "common/os/random.h"
#include "launcher/dialin/port.h"

namespace sml::dialin {

namespace {

namespace asio = boost::asio;

constexpr Duration kLastWait = std::chrono::seconds(5);  // for steps to end
// The end of a step after that of what it has started.
constexpr Duration kFateShows = std::chrono::seconds(3);
constexpr std::size_t kMaxLine = 4096;

std::string first_label(std::string_view name) { return lower(name.substr(0, name.find('.'))); }

}  // namespace

// A process of the starter's tool.
class StepCalls::Step final : public transport::TransportEvents {
 public:
  Step(StepCalls& owner, std::vector<std::string> on, std::unique_ptr<transport::AgentTransport> made)
      : hosts(std::move(on)), owner_(owner), process_(std::move(made)) {
    process_->start(*this);
  }

  const std::vector<std::string> hosts;
  bool ended = false;

 private:
  void transport_step(std::string_view text) override { owner_.step_waits(*this, text); }
  void transport_is_local() override {}
  void transport_open(std::string_view, std::string_view) override { process_->finish(); }  // it has no input
  void transport_bytes(std::span<const char> bytes) override {
    for (const char byte : bytes) {
      if (byte == '\n') {
        owner_.step_says(std::exchange(line_, {}));
      } else if (line_.size() < kMaxLine) {
        line_ += byte;
      }
    }
  }
  void transport_closed(const Error& why) override { owner_.step_ended(*this, why); }

  StepCalls& owner_;
  std::unique_ptr<transport::AgentTransport> process_;
  std::string line_;
};

StepCalls::StepCalls(asio::any_io_executor loop, Plan plan, Start start)
    : loop_(std::move(loop)),
      plan_(std::move(plan)),
      start_(std::move(start)),
      call_{.addresses = own_addresses(),
            .port = own_port(plan_.listener.get()),
            .host = {},
            .mark = "sml" + os::random_hex(8),
            .secret_variable = plan_.secret_variable},
      done_timer_(loop_),
      acceptor_(loop_, std::move(plan_.listener), [this](os::UniqueFd fd) { accept(std::move(fd)); }) {
  for (const std::string& name : plan_.hosts) hosts_.emplace(name, Host());
  acceptor_.open();
}

StepCalls::~StepCalls() {
  for (const auto& caller : callers_) caller->abandon();
}

// ---- calls

void StepCalls::accept(os::UniqueFd fd) {
  set_up_accepted(fd.get());
  const StepCaller::Ends ends{near_address(fd.get()), far_address(fd.get())};
  const std::optional<ConnectionLimiter::Admission> admission = limiter_.knock(ends.far, Clock::now());
  if (!admission) return;
  for (const auto& caller : callers_) {
    if (caller->id() == admission->displaced) caller->abandon();
  }
  sweep();
  Result<std::shared_ptr<Link>> link = make_link(loop_, std::move(fd), *plan_.credentials);
  if (!link) return limiter_.left(admission->id, Clock::now());
  callers_.push_back(
      std::make_shared<StepCaller>(static_cast<StepCallerOwner&>(*this), std::move(*link), ends, admission->id));
  callers_.back()->start();
}

void StepCalls::caller_introduces(StepCaller& caller) {
  limiter_.settled(caller.id());
  Host* host = find(caller.host());
  if (host == nullptr) return caller.refuse({Reason::UnknownHost, 0, "it is no host of this job"});
  const auto is_awaited = [&](const StepAwaiter* awaiter) { return find(awaiter->awaited_host()) == host; };
  if (ending_ && std::none_of(awaiters_.begin(), awaiters_.end(), is_awaited)) return caller.dismiss();
  host->caller = caller.shared_from_this();
  tell_fate(*host, std::nullopt);
  match_soon();
}

void StepCalls::caller_is_gone(StepCaller& caller) {
  limiter_.left(caller.id(), Clock::now());
  Host* host = caller.host().empty() ? nullptr : find(caller.host());
  if (host != nullptr && host->caller.get() == &caller) host->caller.reset();
  asio::post(loop_, [this, here = std::weak_ptr<bool>(here_)] {
    if (!here.expired()) sweep();
  });
}

void StepCalls::sweep() {
  std::erase_if(callers_, [](const auto& caller) { return caller->is_gone(); });
}

// ---- who waits for them

void StepCalls::await(StepAwaiter& awaiter) {
  awaiters_.push_back(&awaiter);
  match_soon();
}

void StepCalls::forget(const StepAwaiter& awaiter) { std::erase(awaiters_, &awaiter); }

void StepCalls::find_fate(const std::string& name, Fate known) {
  Host& host = hosts_[name];
  if (host.step == nullptr || host.caller) return known(host.caller ? std::nullopt : host.end);
  host.lost.push_back(std::move(known));
  const auto timer = std::make_shared<asio::steady_timer>(loop_, kFateShows);
  timer->async_wait([this, name, timer, here = std::weak_ptr<bool>(here_)](boost::system::error_code) {
    if (!here.expired()) tell_fate(hosts_[name], std::nullopt);
  });
}

void StepCalls::tell_fate(Host& host, const std::optional<Error>& end) {
  for (const Fate& known : std::exchange(host.lost, {})) known(end);
}

void StepCalls::match_soon() {
  if (std::exchange(matching_, true)) return;
  asio::post(loop_, [this, here = std::weak_ptr<bool>(here_)] {
    if (here.expired()) return;
    matching_ = false;
    match();
  });
}

void StepCalls::match() {
  std::vector<std::string> to_start;
  for (StepAwaiter* awaiter : std::vector<StepAwaiter*>(awaiters_)) {
    if (std::find(awaiters_.begin(), awaiters_.end(), awaiter) == awaiters_.end()) continue;  // forgotten meanwhile
    Host& host = hosts_[awaiter->awaited_host()];
    if (host.caller && host.caller->is_idle()) {
      std::erase(awaiters_, awaiter);
      awaiter->host_calls(std::exchange(host.caller, nullptr));
    } else if (host.step == nullptr &&
               std::find(to_start.begin(), to_start.end(), awaiter->awaited_host()) == to_start.end()) {
      to_start.push_back(awaiter->awaited_host());
    }
  }
  for (std::size_t begin = 0; begin < to_start.size(); begin += plan_.most_hosts) {
    const std::size_t count = std::min(plan_.most_hosts, to_start.size() - begin);
    const auto first = to_start.begin() + static_cast<std::ptrdiff_t>(begin);
    start_step({first, first + static_cast<std::ptrdiff_t>(count)});
  }
}

// One after the other: the event for one may have its owner drop another.
StepAwaiter* StepCalls::take_awaiter(const std::string& host) {
  const auto found = std::find_if(awaiters_.begin(), awaiters_.end(),
                                  [&host](const StepAwaiter* awaiter) { return awaiter->awaited_host() == host; });
  if (found == awaiters_.end()) return nullptr;
  StepAwaiter* awaiter = *found;
  awaiters_.erase(found);
  return awaiter;
}

// A host may call itself by the first label of its name only, or by all of it.
StepCalls::Host* StepCalls::find(const std::string& name) {
  if (const auto exact = hosts_.find(name); exact != hosts_.end()) return &exact->second;
  const auto alike = std::find_if(hosts_.begin(), hosts_.end(), [label = first_label(name)](const auto& entry) {
    return first_label(entry.first) == label;
  });
  return alike == hosts_.end() ? nullptr : &alike->second;
}

// ---- steps

void StepCalls::start_step(std::vector<std::string> hosts) {
  StepCall call = call_;
  if (plan_.most_hosts == 1) call.host = hosts.front();
  std::unique_ptr<transport::AgentTransport> process = start_(hosts, words_of_step(plan_.file, call));
  steps_.push_back(std::make_unique<Step>(*this, std::move(hosts), std::move(process)));
  for (const std::string& name : steps_.back()->hosts) {
    hosts_[name].step = steps_.back().get();
    hosts_[name].end.reset();
  }
}

void StepCalls::step_says(std::string_view text) {
  const std::optional<StepLine> line = parse_step_line(text, call_.mark);
  Host* host = line ? find(line->host) : nullptr;
  if (host == nullptr) return;
  const auto name =
      std::find_if(hosts_.begin(), hosts_.end(), [host](const auto& h) { return &h.second == host; })->first;
  if (line->word == StepWord::Trying) {
    for (StepAwaiter* awaiter : awaiters_) {
      if (awaiter->awaited_host() == name) awaiter->awaited_step("starting the agent: it " + line->text);
    }
    return;
  }
  host->step = nullptr;
  while (StepAwaiter* awaiter = take_awaiter(name)) {
    if (line->word == StepWord::Missing) {
      awaiter->host_lacks_program();
    } else {
      awaiter->host_fails(Error(ErrorKind::Lost, line->text));
    }
  }
}

void StepCalls::step_waits(const Step& step, std::string_view text) {
  for (StepAwaiter* awaiter : awaiters_) {
    if (hosts_[awaiter->awaited_host()].step == &step) awaiter->awaited_step(std::string(text));
  }
}

// Hosts that have called go on without it.
void StepCalls::step_ended(Step& step, const Error& why) {
  step.ended = true;
  const auto ended_with = [&why](int status) { return why.message().ends_with(fmt::format("status {}", status)); };
  const bool lacks = ended_with(kNoProgram);
  const Error cause = ended_with(kCannotCall)
                          ? Error(ErrorKind::Lost,
                                  "sml-run ran there, and could not call this host; the output of the "
                                  "job there has the reason")
                          : why;
  for (const std::string& name : step.hosts) {
    if (hosts_[name].step != &step) continue;
    hosts_[name].step = nullptr;
    hosts_[name].end = why;
    tell_fate(hosts_[name], why);
    if (hosts_[name].caller) continue;
    while (StepAwaiter* awaiter = take_awaiter(name))
      lacks ? awaiter->host_lacks_program() : awaiter->host_fails(cause);
  }
  asio::post(loop_, [this, here = std::weak_ptr<bool>(here_)] {
    if (here.expired()) return;
    std::erase_if(steps_, [](const auto& one) { return one->ended; });
    if (steps_.empty() && done_) std::exchange(done_, nullptr)();
  });
}

bool StepCalls::end(std::function<void()> done) {
  ending_ = true;
  for (const auto& caller : callers_) {
    if (!caller->is_gone()) caller->dismiss();
  }
  if (steps_.empty()) return false;
  done_ = std::move(done);
  done_timer_.expires_after(kLastWait);
  done_timer_.async_wait([this](boost::system::error_code error) {
    if (!error && done_) std::exchange(done_, nullptr)();
  });
  return true;
}

}  // namespace sml::dialin

#include "launcher/dialin/coordinator/coordinator.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/text.h"
#include "launcher/dialin/coordinator/connection_limiter.h"
#include "launcher/dialin/coordinator/peer.h"
#include "launcher/dialin/coordinator/peer_list.h"
#include "launcher/dialin/coordinator/place_assignment.h"
#include "launcher/dialin/link.h"
#include "launcher/dialin/port.h"
#include "launcher/inputs/hosts/host_source.h"
#include "launcher/os/acceptor.h"

namespace sml::dialin {

namespace {

namespace asio = boost::asio;

constexpr std::size_t kMaxSaid = 100;  // different messages about callers
constexpr Duration kTellLimit = std::chrono::seconds(5);
constexpr Duration kLookAround = std::chrono::milliseconds(100);
constexpr Duration kAliveInterval = std::chrono::seconds(5);

using Addresses = Result<std::vector<std::string>>;  // of a host, numeric

bool has(const std::vector<std::string>& addresses, const std::string& address) {
  return std::find(addresses.begin(), addresses.end(), address) != addresses.end();
}

class DialledTransport final : public transport::AgentTransport {
 public:
  DialledTransport(asio::any_io_executor loop, std::shared_ptr<PeerSlot> slot, std::string mark)
      : loop_(std::move(loop)), slot_(std::move(slot)) {
    slot_->mark = std::move(mark);
  }
  ~DialledTransport() override {
    slot_->events = nullptr;
    finish();
  }

  void start(transport::TransportEvents& events) override {
    slot_->events = &events;
    asio::post(loop_, [slot = slot_] {
      if (slot->events == nullptr) return;
      if (slot->why_not) return slot->send_end(*slot->why_not);
      slot->events->transport_step("it has not called");
      slot->begin();
    });
  }
  void send(std::string bytes) override {
    if (open()) slot_->peer->send_bytes(bytes);
  }
  std::size_t unsent() const override { return open() ? slot_->peer->unsent() : 0; }
  void finish() override {
    if (open()) slot_->peer->send(EndInput{});
  }
  TimePoint reconnected_at() const override { return slot_->reconnected_at; }

 private:
  bool open() const { return slot_->peer != nullptr && slot_->begun; }

  asio::any_io_executor loop_;
  std::shared_ptr<PeerSlot> slot_;
};

class CoordinatorImpl final : public Coordinator, private PeerOwner {
 public:
  CoordinatorImpl(const asio::any_io_executor& loop, asio::thread_pool& pool, CoordinatorPlan plan, Events events,
                  std::unique_ptr<Credentials> credentials)
      : loop_(loop),
        pool_(pool),
        settings_(std::move(plan.settings)),
        heartbeat_timeout_(plan.heartbeat_timeout),
        gathers_(settings_.least_hosts.has_value()),
        events_(std::move(events)),
        credentials_(std::move(credentials)),
        list_(settings_),
        acceptor_(loop, std::move(plan.listener), [this](os::UniqueFd fd) { receive(std::move(fd)); }),
        alive_timer_(loop),
        tell_timer_(loop) {
    for (std::size_t i = 0; i < settings_.hosts.size(); ++i) slots_.push_back(std::make_shared<PeerSlot>());
  }
  ~CoordinatorImpl() override { *here_ = false; }

  void serve(Events events) override { events_ = std::move(events); }

  void begin() override {
    acceptor_.open();
    keep_alive();
  }

  void set_hosts(std::uint32_t hosts, Latecomers latecomers) override {
    if (latecomers == Latecomers::Wait) most_ = settings_.hosts.size();
    gathers_ = false;
    slots_.resize(hosts);
    list_.keep_first(hosts);
    if (settings_.share) {
      shares_.assign(hosts, *settings_.share);
      for (const Promise& one : promises()) shares_[one.place] = one.peer->share();
    }
    place_waiting();
  }

  plan::HostShares shares() const override { return shares_; }

  std::vector<std::string> present() const override {
    std::vector<std::string> out;
    for (std::uint32_t i = 0; i < slots_.size(); ++i) {
      const bool here = i == settings_.own_index || (slots_[i]->peer != nullptr && !slots_[i]->is_out());
      if (here) out.push_back(list_.names()[i]);
    }
    auto next = static_cast<std::uint32_t>(slots_.size());
    for (const auto& peer : peers_) {
      if (!peer->gone() && peer->is_late()) out.push_back(name_of_place(next++));
    }
    return out;
  }

  void add_place(const std::string& name) override {
    const auto place = static_cast<std::uint32_t>(slots_.size());
    slots_.push_back(std::make_shared<PeerSlot>());
    list_.add(name);
    const auto waits = [](const auto& peer) { return !peer->gone() && peer->is_late(); };
    const auto peer = std::find_if(peers_.begin(), peers_.end(), waits);
    if (list_.come(place) && peer != peers_.end()) welcome(**peer, place);
  }

  std::unique_ptr<transport::AgentTransport> make_transport(HostId host, std::string mark) override {
    return std::make_unique<DialledTransport>(loop_, slots_[host.value()], std::move(mark));
  }

  std::vector<transport::AgentLauncher::Missing> missing() const override {
    std::vector<transport::AgentLauncher::Missing> out;
    const std::vector<bool> promised = promised_places();
    for (std::uint32_t i = 0; i < slots_.size(); ++i) {
      if (!list_.taken()[i] && !promised[i]) out.push_back({HostId(i), slots_[i]->why_not});
    }
    return out;
  }

  std::vector<transport::AgentLauncher::Missing> refused() const override {
    if (!some_are_refused_) return {};
    std::vector<transport::AgentLauncher::Missing> out = missing();
    std::erase_if(out, [](const transport::AgentLauncher::Missing& one) { return !one.why_not; });
    return out;
  }

  void end(const JobEnd& how, std::function<void()> sent) override {
    on_sent_ = std::move(sent);
    for (const auto& [peer, place] : promises()) {
      if (list_.come(place)) give_place(*peer, place);
    }
    list_.close();
    alive_timer_.cancel();
    ending_ = true;  // the port stays open: a peer that has lost its connection reconnects to receive the outcome
    for (const auto& peer : peers_) {
      if (peer->is_late() && !peer->gone()) peer->turn_away(list_.refusal(Reason::Ending, "the job is ending"));
      if (peer->gone() || !peer->slot()) continue;
      peer->send(how);
      peer->finish();
    }
    await_told(Clock::now() + kTellLimit);
  }

  // PeerOwner
  void peer_introduces(Peer& peer, const Introduction& introduction) override {
    limiter_.settled(peer.id());
    if (ending_) {  // as if the port were closed: the caller may belong to the next job's coordinator
      peer.give_way();
      return sweep();
    }
    if (const std::optional<Refused> refused = list_.refuse(introduction)) {
      refuse(peer, *refused);
      if (settles_all(refused->reason)) give_up_caller(peer, introduction, refused->text);
      return;
    }
    peer.identified();
    if (introduction.index == kAnyPlace) return let_wait(peer, introduction);
    if (settings_.callers == Callers::Anywhere) return let_in(peer, introduction);
    look_up(introduction.host, [this, introduction, weak = weak_to(peer)](const Addresses& addresses) {
      const std::shared_ptr<Peer> caller = weak.lock();
      if (caller && !caller->gone()) check_address(*caller, introduction, addresses);
    });
  }

  void peer_reconnects(Peer& peer, const Reconnect& m) override {
    limiter_.settled(peer.id());
    const auto is_it = [&m](const auto& one) { return !one->gone() && one->has(m.ticket); };
    const auto before = std::find_if(peers_.begin(), peers_.end(), is_it);
    if (before == peers_.end() || !peer.resume_from(**before, m.received)) {
      return refuse(peer, list_.refusal(Reason::Gone, "it reconnected too late"));
    }
    peer.identified();
    events_.print(peer.host() + ": the connection to it had broken, and has been made again");
    sweep();
  }

  void peer_stops(const std::string& host, int signo) override { events_.stop_asked(host, signo); }
  void unknown_peer_left(const Peer& peer, const Error& why) override { say_about(peer, why.message()); }
  void peer_disconnected(const Peer& peer) override { limiter_.left(peer.id(), Clock::now()); }
  void peer_is_gone(const Peer& peer) override {
    if (peer.waits()) place_waiting();
    sweep();
  }

 private:
  // Reports the refusal and sends it to the caller. But if no place is free while a broken peer is waited for, the
  // caller may be that host, started again: closes its connection only, so that it calls again.
  void refuse(Peer& peer, const Refused& refused) {
    const bool no_place = refused.reason == Reason::Twice || refused.reason == Reason::Full;
    if (no_place && std::any_of(peers_.begin(), peers_.end(), [](const auto& one) { return one->is_broken(); })) {
      peer.give_way();
      return sweep();
    }
    say_about(peer, refused.text);
    peer.turn_away(refused);
  }
  bool needs_all() const { return !gathers_ || settings_.needs_all(); }
  // Whether the refusal is final for a host of this job, so that the others need not wait for it.
  bool settles_all(Reason reason) const {
    const bool is_final = reason == Reason::Plan || reason == Reason::Version || reason == Reason::Build;
    return is_final && needs_all() && !most_;
  }
  // Gives up the place of a refused caller. Where hosts are known by name, the caller may be a stranger: its address
  // has to be one of the host that it claims to be.
  void give_up_caller(const Peer& peer, const Introduction& introduction, const std::string& text) {
    const std::string from = peer.ends().far;
    if (settings_.callers == Callers::Anywhere) return give_up_place(introduction.index, from, text);
    const std::vector<std::string>& hosts = list_.names();
    const auto claimed = std::find(hosts.begin(), hosts.end(), introduction.host);
    if (claimed == hosts.end()) return;
    const auto place = static_cast<std::uint32_t>(claimed - hosts.begin());
    look_up(introduction.host, [this, place, from, text](const Addresses& addresses) {
      if (addresses && has(*addresses, from) && !ending_) give_up_place(place, from, text);
    });
  }
  // `place`: kAnyPlace, or one that the job does not have, stands for the first free one.
  void give_up_place(std::uint32_t place, const std::string& from, const std::string& text) {
    const std::vector<bool> promised = promised_places();
    if (place >= slots_.size()) {
      for (place = 0; place < slots_.size() && (list_.taken()[place] || promised[place]); ++place) continue;
    }
    if (place >= slots_.size() || list_.taken()[place]) return;
    PeerSlot& slot = *slots_[place];
    slot.why_not = Error(ErrorKind::Spawn, "it has called from " + from + " and cannot take part: " + text)
                       .with_hint("start every host with the same sml-run and the same number of hosts and workers");
    some_are_refused_ = true;
    slot.send_end(*slot.why_not);
    events_.come();
  }
  void say_about(const Peer& peer, const std::string& text) {
    say_once("a caller from " + peer.ends().far + " is turned away: " + text);
  }

  // Assigns places to the hosts that wait, once all are here.
  void place_waiting() {
    const std::vector<Promise> all = promises();
    if (gathers_) return events_.gathered(1 + static_cast<std::uint32_t>(all.size()));
    if (!all.empty() && all.size() == list_.free_places()) {
      for (const auto& [peer, place] : all) {
        if (list_.come(place)) welcome(*peer, place);
      }
    }
    tell_steps();
  }

  // Destroys peers that are gone; posted, since they may be in a callback now.
  void sweep() {
    asio::post(loop_, [this, here = here_] {
      if (!*here) return;
      std::erase_if(peers_, [](const auto& peer) { return peer->gone(); });
      const auto may_hear = [](const auto& peer) { return peer->slot() && !peer->is_silent(); };
      if (on_sent_ && std::none_of(peers_.begin(), peers_.end(), may_hear)) all_sent();
    });
  }

  void receive(os::UniqueFd fd) {
    set_up_accepted(fd.get());
    const std::string from = far_address(fd.get());
    const std::optional<ConnectionLimiter::Admission> admission = limiter_.knock(from, Clock::now());
    if (!admission)
      return say_once("callers from " + from + " have to wait: too many have not yet identified themselves");
    if (admission->displaced) {
      for (const auto& peer : peers_) {
        if (peer->id() == admission->displaced) peer->give_way();
      }
      sweep();
    }
    const int number = fd.get();
    Result<std::shared_ptr<Link>> link = make_link(loop_, std::move(fd), *credentials_);
    if (!link) return limiter_.left(admission->id, Clock::now());
    peers_.push_back(std::make_shared<Peer>(loop_, static_cast<PeerOwner&>(*this), std::move(*link), number,
                                            admission->id, heartbeat_timeout_));
  }

  void say_once(const std::string& sentence) {
    if (printed_.size() < kMaxSaid && printed_.insert(sentence).second) events_.print(sentence);
  }

  std::weak_ptr<Peer> weak_to(const Peer& peer) const {
    const auto is_it = [&peer](const auto& one) { return one.get() == &peer; };
    const auto found = std::find_if(peers_.begin(), peers_.end(), is_it);
    return found == peers_.end() ? std::weak_ptr<Peer>() : std::weak_ptr<Peer>(*found);
  }

  // Calls `then` on the loop's thread, unless the coordinator has been destroyed by then.
  void look_up(const std::string& host, std::function<void(const Addresses&)> then) {
    asio::post(pool_, [here = here_, loop = loop_, host, then = std::move(then)] {
      asio::post(loop, [here, addresses = addresses_of(host), then] {
        if (*here) then(addresses);
      });
    });
  }

  void check_address(Peer& peer, const Introduction& introduction, const Addresses& addresses) {
    if (!addresses) {
      return refuse(peer, list_.refusal(Reason::Address, introduction.host + ": " + addresses.error().message()));
    }
    if (!has(*addresses, peer.ends().far)) {
      return refuse(peer,
                    list_.refusal(Reason::Address, peer.ends().far + " is not an address of " + introduction.host));
    }
    let_in(peer, introduction);
  }

  void let_in(Peer& peer, const Introduction& introduction) {
    if (!list_.come(introduction.index)) {
      return refuse(peer, list_.refuse(introduction).value_or(list_.refusal(Reason::Ending, "the job is ending")));
    }
    welcome(peer, introduction.index);
    if (some_wait_ || gathers_) place_waiting();
  }

  void welcome(Peer& peer, std::uint32_t place) {
    give_place(peer, place);
    peer.slot()->begin();
    events_.come();
  }
  void give_place(Peer& peer, std::uint32_t place) {
    peer.take(slots_[place], {place, static_cast<std::uint32_t>(slots_.size()), {}, shares_}, list_.names()[place]);
  }

  void let_wait(Peer& peer, const Introduction& introduction) {
    const bool is_late = most_ && list_.free_places() == 0 && introduction.calls == Calls::WithPlan;
    if (is_late && present().size() < *most_) return peer.wait_for_more();
    if (promises().size() >= list_.free_places()) {
      return refuse(peer, list_.refuse_surplus(most_.value_or(slots_.size())));
    }
    if (!needs_all() && introduction.calls == Calls::ToSayWhyNot) {
      return refuse(peer, list_.refusal(Reason::Ending, "it cannot take part, and the job begins without it"));
    }
    peer.wait(introduction);
    some_wait_ = true;
    if (introduction.calls == Calls::ToSayWhyNot) {  // the job need not wait until others know it
      if (gathers_) events_.gathered(*settings_.least_hosts);
      place_late_peer(peer);
    }
    place_waiting();
  }

  void place_late_peer(const Peer& peer) {
    for (const auto& [one, place] : promises()) {
      if (one == &peer && list_.come(place)) return welcome(*one, place);
    }
  }

  struct Promise {
    Peer* peer;
    std::uint32_t place;  // the place it gets if no one else calls
  };
  std::vector<Promise> promises() const {
    std::vector<Promise> out;
    std::vector<Unplaced> callers;
    for (const auto& peer : peers_) {
      if (peer->gone() || !peer->waits()) continue;
      out.push_back({peer.get(), kAnyPlace});
      callers.push_back(*peer->waits());
    }
    const std::vector<std::uint32_t> places = assign_places(callers, list_.taken());
    for (std::size_t i = 0; i < out.size(); ++i) out[i].place = places[i];
    return out;
  }
  std::vector<bool> promised_places() const {
    std::vector<bool> out(slots_.size());
    for (const Promise& one : promises()) out[one.place] = true;
    return out;
  }

  // Sets for each absent host the step that a start timeout reports.
  void tell_steps() {
    const std::vector<bool> promised = promised_places();
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i]->peer != nullptr || slots_[i]->events == nullptr || list_.taken()[i]) continue;
      slots_[i]->events->transport_step(promised[i] ? "it has called, and others have not" : "it has not called");
    }
  }

  void keep_alive() {
    alive_timer_.expires_after(std::min(kAliveInterval, heartbeat_timeout_ / 3));
    alive_timer_.async_wait([this](boost::system::error_code error) {
      if (error) return;
      for (const auto& peer : peers_) {
        if (peer->slot()) peer->send(Alive{});
      }
      keep_alive();
    });
  }

  // Polls: no event reports that a peer has become silent.
  void await_told(TimePoint limit) {
    sweep();
    tell_timer_.expires_after(kLookAround);
    tell_timer_.async_wait([this, limit](boost::system::error_code error) {
      if (error) return;
      if (Clock::now() >= limit) return all_sent();
      await_told(limit);
    });
  }

  void all_sent() {
    tell_timer_.cancel();
    if (const auto sent = std::exchange(on_sent_, nullptr)) sent();
  }

  asio::any_io_executor loop_;
  asio::thread_pool& pool_;
  const Settings settings_;
  Duration heartbeat_timeout_;
  bool gathers_;  // the job waits for a quorum: its number of hosts is not settled
  Events events_;
  std::unique_ptr<Credentials> credentials_;
  PeerList list_;
  // The maximum number of hosts, if the job lets hosts in while it runs; else nullopt.
  std::optional<std::size_t> most_;
  ConnectionLimiter limiter_;
  plan::HostShares shares_;                       // by place; empty: all alike
  std::vector<std::shared_ptr<PeerSlot>> slots_;  // by place
  std::vector<std::shared_ptr<Peer>> peers_;
  std::set<std::string> printed_;
  std::function<void()> on_sent_;
  bool some_wait_ = false;         // a caller without a place of its own has come
  bool some_are_refused_ = false;  // for good
  bool ending_ = false;
  os::Acceptor acceptor_;
  asio::steady_timer alive_timer_;
  asio::steady_timer tell_timer_;
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);
};

}  // namespace

Result<std::unique_ptr<Coordinator>> make_coordinator(const asio::any_io_executor& loop, asio::thread_pool& pool,
                                                      CoordinatorPlan plan, Coordinator::Events events) {
  Result<std::unique_ptr<Credentials>> credentials =
      make_credentials(Side::Coordinator, plan.settings.key, plan.settings.peer_proof);
  if (!credentials) return credentials.error();
  return std::unique_ptr<Coordinator>(
      std::make_unique<CoordinatorImpl>(loop, pool, std::move(plan), std::move(events), std::move(*credentials)));
}

}  // namespace sml::dialin

#include "launcher/dialin/head.h"

#include <algorithm>
#include <csignal>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/text.h"
#include "launcher/dialin/door.h"
#include "launcher/dialin/guest_list.h"
#include "launcher/dialin/link.h"
#include "launcher/dialin/port.h"
#include "launcher/dialin/seating.h"
#include "launcher/inputs/host_source.h"

namespace sml::dialin {

namespace {

namespace asio = boost::asio;

constexpr std::size_t kMaxSaid = 100;  // different sentences about callers
constexpr Duration kTellLimit = std::chrono::seconds(5);
constexpr Duration kAliveInterval = std::chrono::seconds(5);
constexpr Duration kShortOfDescriptors = std::chrono::milliseconds(100);

class Guest;

// Lost: an agent that ran. What else there is happens before.
ErrorKind kind_of(const AgentEnded& m) {
  return m.kind <= static_cast<std::uint8_t>(ErrorKind::Internal) ? static_cast<ErrorKind>(m.kind) : ErrorKind::Lost;
}

// Where a host and its session in the job meet, whoever comes first.
struct Seat {
  Guest* guest = nullptr;                     // null: not here
  launch::TransportEvents* events = nullptr;  // null: the session has not begun, or is over
  std::string mark;
  bool begun = false;  // its agent has been asked for

  bool is_out() const { return begun && events == nullptr; }  // its guest only waits for the end
  void begin();
  void tell_end(const Error& why) {
    if (launch::TransportEvents* to = std::exchange(events, nullptr)) to->transport_closed(why);
  }
};

class HeadImpl;

// One caller.
class Guest final : private LinkEvents {
 public:
  Guest(HeadImpl& head, std::shared_ptr<Link> link, int fd, Door::Id id)
      : head_(head), link_(std::move(link)), id_(id), near_(near_address(fd)), far_(far_address(fd)) {
    link_->start(*this);
  }
  ~Guest() override { link_->abandon(); }

  void send(const ToHost& message) { link_->send(encode(message)); }
  void send_bytes(std::string_view bytes) {
    send_in_pieces<ToHost>(bytes, [this](std::string frame) { link_->send(std::move(frame)); });
  }
  std::size_t unsent() const { return link_->unsent(); }
  void finish() { link_->finish(); }
  const std::string& near() const { return near_; }
  const std::string& far() const { return far_; }
  const std::shared_ptr<Seat>& seat() const { return seat_; }
  void take(std::shared_ptr<Seat> seat, const Welcome& welcome, const std::string& host) {
    waits_.reset();
    is_late_ = false;
    seat_ = std::move(seat);
    seat_->guest = this;
    host_ = host;
    send(welcome);
  }
  // For a place, until the others are here.
  void wait(const Introduction& introduction) { waits_ = Unplaced{introduction.wished, far_}; }
  const std::optional<Unplaced>& waits() const { return waits_; }
  // For a place that there is not yet.
  void wait_for_more() { is_late_ = true; }
  bool is_late() const { return is_late_; }
  void turn_away(const Refused& refused) {
    send(refused);
    finish();
  }
  bool gone() const { return gone_; }
  Door::Id id() const { return id_; }
  // It is one of ours, as far as it says, and may take its time now.
  void hear_out() { link_->known(); }
  // For one that came later.
  void give_way() {
    link_->abandon();
    gone_ = true;
  }

 private:
  void link_proved() override {}
  void link_bytes(std::span<const char> bytes) override;
  void link_closed(const Error& why) override;
  void handle(const Introduction& introduction);
  void handle(const Bytes& m) {
    if (seat_->events != nullptr) seat_->events->transport_bytes(m.bytes);
  }
  void handle(const AgentEnded& m) { seat_->tell_end(Error(kind_of(m), show(m.text, 2000))); }
  void handle(const StopAsked& m);

  HeadImpl& head_;
  std::shared_ptr<Link> link_;
  Door::Id id_;
  FrameReader<ToHead> reader_;
  std::shared_ptr<Seat> seat_;  // null: it has not been let in
  std::string near_;
  std::string far_;
  std::optional<Unplaced> waits_;
  bool is_late_ = false;
  std::string host_;
  bool introduced_ = false;
  bool gone_ = false;
};

class DialledTransport final : public launch::AgentTransport {
 public:
  DialledTransport(asio::any_io_executor loop, std::shared_ptr<Seat> seat, std::string mark)
      : loop_(std::move(loop)), seat_(std::move(seat)) {
    seat_->mark = std::move(mark);
  }
  ~DialledTransport() override {
    seat_->events = nullptr;
    finish();
  }

  void start(launch::TransportEvents& events) override {
    seat_->events = &events;
    asio::post(loop_, [seat = seat_] {
      if (seat->events == nullptr) return;
      seat->events->transport_step("it has not called");
      seat->begin();
    });
  }
  void send(std::string bytes) override {
    if (open()) seat_->guest->send_bytes(bytes);
  }
  std::size_t unsent() const override { return open() ? seat_->guest->unsent() : 0; }
  void finish() override {
    if (open()) seat_->guest->send(EndInput{});
  }

 private:
  bool open() const { return seat_->guest != nullptr && seat_->begun; }

  asio::any_io_executor loop_;
  std::shared_ptr<Seat> seat_;
};

class HeadImpl final : public Head {
 public:
  HeadImpl(const asio::any_io_executor& loop, asio::thread_pool& pool, HeadPlan plan, Events events,
           std::unique_ptr<Credentials> credentials)
      : loop_(loop),
        pool_(pool),
        plan_(std::move(plan)),
        events_(std::move(events)),
        credentials_(std::move(credentials)),
        list_(plan_.settings),
        listener_(loop),
        rest_timer_(loop),
        alive_timer_(loop),
        tell_timer_(loop) {
    for (std::size_t i = 0; i < plan_.settings.hosts.size(); ++i) seats_.push_back(std::make_shared<Seat>());
    listener_.assign(plan_.listener.release());
  }
  ~HeadImpl() override { *here_ = false; }

  void serve(Events events) override { events_ = std::move(events); }

  void begin() override {
    accept();
    keep_alive();
  }

  void set_hosts(std::uint32_t hosts, Latecomers latecomers) override {
    if (latecomers == Latecomers::Wait) most_ = plan_.settings.hosts.size();
    plan_.settings.hosts.resize(hosts);
    plan_.settings.least_hosts.reset();
    seats_.resize(hosts);
    list_.resize(hosts);
    seat_waiting();
  }

  std::vector<std::string> present() const override {
    std::vector<std::string> out;
    for (std::uint32_t i = 0; i < seats_.size(); ++i) {
      const bool here = i == plan_.settings.own_index || (seats_[i]->guest != nullptr && !seats_[i]->is_out());
      if (here) out.push_back(plan_.settings.hosts[i]);
    }
    auto next = static_cast<std::uint32_t>(seats_.size());
    for (const auto& guest : guests_) {
      if (!guest->gone() && guest->is_late()) out.push_back(name_of_place(next++));
    }
    return out;
  }

  void know(const std::string& name) override {
    const auto place = static_cast<std::uint32_t>(seats_.size());
    seats_.push_back(std::make_shared<Seat>());
    plan_.settings.hosts.push_back(name);
    list_.resize(seats_.size());
    const auto waits = [](const auto& guest) { return !guest->gone() && guest->is_late(); };
    const auto guest = std::find_if(guests_.begin(), guests_.end(), waits);
    if (list_.come(place) && guest != guests_.end()) welcome(**guest, place);
  }

  std::unique_ptr<launch::AgentTransport> make_transport(HostId host, std::string mark) override {
    return std::make_unique<DialledTransport>(loop_, seats_[host.value()], std::move(mark));
  }

  std::vector<HostId> missing() const override {
    std::vector<HostId> out;
    const std::vector<bool> promised = promised_places();
    for (std::uint32_t i = 0; i < seats_.size(); ++i) {
      if (!list_.taken()[i] && !promised[i]) out.push_back(HostId(i));
    }
    return out;
  }

  void end(const JobEnd& how, std::optional<HostId> culprit, std::function<void()> told) override {
    told_ = std::move(told);
    for (const auto& [guest, place] : promises()) {
      if (list_.come(place)) give_place(*guest, place);
    }
    list_.close();
    alive_timer_.cancel();
    boost::system::error_code ignored;
    listener_.close(ignored);
    for (const auto& guest : guests_) {
      if (guest->is_late() && !guest->gone()) guest->turn_away(list_.refusal(Reason::Ending, "the job is ending"));
      if (guest->gone() || !guest->seat()) continue;
      JobEnd own = how;
      if (!culprit || seats_[culprit->value()] != guest->seat()) own.failure.clear();
      guest->send(own);
      guest->finish();
    }
    tell_timer_.expires_after(kTellLimit);
    tell_timer_.async_wait([this](boost::system::error_code error) {
      if (!error) all_told();
    });
    sweep();
  }

  void introduce(Guest& guest, const Introduction& introduction) {
    if (const std::optional<Refused> refused = list_.refuse(introduction)) return refuse(guest, *refused);
    guest.hear_out();
    if (introduction.index == kAnyPlace) return let_wait(guest, introduction);
    if (plan_.settings.callers == Callers::Anywhere) return let_in(guest, introduction);
    asio::post(pool_, [this, here = here_, loop = loop_, introduction, weak = weak_to(guest)] {
      Result<std::vector<std::string>> addresses = addresses_of(introduction.host);
      asio::post(loop, [this, here, introduction, weak, addresses = std::move(addresses)] {
        const std::shared_ptr<Guest> caller = weak.lock();
        if (*here && caller && !caller->gone()) check_address(*caller, introduction, addresses);
      });
    });
  }

  // A caller, as people are told of it.
  void refuse(Guest& guest, const Refused& refused) {
    say_about(guest, refused.text);
    guest.turn_away(refused);
  }
  void say_about(const Guest& guest, const std::string& text) {
    say_once("a caller from " + guest.far() + " is turned away: " + text);
  }
  void known(const Guest& guest) { door_.settled(guest.id()); }
  void left(const Guest& guest) { door_.left(guest.id(), Clock::now()); }
  void stop_asked(const std::string& host, int signo) { events_.stop_asked(host, signo); }

  // Those who wait for the others have their places when all are here.
  void seat_waiting() {
    const std::vector<Promise> all = promises();
    if (plan_.settings.least_hosts) return events_.gathered(1 + static_cast<std::uint32_t>(all.size()));
    if (!all.empty() && all.size() == list_.free_places()) {
      for (const auto& [guest, place] : all) {
        if (list_.come(place)) welcome(*guest, place);
      }
    }
    tell_steps();
  }

  // Those who are gone are forgotten, but not from within their own calls.
  void sweep() {
    asio::post(loop_, [this, here = here_] {
      if (!*here) return;
      std::erase_if(guests_, [](const auto& guest) { return guest->gone(); });
      if (told_ && std::none_of(guests_.begin(), guests_.end(), [](const auto& guest) { return !!guest->seat(); })) {
        all_told();
      }
    });
  }

 private:
  void accept() {
    listener_.async_wait(asio::posix::stream_descriptor::wait_read, [this](boost::system::error_code error) {
      if (error) return;
      os::UniqueFd fd = accept_one(listener_.native_handle());
      if (!fd) return rest_and_accept();
      const std::string from = far_address(fd.get());
      if (const auto admission = door_.knock(from, Clock::now())) {
        receive(std::move(fd), *admission);
      } else {
        say_once("callers from " + from + " have to wait: too many have not said who they are");
      }
      accept();
    });
  }

  void receive(os::UniqueFd fd, const Door::Admission& admission) {
    for (const auto& guest : guests_) {
      if (guest->id() == admission.displaced) guest->give_way();
    }
    if (admission.displaced) sweep();
    const int number = fd.get();
    Result<std::shared_ptr<Link>> link = make_link(loop_, std::move(fd), *credentials_);
    if (!link) return door_.left(admission.id, Clock::now());
    guests_.push_back(std::make_shared<Guest>(*this, std::move(*link), number, admission.id));
  }

  void say_once(const std::string& sentence) {
    if (said_.size() < kMaxSaid && said_.insert(sentence).second) events_.say(sentence);
  }

  void rest_and_accept() {
    rest_timer_.expires_after(kShortOfDescriptors);
    rest_timer_.async_wait([this](boost::system::error_code error) {
      if (!error) accept();
    });
  }

  std::weak_ptr<Guest> weak_to(const Guest& guest) const {
    const auto is_it = [&guest](const auto& one) { return one.get() == &guest; };
    const auto found = std::find_if(guests_.begin(), guests_.end(), is_it);
    return found == guests_.end() ? std::weak_ptr<Guest>() : std::weak_ptr<Guest>(*found);
  }

  void check_address(Guest& guest, const Introduction& introduction,
                     const Result<std::vector<std::string>>& addresses) {
    if (!addresses) {
      return refuse(guest, list_.refusal(Reason::Address, introduction.host + ": " + addresses.error().message()));
    }
    if (std::find(addresses->begin(), addresses->end(), guest.far()) == addresses->end()) {
      return refuse(guest, list_.refusal(Reason::Address, guest.far() + " is not an address of " + introduction.host));
    }
    let_in(guest, introduction);
  }

  void let_in(Guest& guest, const Introduction& introduction) {
    if (!list_.come(introduction.index)) {
      return refuse(guest, list_.refuse(introduction).value_or(list_.refusal(Reason::Ending, "the job is ending")));
    }
    welcome(guest, introduction.index);
    seat_waiting();
  }

  void welcome(Guest& guest, std::uint32_t place) {
    give_place(guest, place);
    guest.seat()->begin();
    events_.come();
  }
  void give_place(Guest& guest, std::uint32_t place) {
    guest.take(seats_[place], {place, static_cast<std::uint32_t>(seats_.size())}, plan_.settings.hosts[place]);
  }

  void let_wait(Guest& guest, const Introduction& introduction) {
    const bool is_late = most_ && list_.free_places() == 0 && introduction.calls == Calls::WithPlan;
    if (is_late && present().size() < *most_) return guest.wait_for_more();
    if (promises().size() >= list_.free_places()) {
      return refuse(guest, list_.refuse_surplus(most_.value_or(seats_.size())));
    }
    if (plan_.settings.least_hosts && introduction.calls == Calls::ToSayWhyNot) {
      return refuse(guest, list_.refusal(Reason::Ending, "it cannot take part, and the job begins without it"));
    }
    guest.wait(introduction);
    if (introduction.calls == Calls::ToSayWhyNot) seat_alone(guest);  // the job need not wait for others to hear it
    seat_waiting();
  }

  void seat_alone(const Guest& guest) {
    for (const auto& [one, place] : promises()) {
      if (one == &guest && list_.come(place)) return welcome(*one, place);
    }
  }

  struct Promise {
    Guest* guest;
    std::uint32_t place;  // which it has if nobody else calls
  };
  std::vector<Promise> promises() const {
    std::vector<Promise> out;
    std::vector<Unplaced> callers;
    for (const auto& guest : guests_) {
      if (guest->gone() || !guest->waits()) continue;
      out.push_back({guest.get(), kAnyPlace});
      callers.push_back(*guest->waits());
    }
    const std::vector<std::uint32_t> places = seat(callers, list_.taken());
    for (std::size_t i = 0; i < out.size(); ++i) out[i].place = places[i];
    return out;
  }
  std::vector<bool> promised_places() const {
    std::vector<bool> out(seats_.size());
    for (const Promise& one : promises()) out[one.place] = true;
    return out;
  }

  // What is said of a host where the time is up.
  void tell_steps() {
    const std::vector<bool> promised = promised_places();
    for (std::size_t i = 0; i < seats_.size(); ++i) {
      if (seats_[i]->guest != nullptr || seats_[i]->events == nullptr || list_.taken()[i]) continue;
      seats_[i]->events->transport_step(promised[i] ? "it has called, and others have not" : "it has not called");
    }
  }

  void keep_alive() {
    alive_timer_.expires_after(std::min(kAliveInterval, plan_.heartbeat_timeout / 3));
    alive_timer_.async_wait([this](boost::system::error_code error) {
      if (error) return;
      for (const auto& guest : guests_) {
        if (guest->seat()) guest->send(Alive{});
      }
      keep_alive();
    });
  }

  void all_told() {
    tell_timer_.cancel();
    if (const auto told = std::exchange(told_, nullptr)) told();
  }

  asio::any_io_executor loop_;
  asio::thread_pool& pool_;
  HeadPlan plan_;
  Events events_;
  std::unique_ptr<Credentials> credentials_;
  GuestList list_;
  std::optional<std::size_t> most_;  // hosts, of a job that goes on and lets in others; nothing: of any other
  Door door_;
  std::vector<std::shared_ptr<Seat>> seats_;  // by place
  std::vector<std::shared_ptr<Guest>> guests_;
  std::set<std::string> said_;
  std::function<void()> told_;
  asio::posix::stream_descriptor listener_;
  asio::steady_timer rest_timer_;
  asio::steady_timer alive_timer_;
  asio::steady_timer tell_timer_;
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);
};

void Seat::begin() {
  if (events == nullptr || guest == nullptr || begun) return;
  begun = true;
  guest->send(Begin{mark});
  events->transport_open(guest->near(), guest->far());
}

void Guest::link_bytes(std::span<const char> bytes) {
  reader_.feed(bytes);
  while (!gone_) {
    Result<std::optional<ToHead>> next = reader_.next();
    if (next && !next->has_value()) return;
    const bool expected =
        next && std::holds_alternative<Introduction>(**next) != introduced_ && (seat_ || !introduced_);
    if (!expected) {
      link_->abandon();
      return link_closed(next ? Error(ErrorKind::Protocol, "it speaks out of turn") : next.error());
    }
    std::visit([this](const auto& m) { handle(m); }, **next);
  }
}

void Guest::link_closed(const Error& why) {
  gone_ = true;
  head_.left(*this);
  if (seat_) {
    seat_->guest = nullptr;
    seat_->tell_end(Error(ErrorKind::Lost, "its sml-run has gone: " + why.message()));
  } else if (!introduced_) {
    head_.say_about(*this, why.message());
  }
  if (waits_) head_.seat_waiting();
  head_.sweep();
}

void Guest::handle(const Introduction& introduction) {
  introduced_ = true;
  head_.known(*this);
  head_.introduce(*this, introduction);
}

void Guest::handle(const StopAsked& m) {
  for (const int signo : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    if (m.signo == signo) return head_.stop_asked(host_, signo);
  }
}

}  // namespace

Result<std::unique_ptr<Head>> make_head(const asio::any_io_executor& loop, asio::thread_pool& pool, HeadPlan plan,
                                        Head::Events events) {
  Result<std::unique_ptr<Credentials>> credentials = make_credentials(Side::Head, plan.settings.key);
  if (!credentials) return credentials.error();
  return std::unique_ptr<Head>(
      std::make_unique<HeadImpl>(loop, pool, std::move(plan), std::move(events), std::move(*credentials)));
}

}  // namespace sml::dialin

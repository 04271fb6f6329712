// The bytes between the launcher and one agent: they take their time, and may stop coming.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "common/wire/codec.h"
#include "launcher/launch/agent_transport.h"
#include "tests/simulation/world.h"

namespace sml::sim {

class Host;

// What passes a link, read by the rules of the protocol: what both sides may count on.
class Monitor {
 public:
  Monitor(std::string host, std::uint64_t window) : host_(std::move(host)), window_(window) {}
  void to_agent(std::string_view bytes);
  void to_launcher(std::string_view bytes);

 private:
  void look(const wire::ToAgent& message);
  void look(const wire::ToLauncher& message);

  std::string host_;
  std::uint64_t window_;  // output bytes that may be on the way
  std::uint64_t granted_ = 0;
  std::uint64_t delivered_ = 0;
  bool stopped_ = false;  // it has been told to end its workers
  bool suspended_ = false;
  int releases_ = 0;
  wire::Decoder<wire::ToAgent> down_;
  wire::Decoder<wire::ToLauncher> up_;
};

struct LinkQuality {
  Duration least_delay = std::chrono::microseconds(100);
  Duration most_delay = std::chrono::milliseconds(2);
  Duration opens_after = std::chrono::milliseconds(20);
  bool refuses = false;
};

// Shared by the launcher's end, which is its transport, and the host's.
class Link : public std::enable_shared_from_this<Link> {
 public:
  enum class Way : std::uint8_t { Open, Swallows, Closed };

  Link(Host& host, boost::asio::any_io_executor launcher, std::string mark, LinkQuality quality, Monitor monitor);

  // The launcher's end.
  void start(launch::TransportEvents& events);
  void send(std::string bytes);
  void finish();
  void launcher_gone();

  // The agent's end: what it can be read from and written to by.
  int agent_reads() const { return agent_reads_; }
  int agent_writes() const { return agent_writes_; }
  void agent_turned();         // it may have written or read
  void agent_gone(bool well);  // its ends have closed

  // What happens to it.
  void cut();                                                 // both ends hear of it
  void half_open(bool towards_agent, bool towards_launcher);  // nobody does
  const std::string& mark() const { return mark_; }
  bool open() const { return down_ != Way::Closed && up_ != Way::Closed; }

 private:
  void open_up();
  void tell_launcher(std::function<void(launch::TransportEvents&)> what);
  TimePoint arrival(TimePoint& last);
  void write_down();
  void read_up();
  void close_down();
  void close_up(Error why);

  Host& host_;
  boost::asio::any_io_executor launcher_;
  std::string mark_;
  LinkQuality quality_;
  Monitor monitor_;
  launch::TransportEvents* events_ = nullptr;
  Way down_ = Way::Open;
  Way up_ = Way::Open;
  int agent_reads_ = -1;  // the agent's, until it runs
  int agent_writes_ = -1;
  int to_agent_ = -1;  // ours
  int from_agent_ = -1;
  std::string down_waiting_;
  bool down_ends_ = false;
  bool down_retries_ = false;
  std::size_t up_on_the_way_ = 0;
  TimePoint last_down_;
  TimePoint last_up_;
  bool ended_ = false;
  bool ended_well_ = false;
  friend class Transport;
};

class Transport final : public launch::AgentTransport {
 public:
  explicit Transport(std::shared_ptr<Link> link) : link_(std::move(link)) {}
  ~Transport() override { link_->launcher_gone(); }
  void start(launch::TransportEvents& events) override { link_->start(events); }
  void send(std::string bytes) override { link_->send(std::move(bytes)); }
  std::size_t unsent() const override { return 0; }
  bool far_side_ended() const override { return link_->ended_; }
  bool far_side_ended_well() const override { return link_->ended_well_; }
  void finish() override { link_->finish(); }

 private:
  std::shared_ptr<Link> link_;
};

}  // namespace sml::sim

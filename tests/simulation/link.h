// The bytes between the launcher and one agent: they take their time, and may stop coming.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <boost/asio/any_io_executor.hpp>

#include "common/wire/codec.h"
#include "launcher/transport/agent_transport.h"
#include "tests/simulation/plants.h"
#include "tests/simulation/world.h"

namespace sml::sim {

class Host;

// What passes a link, read by the rules of the protocol: what both sides may count on.
class Monitor {
 public:
  Monitor(std::string host, std::uint64_t window) : host_(std::move(host)), window_(window) {}
  // Bytes of the conversation from that place on; what has been read already is not read again.
  void to_agent(std::uint64_t place, std::string_view bytes);
  void to_launcher(std::uint64_t place, std::string_view bytes);
  std::uint32_t prepared() const { return prepared_; }  // for which attempt it was last

 private:
  std::string_view unread(std::uint64_t& read, std::uint64_t place, std::string_view bytes) const;
  void look(const wire::ToAgent& message);
  void look(const wire::ToLauncher& message);

  std::string host_;
  std::uint64_t window_;  // output bytes that may be on the way
  std::uint64_t granted_ = 0;
  std::uint64_t delivered_ = 0;
  std::uint64_t read_down_ = 0;
  std::uint64_t read_up_ = 0;
  bool stopped_ = false;  // it has been told to end its workers
  bool suspended_ = false;
  int releases_ = 0;
  std::uint32_t prepared_ = 0;
  wire::Decoder<wire::ToAgent> down_;
  wire::Decoder<wire::ToLauncher> up_;
};

struct LinkQuality {
  Duration least_delay = std::chrono::microseconds(100);
  Duration most_delay = std::chrono::milliseconds(2);
  Duration opens_after = std::chrono::milliseconds(20);
  bool refuses = false;
};

enum class LinkPurpose : std::uint8_t { Serve, Return };

// Shared by the launcher's end, which is its transport, and the host's.
class Link : public std::enable_shared_from_this<Link> {
 public:
  enum class Way : std::uint8_t { Open, Swallows, Closed };

  struct Ends {
    Host& host;
    boost::asio::any_io_executor launcher;
    std::string mark;
    LinkPurpose purpose = LinkPurpose::Serve;
  };
  Link(Ends ends, LinkQuality quality, std::shared_ptr<Monitor> monitor);

  // The launcher's end.
  void start(transport::TransportEvents& events);
  void send(std::string bytes);
  void finish();
  void launcher_gone();

  // The agent's end: what it can be read from and written to by.
  int agent_reads() const { return agent_reads_; }
  int agent_writes() const { return agent_writes_; }
  void agent_turned();         // it may have written or read
  void agent_gone(bool well);  // its ends have closed
  void refused();              // of one that comes back: there is no agent that takes it

  std::pair<int, int> take_agents_ends() { return {std::exchange(agent_reads_, -1), std::exchange(agent_writes_, -1)}; }
  void goes_on_from(std::uint64_t place) { place_up_ = place; }

  // What happens to it.
  void cut();                                                 // both ends hear of it
  void half_open(bool towards_agent, bool towards_launcher);  // nobody does
  const std::string& mark() const { return mark_; }
  std::uint32_t prepared() const { return monitor_->prepared(); }
  // Of the conversation, from its agent; 0 where that began before this link.
  std::uint64_t read_in_all() const { return purpose_ == LinkPurpose::Serve ? read_in_all_ : 0; }
  bool open() const { return down_ != Way::Closed && up_ != Way::Closed; }

 private:
  void open_up();
  void watch_up(std::string_view bytes);
  void tell_launcher(std::function<void(transport::TransportEvents&)> what);
  TimePoint arrival(TimePoint& last);
  void write_down();
  void read_up();
  void close_down();
  void close_up(Error why);

  Host& host_;
  boost::asio::any_io_executor launcher_;
  std::string mark_;
  LinkPurpose purpose_;
  LinkQuality quality_;
  std::shared_ptr<Monitor> monitor_;
  bool asked_ = false;      // of one that comes back: its messenger has been told to whom
  std::string first_line_;  // likewise: of the agent, as far as it has come
  bool goes_on_ = false;    // likewise
  std::uint64_t place_down_ = 0;
  std::uint64_t place_up_ = 0;
  transport::TransportEvents* events_ = nullptr;
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
  std::uint64_t read_in_all_ = 0;
  plants::AgentFrames frames_;
  TimePoint last_down_;
  TimePoint last_up_;
  bool ended_ = false;
  bool ended_well_ = false;
  friend class Transport;
};

class Transport final : public transport::AgentTransport {
 public:
  explicit Transport(std::shared_ptr<Link> link) : link_(std::move(link)) {}
  ~Transport() override { link_->launcher_gone(); }
  void start(transport::TransportEvents& events) override { link_->start(events); }
  void send(std::string bytes) override { link_->send(std::move(bytes)); }
  std::size_t unsent() const override { return 0; }
  bool far_side_ended() const override { return link_->ended_; }
  bool far_side_ended_well() const override { return link_->ended_well_; }
  void finish() override { link_->finish(); }

 private:
  std::shared_ptr<Link> link_;
};

}  // namespace sml::sim

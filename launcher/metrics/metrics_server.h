// Serves the metrics of the job that runs in this process over HTTP, to every client that can connect to its socket.
//
// Runs on the loop's thread and never blocks. Clients cannot make it costly: there are at most kMostVisits connections,
// and a new one closes the oldest; each connection is closed kTimeout after its beginning, even if the client has not
// received all; at most kMostAccepted are accepted in kWindow; and all requests for one format within kFresh get the
// same text.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <variant>

#include <boost/asio/any_io_executor.hpp>

#include "common/core/clock.h"
#include "launcher/metrics/endpoint.h"
#include "launcher/metrics/exposition.h"
#include "launcher/metrics/http_exchange.h"

namespace sml::metrics {

class MetricsServer {
 public:
  static constexpr std::size_t kMostVisits = 8;
  static constexpr Duration kTimeout = std::chrono::seconds(10);
  static constexpr std::size_t kMostAccepted = 50;
  static constexpr Duration kWindow = std::chrono::milliseconds(100);
  static constexpr Duration kFresh = std::chrono::seconds(1);

  // Makes the text of the metrics. Calls `done` once, from within the call or later, with the whole text; also if the
  // server has been destroyed meanwhile.
  using Render = std::function<void(Format format, std::function<void(std::string)> done)>;

  MetricsServer(boost::asio::any_io_executor loop, Endpoint endpoint, Render render);
  ~MetricsServer();  // closes everything
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

 private:
  struct State;
  struct Visit;
  static void await_visitors(const std::shared_ptr<State>& state);
  static void accept(const std::shared_ptr<State>& state);
  static void welcome(const std::shared_ptr<State>& state, int fd);
  static void await_bytes(const std::shared_ptr<Visit>& visit);
  static void read(const std::shared_ptr<Visit>& visit);
  static void serve(const std::shared_ptr<Visit>& visit, std::variant<Format, Refusal> request);
  static void answer(const std::shared_ptr<Visit>& visit, Format format);
  static void rendered(const std::shared_ptr<State>& state, Format format, std::string text);
  static void send(const std::shared_ptr<Visit>& visit, std::string head, std::shared_ptr<const std::string> text);
  static void push(const std::shared_ptr<Visit>& visit);
  static void push_later(const std::shared_ptr<Visit>& visit);
  static void leave(const std::shared_ptr<Visit>& visit);
  std::shared_ptr<State> state_;
};

}  // namespace sml::metrics

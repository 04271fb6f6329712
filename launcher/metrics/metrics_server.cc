#include "launcher/metrics/metrics_server.h"

#include <array>
#include <cerrno>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <sys/socket.h>

#include "launcher/metrics/http_exchange.h"

namespace sml::metrics {

namespace {

using Descriptor = boost::asio::posix::stream_descriptor;

constexpr std::size_t kChunk = std::size_t{64} << 10;
constexpr std::size_t kMostIgnored = std::size_t{64} << 10;  // bytes after a request

}  // namespace

// A text in one format: the last one, and who waits for the next.
struct Document {
  std::shared_ptr<const std::string> text;
  TimePoint made{};
  bool is_being_made = false;
};

struct MetricsServer::State {
  State(const boost::asio::any_io_executor& on, Endpoint at, Render how)
      : loop(on), endpoint(std::move(at)), render(std::move(how)), listener(on, endpoint.fd()), pause(on) {}
  ~State() { listener.release(); }  // the endpoint closes it

  boost::asio::any_io_executor loop;
  Endpoint endpoint;
  Render render;
  Descriptor listener;
  boost::asio::steady_timer pause;
  TimePoint window{};
  std::size_t accepted = 0;  // since `window`
  std::array<Document, 2> documents{};
  std::vector<std::shared_ptr<Visit>> visits;  // the oldest first

  Document& document(Format format) { return documents[static_cast<std::size_t>(format)]; }
};

// A connected client.
struct MetricsServer::Visit {
  Visit(const std::shared_ptr<State>& of, int fd) : state(of), socket(of->loop, fd), limit(of->loop) {}
  std::weak_ptr<State> state;
  Descriptor socket;
  boost::asio::steady_timer limit;
  std::string in;
  std::optional<Format> awaits;  // the text in this format
  std::string head;
  std::shared_ptr<const std::string> text;
  std::size_t sent = 0;  // of head and text
  std::size_t ignored = 0;
  bool has_asked = false;
  bool gone = false;
};

MetricsServer::MetricsServer(boost::asio::any_io_executor loop, Endpoint endpoint, Render render)
    : state_(std::make_shared<State>(loop, std::move(endpoint), std::move(render))) {
  await_visitors(state_);
}

MetricsServer::~MetricsServer() {
  boost::system::error_code ignored;
  state_->listener.cancel(ignored);
  state_->pause.cancel();
  for (const auto& visit : std::vector(state_->visits)) leave(visit);
}

// ---- incoming connections

void MetricsServer::await_visitors(const std::shared_ptr<State>& state) {
  state->listener.async_wait(Descriptor::wait_read, [weak = std::weak_ptr(state)](boost::system::error_code error) {
    const auto alive = weak.lock();
    if (!error && alive) accept(alive);
  });
}

void MetricsServer::accept(const std::shared_ptr<State>& state) {
  const TimePoint now = Clock::now();
  if (now - state->window >= kWindow) {
    state->window = now;
    state->accepted = 0;
  }
  while (state->accepted < kMostAccepted) {
    const int fd = ::accept4(state->listener.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0 && errno == EINTR) continue;
    if (fd < 0 && errno == EAGAIN) return await_visitors(state);
    ++state->accepted;  // an error counts, too, such as a lack of descriptors: it would come again at once
    if (fd >= 0) welcome(state, fd);
  }
  state->pause.expires_at(state->window + kWindow);
  state->pause.async_wait([weak = std::weak_ptr(state)](boost::system::error_code error) {
    const auto alive = weak.lock();
    if (!error && alive) accept(alive);
  });
}

void MetricsServer::welcome(const std::shared_ptr<State>& state, int fd) {
  if (state->visits.size() >= kMostVisits) leave(std::shared_ptr<Visit>(state->visits.front()));
  auto visit = std::make_shared<Visit>(state, fd);
  state->visits.push_back(visit);
  visit->limit.expires_after(kTimeout);
  visit->limit.async_wait([visit](boost::system::error_code error) {
    if (!error) leave(visit);
  });
  await_bytes(visit);
}

// ---- a request

void MetricsServer::await_bytes(const std::shared_ptr<Visit>& visit) {
  visit->socket.async_wait(Descriptor::wait_read, [visit](boost::system::error_code error) {
    if (!error && !visit->gone) read(visit);
  });
}

void MetricsServer::read(const std::shared_ptr<Visit>& visit) {
  std::array<char, 4096> bytes;
  const ssize_t size = ::recv(visit->socket.native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) return leave(visit);
  if (size > 0 && visit->has_asked) {
    visit->ignored += static_cast<std::size_t>(size);
    if (visit->ignored > kMostIgnored) return leave(visit);
  } else if (size > 0) {
    visit->in.append(bytes.data(), static_cast<std::size_t>(size));
    if (auto request = read_request(visit->in)) serve(visit, std::move(*request));
  }
  if (!visit->gone) await_bytes(visit);
}

void MetricsServer::serve(const std::shared_ptr<Visit>& visit, std::variant<Format, Refusal> request) {
  visit->has_asked = true;
  if (auto* refused = std::get_if<Refusal>(&request)) return send(visit, std::move(refused->response), nullptr);
  answer(visit, std::get<Format>(request));
}

void MetricsServer::answer(const std::shared_ptr<Visit>& visit, Format format) {
  const auto state = visit->state.lock();
  if (!state) return leave(visit);
  Document& document = state->document(format);
  if (document.text && Clock::now() - document.made < kFresh) {
    return send(visit, response_head(format, document.text->size()), document.text);
  }
  visit->awaits = format;
  if (std::exchange(document.is_being_made, true)) return;
  state->render(format, [weak = std::weak_ptr(state), format](std::string text) {
    if (const auto alive = weak.lock()) rendered(alive, format, std::move(text));
  });
}

void MetricsServer::rendered(const std::shared_ptr<State>& state, Format format, std::string text) {
  Document& document = state->document(format);
  document = {std::make_shared<const std::string>(std::move(text)), Clock::now(), false};
  for (const auto& visit : std::vector(state->visits)) {
    if (visit->awaits != format) continue;
    visit->awaits.reset();
    send(visit, response_head(format, document.text->size()), document.text);
  }
}

// ---- an answer

void MetricsServer::send(const std::shared_ptr<Visit>& visit, std::string head,
                         std::shared_ptr<const std::string> text) {
  visit->head = std::move(head);
  visit->text = std::move(text);
  push(visit);
}

// After the last byte the client closes the connection: closed by us, with bytes that we have not read, it would be
// broken off, and the client might lose the end of the answer.
void MetricsServer::push(const std::shared_ptr<Visit>& visit) {
  if (visit->gone) return;
  const std::string_view text = visit->text ? std::string_view(*visit->text) : std::string_view();
  while (visit->sent < visit->head.size() + text.size()) {
    const bool in_head = visit->sent < visit->head.size();
    const std::string_view part =
        in_head ? std::string_view(visit->head).substr(visit->sent) : text.substr(visit->sent - visit->head.size());
    const ssize_t n =
        ::send(visit->socket.native_handle(), part.data(), std::min(part.size(), kChunk), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return push_later(visit);
    if (n < 0) return leave(visit);
    visit->sent += static_cast<std::size_t>(n);
  }
  visit->text.reset();
  ::shutdown(visit->socket.native_handle(), SHUT_WR);
}

void MetricsServer::push_later(const std::shared_ptr<Visit>& visit) {
  visit->socket.async_wait(Descriptor::wait_write, [visit](boost::system::error_code error) {
    if (!error) push(visit);
  });
}

void MetricsServer::leave(const std::shared_ptr<Visit>& visit) {
  if (std::exchange(visit->gone, true)) return;
  boost::system::error_code ignored;
  visit->socket.close(ignored);
  visit->limit.cancel();
  if (const auto state = visit->state.lock()) std::erase(state->visits, visit);
}

}  // namespace sml::metrics

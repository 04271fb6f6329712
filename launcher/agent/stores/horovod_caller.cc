#include "launcher/agent/stores/horovod_caller.h"

#include <chrono>
#include <string>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include "common/wire/limits.h"

namespace sml::agent {

struct HorovodCaller::Call {
  Call(boost::asio::io_context& loop, wire::HorovodCall what) : question(std::move(what)), socket(loop), timer(loop) {}
  wire::HorovodCall question;
  boost::asio::ip::tcp::socket socket;
  boost::asio::steady_timer timer;
  std::string answer;
};

HorovodCaller::~HorovodCaller() = default;

void HorovodCaller::handle(const wire::ToAgent& message) {
  const auto* asked = std::get_if<wire::HorovodCall>(&message);
  if (asked == nullptr || asked->attempt != context_.attempt) return;
  if (calls_.size() >= kMost) return context_.send(wire::HorovodAnswer{asked->attempt, asked->rank, {}});
  const auto call = *calls_.insert(std::make_shared<Call>(context_.system.loop, *asked)).first;
  call->timer.expires_after(std::chrono::milliseconds(wire::kHorovodTimeoutMs));
  call->timer.async_wait(lifetime_.guard([this, call](boost::system::error_code error) {
    if (error) return;
    call->answer.clear();
    answer(call);
  }));
  ask(call);
}

// The worker listens on all addresses, so loopback reaches it.
void HorovodCaller::ask(const std::shared_ptr<Call>& call) {
  const boost::asio::ip::tcp::endpoint port(boost::asio::ip::address_v4::loopback(), call->question.port);
  call->socket.async_connect(port, lifetime_.guard([this, call](boost::system::error_code refused) {
    if (refused) return answer(call);
    boost::asio::async_write(call->socket, boost::asio::buffer(call->question.request),
                             lifetime_.guard([this, call](boost::system::error_code gone, std::size_t) {
                               return gone ? answer(call) : listen(call);
                             }));
  }));
}

// The worker answers once and closes the connection.
void HorovodCaller::listen(const std::shared_ptr<Call>& call) {
  boost::asio::async_read(call->socket, boost::asio::dynamic_buffer(call->answer, wire::kMaxHorovodAnswer),
                          lifetime_.guard([this, call](boost::system::error_code, std::size_t) { answer(call); }));
}

void HorovodCaller::answer(const std::shared_ptr<Call>& call) {
  if (calls_.erase(call) == 0) return;
  call->timer.cancel();
  boost::system::error_code ignored;
  call->socket.close(ignored);
  context_.send(wire::HorovodAnswer{call->question.attempt, call->question.rank, std::move(call->answer)});
}

}  // namespace sml::agent

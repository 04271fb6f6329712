#include "launcher/dialin/coordinator/acceptor.h"

#include <utility>

#include "common/core/clock.h"
#include "launcher/dialin/port.h"

namespace sml::dialin {

void Acceptor::open() {
  listener_.async_wait(boost::asio::posix::stream_descriptor::wait_read, [this](boost::system::error_code error) {
    if (error) return;
    os::UniqueFd fd = accept_one(listener_.native_handle());
    if (!fd) return rest();
    came_(std::move(fd));
    open();
  });
}

void Acceptor::rest() {
  constexpr Duration kShortOfDescriptors = std::chrono::milliseconds(100);
  rest_timer_.expires_after(kShortOfDescriptors);
  rest_timer_.async_wait([this](boost::system::error_code error) {
    if (!error) open();
  });
}

}  // namespace sml::dialin

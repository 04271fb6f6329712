#include "launcher/dialin/coordinator/place_assignment.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include <boost/asio/ip/address.hpp>

#include "launcher/dialin/messages.h"

namespace sml::dialin {

namespace {

boost::asio::ip::address as_number(const std::string& address) {
  boost::system::error_code ignored;
  return boost::asio::ip::make_address(address, ignored);
}

}  // namespace

std::vector<std::uint32_t> assign_places(std::span<const Unplaced> callers, std::vector<bool> taken) {
  std::vector<std::size_t> order(callers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return as_number(callers[a].address) < as_number(callers[b].address);
  });
  std::vector<std::uint32_t> places(callers.size(), kAnyPlace);
  for (const std::size_t i : order) {
    const std::uint32_t preferred = callers[i].preferred;
    if (preferred >= taken.size() || taken[preferred]) continue;
    places[i] = preferred;
    taken[preferred] = true;
  }
  for (const std::size_t i : order) {
    if (places[i] != kAnyPlace) continue;
    const auto free = std::find(taken.begin(), taken.end(), false);
    places[i] = static_cast<std::uint32_t>(free - taken.begin());
    *free = true;
  }
  return places;
}

}  // namespace sml::dialin

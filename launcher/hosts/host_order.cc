#include "launcher/hosts/host_order.h"

#include <algorithm>

#include "launcher/hosts/fields.h"

namespace sml::hosts {

namespace {

// Removes the digits from the front of `rest` and returns them without leading zeros.
std::string_view take_number(std::string_view& rest) {
  const auto* const end = std::find_if_not(rest.begin(), rest.end(), is_digit);
  std::string_view digits = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  rest.remove_prefix(digits.size());
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  std::string_view left = a;
  std::string_view right = b;
  while (!left.empty() && !right.empty()) {
    if (is_digit(left.front()) && is_digit(right.front())) {
      const std::string_view first = take_number(left);
      const std::string_view second = take_number(right);
      if (first.size() != second.size()) return first.size() < second.size();
      if (first != second) return first < second;
    } else if (left.front() != right.front()) {
      return left.front() < right.front();
    } else {
      left.remove_prefix(1);
      right.remove_prefix(1);
    }
  }
  if (left.empty() != right.empty()) return left.empty();
  return a < b;  // equal except for leading zeros
}

}  // namespace sml::hosts

#include "common/core/runs.h"

#include <algorithm>

#include "common/core/letters.h"
#include "common/core/text_cursor.h"

namespace sml {

namespace {

constexpr std::size_t kMostDigits = 9;  // a number fits into 32 bits

template <class Runs>
std::size_t length_of(const Runs& runs) {
  std::size_t out = 0;
  for (const auto& run : runs) out = std::min(out + run.count, kMostInRuns);
  return out;
}

}  // namespace

void HostIdRuns::push_back(HostId id) {
  if (!runs_.empty() && runs_.back().first + runs_.back().count == id.value()) {
    ++runs_.back().count;
  } else {
    runs_.push_back({id.value(), 1});
  }
}

std::size_t HostIdRuns::size() const { return length_of(runs_); }

std::vector<HostId> HostIdRuns::all() const {
  std::vector<HostId> out;
  for (const Run& run : runs_) {
    for (std::uint32_t i = 0; i < run.count && out.size() < kMostInRuns; ++i) out.emplace_back(run.first + i);
  }
  return out;
}

std::string NameRuns::Run::name(std::size_t index) const {
  if (count == 1) return head;
  const std::string number = std::to_string(first + index);
  const std::size_t zeros = std::min<std::size_t>(digits, kMostDigits);
  return head + std::string(zeros > number.size() ? zeros - number.size() : 0, '0') + number + tail;
}

// Whether `name` follows the run's last name; any of the numbers in a single name may be the one that counts.
bool NameRuns::extend(Run& run, const std::string& name) {
  if (run.count > 1) {
    if (run.name(run.count) != name) return false;
    ++run.count;
    return true;
  }
  const std::string& last = run.head;
  for (std::size_t at = 0; at < last.size(); ++at) {
    if (!is_digit(last[at])) continue;
    std::size_t end = at;
    while (end < last.size() && is_digit(last[end])) ++end;
    Run two{last.substr(0, at), last.substr(end), 0, 0, 2};
    two.first = leading_number<std::uint32_t>(std::string_view(last).substr(at, end - at)).value_or(0);
    if (last[at] == '0') two.digits = static_cast<std::uint32_t>(end - at);
    if (end - at <= kMostDigits && two.name(0) == last && two.name(1) == name) {
      run = std::move(two);
      return true;
    }
    at = end;
  }
  return false;
}

void NameRuns::push_back(const std::string& name) {
  if (runs_.empty() || !extend(runs_.back(), name)) runs_.push_back({.head = name});
}

std::size_t NameRuns::size() const { return length_of(runs_); }

std::string NameRuns::operator[](std::size_t index) const {
  for (const Run& run : runs_) {
    if (index < run.count) return run.name(index);
    index -= run.count;
  }
  return {};
}

std::vector<std::string> NameRuns::all() const {
  std::vector<std::string> out;
  for (const Run& run : runs_) {
    for (std::size_t i = 0; i < run.count && out.size() < kMostInRuns; ++i) out.push_back(run.name(i));
  }
  return out;
}

}  // namespace sml

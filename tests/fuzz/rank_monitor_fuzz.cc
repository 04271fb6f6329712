// Any pickle that a rank may send to its monitor: read or refused, and what is read does to the machine what it says.
#include <cstdint>
#include <string>
#include <variant>

#include "common/core/pickle.h"
#include "launcher/agent/machines/monitor_machine.h"
#include "launcher/agent/machines/rank_messages.h"
#include "tests/fuzz/require.h"

using sml::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sml::agent;
  using namespace std::chrono_literals;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const sml::Result<RankMessage> message = read_rank_message(bytes);
  if (!message) {
    require(message.error().kind() == sml::ErrorKind::Protocol && !message.error().message().empty());
    return 0;
  }
  require(size <= sml::Pickle::kMaxSize);

  constexpr sml::TimePoint start{};
  MonitorMachine machine({.first_ms = 60'000, .heartbeat_ms = 10'000});
  machine.begin(start);
  if (std::holds_alternative<Heartbeat>(*message)) machine.heartbeat(start + 1s);
  if (const auto* section = std::get_if<SectionChange>(&*message)) {
    require(section->name.size() <= kMaxSectionName);
    const bool closes = section->kind == SectionChange::Kind::Close;
    require(machine.change(*section, start + 1s).has_error() == closes);
    require(machine.deadline() == start + 60s);  // that nobody has given a limit
  }
  if (const auto* limits = std::get_if<NewLimits>(&*message)) {
    if (limits->sections) require(limits->sections->named.size() <= kMaxSections);
    machine.set(*limits);
    const auto due = machine.deadline();
    require(!due || (*due > start && *due <= start + 366 * 24h));
    if (due) require(!machine.on_time(*due - 1ns) && machine.on_time(*due) && !machine.deadline());
  }
  return 0;
}

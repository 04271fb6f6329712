// LSF: LSB_DJOB_HOSTFILE names a file with one host per slot; LSB_MCPU_HOSTS holds pairs "host slots"; LSB_HOSTS holds
// one host per slot, and is not set if it would be too long. Source: IBM Spectrum LSF reference, "Environment
// variables".
#include "common/core/input_error.h"
#include "common/core/text.h"
#include "common/core/text_cursor.h"
#include "launcher/hosts/batch/batch_systems.h"
#include "launcher/hosts/fields.h"
#include "launcher/hosts/host_collector.h"
#include "launcher/hosts/host_expression.h"

namespace sml::hosts {

namespace {

enum class Words : std::uint8_t { HostsAndSlots, Hosts };

// Removes the next host from the front of `rest` and returns it.
Result<plan::Host> take_host(std::string_view& rest, Words words) {
  plan::Host host;
  host.name = take_word(rest);
  if (!plan::valid_host_name(host.name)) return config_error("\"{}\" is no host name", show(host.name, 100));
  if (words == Words::Hosts) {
    host.slots = 1;
    return host;
  }
  const Result<std::uint32_t> slots = parse_slots(take_word(rest), host.name);
  if (!slots) return config_error(slots.error().message());
  host.slots = *slots;
  return host;
}

FoundHosts hosts_of_words(const NamedValue& variable, Words words) {
  HostCollector collector;
  for (std::string_view rest = variable.value; !trim(rest).empty();) {
    Result<plan::Host> host = take_host(rest, words);
    if (!host) return Error(host.error()).in(variable.name);
    if (collector.room() == 0) return config_error("{}: names too many hosts", variable.name);
    const Result<void> added = collector.add(std::move(*host));
    if (!added) return config_error("{}: {}", variable.name, added.error().message());
  }
  if (collector.empty()) return config_error("{}: names no host", variable.name);
  return std::optional(plan::HostList{std::move(collector).take(), variable.name});
}

}  // namespace

FoundHosts lsf_hosts(const SourceContext& s) {
  if (!s.variable("LSB_JOBID")) return std::optional<plan::HostList>();
  if (const auto file = s.variable("LSB_DJOB_HOSTFILE")) return hosts_of_slot_file(s, {"LSB_DJOB_HOSTFILE", *file});
  if (const auto pairs = s.variable("LSB_MCPU_HOSTS")) {
    return hosts_of_words({"LSB_MCPU_HOSTS", *pairs}, Words::HostsAndSlots);
  }
  if (const auto names = s.variable("LSB_HOSTS")) return hosts_of_words({"LSB_HOSTS", *names}, Words::Hosts);
  return std::optional<plan::HostList>();
}

}  // namespace sml::hosts

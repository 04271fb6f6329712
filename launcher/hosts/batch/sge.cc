// Sun Grid Engine and its successors: PE_HOSTFILE names a file with lines "host slots queue processors"; a host has
// several lines if it provides slots of several queues. Source: sge_pe(5), "$pe_hostfile".
#include <fmt/format.h>

#include "common/core/text.h"
#include "common/core/text_cursor.h"
#include "launcher/hosts/batch/batch_systems.h"
#include "launcher/hosts/fields.h"
#include "launcher/hosts/host_collector.h"
#include "launcher/hosts/host_expression.h"
#include "launcher/hosts/hostfile.h"

namespace sml::hosts {

namespace {

Result<void> add_line(std::string_view line, HostCollector& collector) {
  const std::string_view name = take_word(line);
  if (name.empty()) return {};
  const std::string_view slots_text = take_word(line);
  const Result<std::uint32_t> slots = parse_slots(slots_text, name);
  if (!slots) return slots.error();
  if (!plan::valid_host_name(name)) return Error(ErrorKind::Config, fmt::format("\"{}\" is no host name", show(name)));
  if (collector.room() == 0) return Error(ErrorKind::Config, "names too many hosts");
  return collector.add({std::string(name), {}, *slots});
}

}  // namespace

FoundHosts sge_hosts(const SourceContext& s) {
  const auto path = s.variable("PE_HOSTFILE");
  if (!s.variable("JOB_ID") || !path) return std::optional<plan::HostList>();
  const std::string source = "PE_HOSTFILE " + *path;
  const Result<std::string> text = s.read_file(*path, kMaxHostfileBytes);
  if (!text) return file_error(source, text.error().message());
  HostCollector collector;
  for (TextCursor at(*text, source); !at.at_end(); at.take_line()) {
    const Result<void> added = add_line(at.rest_of_line(), collector);
    if (!added) return at.error(added.error().message() + "; expected \"host slots queue processors\"");
  }
  if (collector.empty()) return file_error(source, "names no host");
  return std::optional(plan::HostList{std::move(collector).take(), source});
}

}  // namespace sml::hosts

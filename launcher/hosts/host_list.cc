#include "launcher/hosts/host_list.h"

#include <algorithm>
#include <utility>

#include "common/core/input_error.h"
#include "common/core/text.h"
#include "launcher/hosts/fields.h"
#include "launcher/hosts/host_collector.h"
#include "launcher/hosts/host_expression.h"

namespace sml::hosts {

namespace {

Result<void> add_item(std::string_view item, HostCollector& collector) {
  Result<AlikeHosts> hosts = parse_host_expression(item, collector.room());
  if (!hosts) return usage_error("\"{}\" {}", show(item, 100), hosts.error().message());
  const Result<void> added = collector.add_each(std::move(*hosts));
  if (!added) return usage_error("\"{}\" {}", show(item, 100), added.error().message());
  return {};
}

}  // namespace

Result<std::vector<plan::Host>> parse_host_list(std::string_view text) {
  if (trim(text).empty()) return Error(ErrorKind::Usage, "the host list is empty; expected NAME[:SLOTS],...");
  HostCollector collector;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = at + end_of_item(text.substr(at), ",");
    const std::string_view item = trim(text.substr(at, comma - at));
    if (item.empty()) {
      const std::string_view where = comma == text.size()
                                         ? "ends with a comma; remove it (a list has no blanks: algo-1:2,algo-2:2)"
                                         : "has an empty item; remove a comma";
      return usage_error("\"{}\" {}", show(text, 100), where);
    }
    Result<void> added = add_item(item, collector);
    if (!added) return added.error();
    at = comma + 1;
  }
  return std::move(collector).take();
}

}  // namespace sml::hosts

#include "launcher/inputs/hosts/excluded_hosts.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/core/text.h"
#include "launcher/hosts/exclude_list.h"

namespace sml {

Result<std::vector<std::string>> leave_out_excluded(std::vector<plan::Host>& hosts, const ExcludeOptions& options,
                                                    const ThisHost& here) {
  constexpr std::size_t kMost = std::size_t{16} << 20;
  std::vector<std::string> out;
  if (options.file.empty() || (here.files.exists && !here.files.exists(options.file))) return out;
  const Result<std::string> text = here.files.read(options.file, kMost);
  const auto in = [&options](const Error& error) { return Error(error).in("--exclude-file " + show(options.file)); };
  if (!text) return in(text.error());
  const Result<std::vector<hosts::ExcludedHost>> listed = hosts::parse_exclude_list(*text);
  if (!listed) return in(listed.error());
  const auto is_out = [&](const plan::Host& host) {
    return std::any_of(listed->begin(), listed->end(), [&](const hosts::ExcludedHost& excluded) {
      return excluded.name == host.name && excluded.is_out(here.job.unix_time, options.cool_down);
    });
  };
  for (const plan::Host& host : hosts) {
    if (is_out(host)) out.push_back(host.name);
  }
  if (!out.empty() && out.size() == hosts.size()) {
    return Error(ErrorKind::Usage,
                 fmt::format("--exclude-file {}: it names all hosts, {}; take out those that are good "
                             "again",
                             show(options.file), fold_names(out)));
  }
  std::erase_if(hosts, is_out);
  return out;
}

}  // namespace sml

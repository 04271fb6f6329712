#include "common/plan/ranks/rankfile.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/core/input_error.h"
#include "common/core/letters.h"
#include "common/core/text.h"
#include "common/core/text_cursor.h"
#include "common/plan/machine/host.h"
#include "common/plan/ranks/rank_layout.h"

namespace sml::plan {

namespace {

Result<void> read_host(std::string_view word, RankfileEntry& entry) {
  if (word.starts_with("+n") || word.starts_with("+N")) {
    entry.host_index = parse_index(word.substr(2), kMaxHosts);
    if (entry.host_index) return {};
    return usage_error("\"{}\" names no host; expected +n0 for the first of the host list, +n1, ...", show(word, 60));
  }
  if (!valid_host_name(word)) {
    return usage_error("\"{}\" is no host name; expected rank N=HOST slot=CORES", show(word, 60));
  }
  entry.host = word;
  return {};
}

Result<void> read_cores(std::string_view rest, RankfileEntry& entry) {
  const std::string_view key = take_word(rest, '=');
  drop_blanks(rest);
  const bool is_slot = equal_ignoring_case(key, "slot") || equal_ignoring_case(key, "slots");
  if (!is_slot || !rest.starts_with('=')) {
    return usage_error("\"{}\" follows the host; expected slot=CORES, as in slot=0:0-3", show(key, 60));
  }
  std::ranges::remove_copy_if(rest.substr(1), std::back_inserter(entry.cores), is_blank);
  const Result<std::vector<CoreGroup>> groups = parse_core_groups(entry.cores);
  if (!groups) return usage_error("\"slot={}\" {}", show(entry.cores, 60), groups.error().message());
  return {};
}

Result<RankfileEntry> parse_line(std::string_view line) {
  RankfileEntry entry;
  const std::string_view whole = line;
  const std::string_view keyword = take_word(line, '=');
  const std::string_view rank = trim(take_while(line, [](char c) { return c != '='; }));
  if (!equal_ignoring_case(keyword, "rank") || line.empty()) {
    return usage_error("\"{}\" is no line of a rankfile; expected rank N=HOST slot=CORES", show(whole, 60));
  }
  const auto parsed = parse_index(rank, kMaxWorldSize - 1);
  if (!parsed) {
    return usage_error("\"{}\" is no rank; expected a number from 0 to {}", show(rank, 60), kMaxWorldSize - 1);
  }
  entry.rank = *parsed;
  line.remove_prefix(1);
  if (Result<void> host = read_host(take_word(line), entry); !host) return host.error();
  drop_blanks(line);
  if (line.empty()) return entry;
  if (Result<void> cores = read_cores(line, entry); !cores) return cores.error();
  return entry;
}

Result<Rankfile> in_order(Rankfile file) {
  std::vector<RankfileEntry>& entries = file.entries;
  const auto by_rank = [](const RankfileEntry& a, const RankfileEntry& b) { return a.rank < b.rank; };
  std::stable_sort(entries.begin(), entries.end(), by_rank);
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    if (entries[i].rank == i) continue;
    if (entries[i].rank < i) {
      return file_error(file.path, entries[i].line,
                        fmt::format("rank {} is in line {} already", entries[i].rank, entries[i - 1].line));
    }
    return file_error(
        file.path, entries[i].line,
        fmt::format("rank {} is here, but rank {} nowhere; expected every rank from 0 on", entries[i].rank, i));
  }
  return file;
}

}  // namespace

Result<Rankfile> parse_rankfile(std::string_view text, std::string_view path) {
  Rankfile file{std::string(path), {}};
  if (text.size() > kMaxRankfileBytes) return file_error(path, "is larger than 16 MiB");
  for (TextCursor at(text, path); !at.at_end(); at.take_line()) {
    std::string_view line = at.rest_of_line();
    line = line.substr(0, line.find('#'));
    drop_blanks(line);
    if (line.empty()) continue;
    if (file.entries.size() == kMaxWorldSize) return at.error("one rank more than a job can have");
    Result<RankfileEntry> entry = parse_line(line);
    if (!entry) return at.error(entry.error().message());
    entry->line = static_cast<std::uint32_t>(at.line());
    file.entries.push_back(std::move(*entry));
  }
  if (file.entries.empty()) return file_error(path, "names no rank; expected lines such as rank 0=HOST slot=0:0-1");
  return in_order(std::move(file));
}

}  // namespace sml::plan

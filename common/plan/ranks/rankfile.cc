#include "common/plan/ranks/rankfile.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/core/letters.h"
#include "common/core/text.h"
#include "common/plan/machine/host.h"
#include "common/plan/ranks/rank_layout.h"

namespace sml::plan {

namespace {

constexpr std::string_view kBlanks = " \t\r";

Error bad_rankfile(std::string clause) { return Error(ErrorKind::Usage, std::move(clause)); }

void skip_blanks(std::string_view& text) { text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size())); }

// Removes the text before the first of `ends`, or all of it, and returns it without surrounding blanks.
std::string_view take_before(std::string_view& text, std::string_view ends) {
  skip_blanks(text);
  std::string_view taken = text.substr(0, text.find_first_of(ends));
  text.remove_prefix(taken.size());
  while (!taken.empty() && kBlanks.find(taken.back()) != std::string_view::npos) taken.remove_suffix(1);
  return taken;
}

// ---- lines

Result<void> read_host(std::string_view word, RankfileEntry& entry) {
  if (word.starts_with("+n") || word.starts_with("+N")) {
    entry.host_index = parse_index(word.substr(2), kMaxHosts);
    if (entry.host_index) return {};
    return bad_rankfile(
        fmt::format("\"{}\" names no host; expected +n0 for the first of the host list, +n1, ...", show(word, 60)));
  }
  if (!valid_host_name(word)) {
    return bad_rankfile(fmt::format("\"{}\" is no host name; expected rank N=HOST slot=CORES", show(word, 60)));
  }
  entry.host = word;
  return {};
}

Result<void> read_cores(std::string_view rest, RankfileEntry& entry) {
  const std::string_view key = take_before(rest, "= \t\r");
  skip_blanks(rest);
  const bool is_slot = equal_ignoring_case(key, "slot") || equal_ignoring_case(key, "slots");
  if (!is_slot || !rest.starts_with('=')) {
    return bad_rankfile(fmt::format("\"{}\" follows the host; expected slot=CORES, as in slot=0:0-3", show(key, 60)));
  }
  for (const char c : rest.substr(1)) {
    if (kBlanks.find(c) == std::string_view::npos) entry.cores += c;
  }
  const Result<std::vector<CoreGroup>> groups = parse_core_groups(entry.cores);
  if (!groups) return bad_rankfile(fmt::format("\"slot={}\" {}", show(entry.cores, 60), groups.error().message()));
  return {};
}

Result<RankfileEntry> parse_line(std::string_view line) {
  RankfileEntry entry;
  const std::string_view whole = line;
  const std::string_view keyword = take_before(line, "= \t\r");
  const std::string_view rank = take_before(line, "=");
  if (!equal_ignoring_case(keyword, "rank") || line.empty()) {
    return bad_rankfile(
        fmt::format("\"{}\" is no line of a rankfile; expected rank N=HOST slot=CORES", show(whole, 60)));
  }
  const auto parsed = parse_index(rank, kMaxWorldSize - 1);
  if (!parsed) {
    return bad_rankfile(
        fmt::format("\"{}\" is no rank; expected a number from 0 to {}", show(rank, 60), kMaxWorldSize - 1));
  }
  entry.rank = *parsed;
  line.remove_prefix(1);
  if (Result<void> host = read_host(take_before(line, kBlanks), entry); !host) return host.error();
  skip_blanks(line);
  if (line.empty()) return entry;
  if (Result<void> cores = read_cores(line, entry); !cores) return cores.error();
  return entry;
}

Error bad_line(std::string_view path, std::uint32_t line, std::string_view what) {
  return Error(ErrorKind::Config, fmt::format("{}:{}: {}", show(path), line, what));
}

Result<Rankfile> in_order(Rankfile file) {
  std::vector<RankfileEntry>& entries = file.entries;
  const auto by_rank = [](const RankfileEntry& a, const RankfileEntry& b) { return a.rank < b.rank; };
  std::stable_sort(entries.begin(), entries.end(), by_rank);
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    if (entries[i].rank == i) continue;
    if (entries[i].rank < i) {
      return bad_line(file.path, entries[i].line,
                      fmt::format("rank {} is in line {} already", entries[i].rank, entries[i - 1].line));
    }
    return bad_line(
        file.path, entries[i].line,
        fmt::format("rank {} is here, but rank {} nowhere; expected every rank from 0 on", entries[i].rank, i));
  }
  return file;
}

}  // namespace

Result<Rankfile> parse_rankfile(std::string_view text, std::string_view path) {
  Rankfile file{std::string(path), {}};
  if (text.size() > kMaxRankfileBytes) return Error(ErrorKind::Config, show(path) + ": is larger than 16 MiB");
  text = without_byte_order_mark(text);
  for (std::uint32_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    line = line.substr(0, line.find('#'));
    skip_blanks(line);
    if (line.empty()) continue;
    if (file.entries.size() == kMaxWorldSize) return bad_line(path, number, "one rank more than a job can have");
    Result<RankfileEntry> entry = parse_line(line);
    if (!entry) return bad_line(path, number, entry.error().message());
    entry->line = number;
    file.entries.push_back(std::move(*entry));
  }
  if (file.entries.empty()) {
    return Error(ErrorKind::Config, show(path) + ": names no rank; expected lines such as rank 0=HOST slot=0:0-1");
  }
  return in_order(std::move(file));
}

}  // namespace sml::plan

#include "common/plan/fifos.h"

#include <algorithm>
#include <optional>

#include "common/core/letters.h"
#include "common/core/text.h"

namespace sml::plan {

namespace {

using std::string_view;

constexpr std::size_t kLongestFifoName = 64;
constexpr std::uint32_t kLargestGroup = 1'000'000'000;

Result<void> check_name(string_view name) {
  const auto fits = [](char c) { return is_letter_or_digit(c) || c == '.' || c == '-' || c == '_'; };
  if (!name.empty() && name.size() <= kLongestFifoName && std::all_of(name.begin(), name.end(), fits)) return {};
  return bad_value(name, "the name of a channel: 1 to 64 letters, digits, dots, hyphens and underscores");
}

Result<void> take_word_of_fanout(FifoChannel& channel, string_view word) {
  constexpr string_view kGroup = "group=";
  if (word == "equalize=drop") {
    channel.equalize = Equalize::Drop;
  } else if (word.starts_with(kGroup)) {
    const std::optional<std::uint32_t> group = parse_number<std::uint32_t>(word.substr(kGroup.size()));
    if (!group || *group == 0 || *group > kLargestGroup) {
      return bad_value(word, "group=K with a whole number from 1 to " + std::to_string(kLargestGroup));
    }
    channel.group = *group;
  } else {
    return bad_value(word, "group=K or equalize=drop, which may follow the channel after a comma");
  }
  return {};
}

// Parses the words after the first comma; each key may occur only once.
Result<void> take_words(FifoChannel& channel, string_view rest) {
  std::vector<string_view> seen;
  for (const string_view word : split(rest, ',')) {
    const string_view key = word.substr(0, word.find('='));
    if (Result<void> taken = take_word_of_fanout(channel, word); !taken) return taken;
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
      return Error(ErrorKind::Usage, "\"" + std::string(key) + "\" is given twice");
    }
    seen.push_back(key);
  }
  return {};
}

std::optional<FifoFraming> framing_of(string_view word) {
  if (word == "records") return FifoFraming::Records;
  if (word == "lines") return FifoFraming::Lines;
  if (word == "bytes") return FifoFraming::Bytes;
  return std::nullopt;
}

}  // namespace

Result<FifoChannel> parse_pipe_fanout(string_view text) {
  string_view rest = text;
  const bool words_follow = rest.find(',') != string_view::npos;
  const string_view head = take_until(rest, ',');
  const std::size_t colon = std::min(head.find(':'), head.size());
  FifoChannel channel;
  channel.name = head.substr(0, colon);
  if (Result<void> named = check_name(channel.name); !named) return named.error();
  const std::optional<FifoFraming> framing =
      colon == head.size() ? FifoFraming::Records : framing_of(head.substr(colon + 1));
  if (!framing)
    return bad_value(head.substr(colon + 1), "records, lines or bytes, which may follow the channel after a colon");
  channel.framing = *framing;
  if (channel.framing == FifoFraming::Bytes) channel.group = kDefaultPiece;
  if (!words_follow) return channel;
  if (Result<void> taken = take_words(channel, rest); !taken) return taken.error();
  return channel;
}

std::vector<std::string> fifo_variables(const FifoChannel& channel, string_view folder) {
  const std::string name = "SM_CHANNEL_" + upper(channel.name);
  std::string safe = name;
  const auto unsafe = [](char c) { return c != '_' && !is_letter_or_digit(c); };
  std::replace_if(safe.begin(), safe.end(), unsafe, '_');
  const std::string value = "=" + std::string(folder) + "/" + channel.name;
  std::vector<std::string> out{name + value};
  if (safe != name) out.push_back(safe + value);
  return out;
}

}  // namespace sml::plan

#include "launcher/agent/pmi/pmi_space.h"

#include <utility>

#include "common/wire/pmi_wire.h"

namespace sml::agent {

namespace {

// Encoding: for each put one byte with the length of the key, two with that of the value, key, value.
constexpr std::size_t kHead = 3;
static_assert(wire::kPmiKey < 256 && wire::kPmiValue < 65536);

void append(std::string& news, std::string_view key, std::string_view value) {
  news += static_cast<char>(key.size());
  news += static_cast<char>(value.size() >> 8);
  news += static_cast<char>(value.size() & 0xff);
  news += key;
  news += value;
}

std::size_t byte_at(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]); }

Error too_much(const char* what, std::size_t limit) {
  return Error(ErrorKind::Protocol,
               std::string(what) + " more than " + std::to_string(limit >> 10) + " KiB by PMI, the limit");
}

// Sets a value and returns true if it fits into the limit; a replaced value does not count.
bool set(StringMap<std::string>& map, std::size_t& size, std::size_t limit, std::string_view key,
         std::string_view value) {
  const auto found = map.find(key);
  const std::size_t before = found == map.end() ? 0 : key.size() + found->second.size();
  const std::size_t after = size - before + key.size() + value.size();
  if (after > limit) return false;
  size = after;
  if (found == map.end()) {
    map.emplace(key, value);
  } else {
    found->second = value;
  }
  return true;
}

}  // namespace

Result<void> PmiSpace::put(Rank rank, std::string_view key, std::string_view value) {
  const std::size_t size = kHead + key.size() + value.size();
  std::size_t& of_rank = put_[rank];
  if (of_rank + size > kOfRank) return too_much("put down", kOfRank);
  if (news_.size() + size > kNews) return too_much("and the other ranks of its host put down", kNews);
  if (!set(keys_, size_, kInAll, key, value)) return too_much("and all other ranks put down", kInAll);
  of_rank += size;
  append(news_, key, value);
  return {};
}

const std::string* PmiSpace::get(std::string_view key) const {
  const auto found = keys_.find(key);
  return found == keys_.end() ? nullptr : &found->second;
}

void PmiSpace::begin_with(const std::vector<wire::SpawnKey>& keys) {
  for (const wire::SpawnKey& one : keys) set(keys_, size_, kInAll, one.key, one.value);
}

std::string PmiSpace::take_news() {
  put_.clear();
  return std::exchange(news_, {});
}

Result<void> PmiSpace::merge(std::span<const std::string> news) {
  for (const std::string& part : news) {
    if (Result<void> merged = merge_part(part); !merged) return merged;
  }
  return {};
}

Result<void> PmiSpace::merge_part(std::string_view rest) {
  while (!rest.empty()) {
    Error no_news(ErrorKind::Protocol, "received what is no news of a host");
    if (rest.size() < kHead) return no_news;
    const std::size_t key = byte_at(rest, 0), value = byte_at(rest, 1) << 8 | byte_at(rest, 2);
    if (key == 0 || key > wire::kPmiKey || value > wire::kPmiValue || rest.size() < kHead + key + value) return no_news;
    if (!set(keys_, size_, kInAll, rest.substr(kHead, key), rest.substr(kHead + key, value))) {
      return too_much("received", kInAll);
    }
    rest.remove_prefix(kHead + key + value);
  }
  return {};
}

Result<void> PmiSpace::put_node(std::string_view key, std::string_view value) {
  if (set(node_, node_size_, kOfNode, key, value)) return {};
  return too_much("and the other ranks of its host share", kOfNode);
}

const std::string* PmiSpace::get_node(std::string_view key) const {
  const auto found = node_.find(key);
  return found == node_.end() ? nullptr : &found->second;
}

}  // namespace sml::agent

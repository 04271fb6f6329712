// The keys and values that ranks of a job have put by PMI, as kept on one host: all fenced ones, those that its own
// ranks have put since, and those shared on this host only. Pure and bounded.
#pragma once
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/core/error.h"
#include "common/core/strong.h"
#include "common/wire/wire_up_messages.h"
#include "launcher/agent/core/string_map.h"

namespace sml::agent {

class PmiSpace {
 public:
  static constexpr std::size_t kOfRank = std::size_t{256} << 10;  // bytes that a rank may put before a fence
  static constexpr std::size_t kNews = std::size_t{15} << 20;     // ... and all ranks of this host
  static constexpr std::size_t kInAll = std::size_t{256} << 20;   // bytes of all ranks of the job
  static constexpr std::size_t kOfNode = std::size_t{16} << 20;   // bytes that the host shares

  // Ranks of this host see the value at once, others after the next fence. Error (Protocol): a clause that follows
  // "it".
  Result<void> put(Rank rank, std::string_view key, std::string_view value);
  // Null: no rank has put it.
  const std::string* get(std::string_view key) const;

  // Adds keys that all hosts have from the beginning.
  void begin_with(const std::vector<wire::SpawnKey>& keys);

  // Returns the encoded keys that were put here since the last fence, and begins the next.
  std::string take_news();
  // Adds the keys that all hosts had put before the fence. Error (Protocol): invalid encoding.
  Result<void> merge(std::span<const std::string> news);

  Result<void> put_node(std::string_view key, std::string_view value);
  const std::string* get_node(std::string_view key) const;

 private:
  Result<void> merge_part(std::string_view rest);

  StringMap<std::string> keys_;
  std::size_t size_ = 0;  // of these
  std::string news_;
  std::map<Rank, std::size_t> put_;  // bytes of each since the last fence
  StringMap<std::string> node_;
  std::size_t node_size_ = 0;
};

}  // namespace sml::agent

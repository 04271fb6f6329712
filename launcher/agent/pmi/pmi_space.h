// The keys and values that ranks of a world have put by PMI, as one host sees them: those of all ranks up to the last
// fence, those that the host's own ranks have put since, and those that the host's ranks share among themselves only
// (put_node()). Pure and bounded.
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
  static constexpr std::size_t kOfRank = std::size_t{256} << 10;  // bytes that a rank may put between two fences
  static constexpr std::size_t kNews = std::size_t{15} << 20;     // the same for all ranks of this host together
  static constexpr std::size_t kInAll = std::size_t{256} << 20;   // bytes of all ranks of the world
  static constexpr std::size_t kOfNode = std::size_t{16} << 20;   // bytes that the host's ranks share among themselves

  // Ranks of this host see the value at once, others after the next fence. Replaces an earlier value. Error (Protocol):
  // above a limit; a part of a sentence that follows "it".
  Result<void> put(Rank rank, std::string_view key, std::string_view value);
  // Null: no rank has put it.
  const std::string* get(std::string_view key) const;

  // Adds keys that all hosts have from the beginning.
  void begin_with(const std::vector<wire::SpawnKey>& keys);

  // Returns the keys and values that ranks of this host have put since the last call, encoded for merge().
  std::string take_news();
  // Adds the keys and values that the hosts had put before the fence, one text of take_news() each. Error (Protocol):
  // invalid encoding, or above a limit.
  Result<void> merge(std::span<const std::string> news);

  // Values that only the ranks of this host see, at once. Error and null as for put() and get().
  Result<void> put_node(std::string_view key, std::string_view value);
  const std::string* get_node(std::string_view key) const;

 private:
  Result<void> merge_part(std::string_view rest);

  StringMap<std::string> keys_;
  std::size_t size_ = 0;             // bytes of keys_
  std::string news_;                 // for take_news()
  std::map<Rank, std::size_t> put_;  // bytes of each since the last fence
  StringMap<std::string> node_;
  std::size_t node_size_ = 0;
};

}  // namespace sml::agent

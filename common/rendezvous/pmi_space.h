// What the ranks of a job have put down for each other by PMI, as one host keeps it: all that was fenced, what its own
// ranks have put since, and what only this host shares. Pure and bounded.
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
#include "common/rendezvous/string_map.h"
#include "common/wire/wire_up_messages.h"

namespace sml::rendezvous {

class PmiSpace {
 public:
  static constexpr std::size_t kOfRank = std::size_t{256} << 10;  // bytes that a rank may put down before a fence
  static constexpr std::size_t kNews = std::size_t{15} << 20;     // ... and all ranks of this host
  static constexpr std::size_t kInAll = std::size_t{256} << 20;   // bytes of all ranks of the job
  static constexpr std::size_t kOfNode = std::size_t{16} << 20;   // of what the host shares

  // Ranks of this host see it at once, others after the next fence. Error (Protocol): a clause that follows "it".
  Result<void> put(Rank rank, std::string_view key, std::string_view value);
  // Null: nobody has.
  const std::string* get(std::string_view key) const;

  // That all hosts have from the beginning.
  void begin_with(const std::vector<wire::SpawnKey>& keys);

  // What has been put here since the last fence; then the next begins.
  std::string take_news();
  // What all hosts had put before it. Error (Protocol): it is no news of a host.
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

}  // namespace sml::rendezvous

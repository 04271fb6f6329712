// The texts that ranks of a job publish for each other by PMIx, kept on the host of rank 0. Pure and bounded.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/strong.h"
#include "launcher/agent/core/string_map.h"
#include "launcher/agent/mpi/pmix_frames.h"

namespace sml::agent::pmix {

// A request; sent in messages between hosts.
struct NameWish {
  enum class Verb : std::uint8_t { Publish, LookUp, Unpublish } verb = Verb::LookUp;
  Rank rank;  // that publishes
  std::string key;
  std::string value{};
  std::uint32_t flag = 0;  // Publish::once, LookUp::waits
  void fields(auto& a) { a(verb, rank, key, value, flag); }
};

class Names {
 public:
  static constexpr std::size_t kMost = 4096;      // number of names that exist, and of look-ups that wait
  static constexpr std::size_t kLongest = 16384;  // bytes of a name, and of its text

  struct Asker {
    Rank rank;             // of its host
    std::uint32_t id = 0;  // of its call there
  };
  struct Reply {
    Asker to;
    std::int32_t status = kSuccess;
    std::string bytes{};  // as in Answer
  };
  // A look-up that waits gets its reply later, from the publication that it waits for.
  std::vector<Reply> ask(const Asker& asker, const NameWish& wish);

 private:
  struct Text {
    std::string bytes;
    bool once = false;
  };
  struct Waiting {
    Asker asker;
    std::string key;
  };
  std::vector<Reply> publish(const Asker& asker, const NameWish& wish);

  StringMap<Text> texts_;
  std::vector<Waiting> waiting_;
};

}  // namespace sml::agent::pmix

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

// A request about one name. Agents send it to the agent of rank 0's host.
struct NameRequest {
  enum class Verb : std::uint8_t { Publish, LookUp, Unpublish } verb = Verb::LookUp;
  Rank rank;               // of a Publish: the rank that publishes
  std::string key;         // the name
  std::string value{};     // of a Publish
  std::uint32_t flag = 0;  // Publish::once, LookUp::waits; unused by Unpublish
  void fields(auto& a) { a(verb, rank, key, value, flag); }
};

class Names {
 public:
  static constexpr std::size_t kMost = 4096;      // most names that exist, and most look-ups that wait
  static constexpr std::size_t kLongest = 16384;  // most bytes of a name, and of its value

  struct Asker {
    Rank rank;             // a rank of the host that asks
    std::uint32_t id = 0;  // of the upcall there
  };
  struct Reply {
    Asker to;
    std::int32_t status = kSuccess;
    std::string bytes{};  // as in Answer
  };
  // Carries out a request. Returns the replies that are due now: to `asker`, and, for a Publish, to look-ups that have
  // waited for the name. Empty if `asker` has to wait for the name.
  std::vector<Reply> ask(const Asker& asker, const NameRequest& request);

 private:
  struct Text {  // a published value
    std::string bytes;
    bool once = false;
  };
  struct Waiting {  // a look-up
    Asker asker;
    std::string key;
  };
  std::vector<Reply> publish(const Asker& asker, const NameRequest& request);

  StringMap<Text> texts_;
  std::vector<Waiting> waiting_;
};

}  // namespace sml::agent::pmix

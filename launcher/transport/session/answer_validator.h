// Validates the answers of one host's agent to queries about running workers: that each belongs to a query, is about
// ranks of this host, and is not too large. Pure; part of AttemptProtocolValidator.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>

#include "common/core/error.h"
#include "common/core/strong.h"
#include "common/wire/messages.h"

namespace sml::transport {

class AnswerValidator {
 public:
  // `torch`: Prepare::torch_traces; No: the agent may send no Recorded.
  explicit AnswerValidator(wire::TorchTraces torch) : torch_(torch) {}

  // Call when the launcher sends one of these queries.
  void note(const wire::AskTraces& m) { traces_asked_.emplace(m.id, std::set<Rank>()); }
  void note(const wire::AskRecorded& m) { records_asked_.emplace(m.id, Records()); }

  // Error (Protocol): as of AttemptProtocolValidator::validate(). `belongs` returns an error unless the rank is one of
  // this host.
  using Belongs = std::function<Result<void>(Rank)>;
  Result<void> validate(const wire::Trace& m, const Belongs& belongs);
  Result<void> validate(const wire::Traced& m, const Belongs&);
  Result<void> validate(const wire::Recorded& m, const Belongs& belongs);
  Result<void> validate(const wire::RecordedAll& m, const Belongs&);

 private:
  struct Records {
    std::map<Rank, std::size_t> bytes;  // received so far, by rank
    std::size_t of_all = 0;             // bytes of all ranks
  };

  wire::TorchTraces torch_;
  std::map<std::uint32_t, std::set<Rank>> traces_asked_;  // pending queries by id: ranks that have been answered
  std::map<std::uint32_t, Records> records_asked_;        // pending queries by id
};

}  // namespace sml::transport

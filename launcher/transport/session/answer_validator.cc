#include "launcher/transport/session/answer_validator.h"

#include <initializer_list>
#include <string_view>

#include "common/wire/limits.h"
#include "launcher/transport/session/validation_result.h"

namespace sml::transport {

ValidationResult AnswerValidator::validate(const wire::Trace& m, const Belongs& belongs) {
  const auto asked = traces_asked_.find(m.id);
  if (asked == traces_asked_.end()) return broken("sent where a worker is, which nobody had asked for");
  if (ValidationResult ours = belongs(m.rank); !ours) return ours;
  if (!asked->second.insert(m.rank).second) {
    return broken("sent twice where rank " + number(m.rank.value()) + " is");
  }
  const ProcessTrace& process = m.process;
  if (ValidationResult few = at_most(process.threads.size(), kMostThreads, "threads"); !few) return few;
  return at_most(process.sockets.size(), kMostSockets, "sockets");
}

ValidationResult AnswerValidator::validate(const wire::Traced& m, const Belongs&) {
  if (traces_asked_.erase(m.id) == 1) return {};
  return broken("sent where its workers are, which nobody had asked for");
}

ValidationResult AnswerValidator::validate(const wire::Recorded& m, const Belongs& belongs) {
  const auto asked = records_asked_.find(m.id);
  if (asked == records_asked_.end() || torch_ == wire::TorchTraces::No)
    return broken("sent what was recorded, that nobody had asked for");
  if (ValidationResult ours = belongs(m.rank); !ours) return ours;
  if (m.bytes.size() > wire::kMaxRecordedPiece) return broken("sent more of what was recorded than a message may have");
  Records& records = asked->second;
  const std::size_t of_rank_so_far = records.bytes[m.rank] += m.bytes.size();
  records.of_all += m.bytes.size();
  if (of_rank_so_far <= wire::kMaxRecorded && records.of_all <= wire::kMaxRecordedOfHost) return {};
  return broken("sent more of what was recorded than it may");
}

ValidationResult AnswerValidator::validate(const wire::RecordedAll& m, const Belongs&) {
  if (records_asked_.erase(m.id) == 1) return {};
  return broken("sent the end of a recording that nobody had asked for");
}

}  // namespace sml::transport

#include "launcher/report/outcome/report_json.h"

#include <nlohmann/json.hpp>

#include "launcher/report/outcome/causes.h"
#include "launcher/report/status_json.h"

namespace sml::report {

namespace {

using Json = nlohmann::ordered_json;

Json rank_json(const AttemptFacts::WorkerEnd& end, TimePoint started) {
  const bool seen = end.at != TimePoint();
  Json out;
  out["rank"] = end.rank.value();
  out["host"] = end.host;
  out["pid"] = end.pid > 0 ? Json(end.pid) : Json();
  out["end_s"] = seen ? Json(in_seconds(end.at - started)) : Json();
  out["status"] = seen ? status_json(end.status) : Json();
  out["stopped_by"] = seen && !end.by_itself ? Json("sml-run") : Json();
  out["usage"] = end.usage && end.pid > 0 ? usage_json(*end.usage) : Json();
  if (!end.program.empty()) out["program"] = end.program;
  if (!end.role.empty()) out["role"] = end.role;
  return out;
}

Json cause_json(const AttemptFacts::WorkerEnd& end) {
  const std::optional<Cause> cause = known_cause(end.error.message, end.last_lines);
  if (!cause) return {};
  return {{"kind", cause->kind == CauseKind::Root ? "root" : "cascade"},
          {"words", std::string(cause->words)},
          {"line", cause->evidence}};
}

Json root_cause_json(const AttemptFacts::WorkerEnd& root_cause) {
  Json out;
  out["rank"] = root_cause.rank.value();
  out["host"] = root_cause.host;
  out["status"] = status_json(root_cause.status);
  out["error"] = root_cause.error.message.empty() ? Json() : Json(root_cause.error.message);
  out["callstack"] = root_cause.error.callstack.empty() ? Json() : Json(root_cause.error.callstack);
  out["out_of_memory"] = root_cause.out_of_memory.empty() ? Json() : Json(root_cause.out_of_memory);
  out["cause"] = cause_json(root_cause);
  out["last_lines"] = root_cause.last_lines;
  return out;
}

Json faults_json(const AttemptFacts& facts) {
  Json out = Json::array();
  for (const AttemptFacts::HostFault& fault : facts.faults) {
    out.push_back({{"host", fault.host}, {"kind", std::string(name(fault.why.kind()))}, {"message", fault.why.text()}});
  }
  return out;
}

std::string_view name_of(NoProgress::Limit limit) {
  static constexpr std::string_view names[] = {"first", "every", "silence", "silence_of_all"};
  return names[static_cast<std::size_t>(limit)];
}

Json no_progress_json(const NoProgress& what) {
  Json ranks = Json::array();
  for (std::uint32_t rank = 0; rank <= what.ranks.largest(); ++rank) {
    if (what.ranks.contains(rank)) ranks.push_back(rank);
  }
  return {{"ranks", std::move(ranks)},
          {"pattern", what.pattern.empty() ? Json() : Json(what.pattern)},
          {"limit", name_of(what.limit)},
          {"limit_s", in_seconds(what.timeout)}};
}

Json attempt_json(const AttemptRecord& attempt) {
  Json out;
  out["attempt"] = attempt.number;
  out["started"] = attempt.started_unix;
  out["duration_s"] = in_seconds(attempt.lasted);
  out["exit_code"] = attempt.exit_code;
  out["verdict"] = attempt.words;
  out["culprit"] = attempt.failure ? Json(attempt.failure->rank.value()) : Json();
  out["culprit_host"] = attempt.failure ? Json(attempt.failure->host) : Json();
  out["failure"] = attempt.failure ? root_cause_json(*attempt.failure) : Json();
  out["world_size"] = attempt.world_size;
  out["hosts"] = attempt.hosts;
  return out;
}

}  // namespace

std::string report_json(const JobRecord& job, const AttemptFacts& facts, const JobOutcome& verdict) {
  Json out;
  out["schema"] = 1;
  out["job_id"] = job.job_id;
  out["exit_code"] = verdict.exit_code;
  out["verdict"] = in_words(verdict);
  out["no_restart"] = job.no_restart.empty() ? Json() : Json(job.no_restart);
  out["started"] = job.started_unix;
  out["duration_s"] = in_seconds(job.now - (facts.first_start == TimePoint() ? facts.started : facts.first_start));
  out["culprit"] = verdict.root_cause != nullptr ? root_cause_json(*verdict.root_cause) : Json();
  out["host_faults"] = faults_json(facts);
  out["no_progress"] = facts.stalled ? no_progress_json(facts.stalled->what) : Json();
  out["left_behind"] = facts.left_behind;
  out["unconfirmed_hosts"] = facts.unconfirmed;
  out["ranks"] = Json::array();
  for (const AttemptFacts::WorkerEnd& end : job.ranks) out["ranks"].push_back(rank_json(end, facts.started));
  if (job.goodput) out["goodput"] = goodput_json(*job.goodput);
  out["attempts"] = Json::array();
  for (const AttemptRecord& attempt : job.attempts) out["attempts"].push_back(attempt_json(attempt));
  out["hosts"] = Json::array();
  for (const HostRecord& host : job.hosts) {
    out["hosts"].push_back({{"host", host.name}, {"usage", peaks_json(host.peaks)}});
  }
  // Workers can print any bytes; JSON must be UTF-8.
  return out.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace sml::report

#include <nlohmann/json.hpp>

#include "launcher/report/hosts/check_report.h"

namespace sml::report {

namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json limit_json(const plan::Limit& limit) {
  const auto number = [](std::uint64_t value) { return value == plan::kUnlimited ? Json() : Json(value); };
  return {{"soft", number(limit.soft)}, {"hard", number(limit.hard)}};
}

Json space_json(const plan::Space& space) {
  if (space.path.empty()) return {};
  return {{"path", space.path}, {"size", space.size}, {"free", space.free}};
}

Json faults_json(const HostCheck& host) {
  Json out = Json::array();
  for (const Error& why : host.faults) {
    out.push_back({{"kind", std::string(name(why.kind()))},
                   {"message", why.text()},
                   {"hint", or_null(hint_for(why, std::span(&host.name, 1)))}});
  }
  return out;
}

Json reaches_json(Reaches reaches) { return reaches == Reaches::NotTried ? Json() : Json(reaches == Reaches::Yes); }

Json facts_json(const plan::HostFacts& facts) {
  Json out;
  out["user"] = facts.user;
  out["system"] = facts.system;
  out["cores"] = facts.cores;
  out["memory"] = {{"total", facts.memory.total}, {"available", facts.memory.available}};
  out["devices"] = {{"kind", or_null(facts.device)}, {"count", facts.devices}, {"driver", or_null(facts.driver)}};
  out["limits"] = {{"nofile", limit_json(facts.open_files)},
                   {"nproc", limit_json(facts.processes)},
                   {"memlock", limit_json(facts.locked_memory)}};
  out["shm"] = space_json(facts.shared_memory);
  out["agent_folder"] = space_json(facts.agent_folder);
  out["working_directory"] = space_json(facts.working_directory);
  Json programs = Json::array();
  for (const std::string& file : facts.programs) programs.push_back(or_null(file));
  out["programs"] = std::move(programs);
  return out;
}

Json host_json(const HostCheck& host) {
  Json out;
  out["index"] = host.index.value();
  out["name"] = host.name;
  out["slots"] = host.slots;
  out["ranks"] = host.ranks;
  out["ready"] = is_ready(host);
  out["faults"] = faults_json(host);
  out["address"] = or_null(host.address);
  out["reaches_rank0"] = reaches_json(host.reaches_first);
  const auto seconds = [](const std::optional<Duration>& d) { return d ? Json(in_seconds(*d)) : Json(); };
  out["round_trip_s"] = seconds(host.round_trip);
  out["clock_offset_s"] = seconds(host.clock_offset);
  out["mpi"] = Json::array();
  for (const MpiOffer& offer : host.mpi) out["mpi"].push_back({{"ways", offer.ways}, {"why", offer.why}});
  out["pmix"] = or_null(host.pmix);
  out["facts"] = host.facts ? facts_json(*host.facts) : Json();
  return out;
}

}  // namespace

std::string check_json(const CheckReport& report) {
  const JobOutcome verdict = judge(report);
  Json out;
  out["schema"] = 1;
  out["would_start"] = verdict.exit_code == 0;
  out["exit_code"] = verdict.exit_code;
  out["verdict"] = verdict.lines;
  out["warnings"] = check_warnings(report);
  out["world_size"] = report.world_size;
  out["host_source"] = report.host_source;
  out["master_address"] = or_null(report.master_address);
  out["command"] = report.command;
  out["one_machine"] = report.machines;
  out["hosts"] = Json::array();
  for (const HostCheck& host : report.hosts) out["hosts"].push_back(host_json(host));
  // As ASCII: text from hosts may contain characters that control a terminal.
  return out.dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace sml::report

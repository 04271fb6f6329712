#include <set>
#include <string_view>

#include <nlohmann/json.hpp>

#include "launcher/report/events/timeline.h"
#include "launcher/report/events/timeline_page.h"
#include "launcher/report/status_json.h"

namespace sml::report {

namespace {

using Json = nlohmann::ordered_json;

// Names and messages can contain any bytes; JSON must be UTF-8.
std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json seconds_json(const std::optional<double>& at) { return at ? Json(*at) : Json(); }

std::string_view word(Timeline::Outcome outcome) {
  static constexpr std::array<std::string_view, 4> kWords = {"unknown", "ok", "failed", "stopped"};
  return kWords[static_cast<std::size_t>(outcome)];
}

Json host_json(const Timeline::Host& host) {
  Json steps = Json::array();
  for (const Timeline::Step& step : host.steps) steps.push_back({step.at, step.text});
  Json use = Json::array();
  for (const auto& [at, now] : host.use) {
    Json one{at, now.memory_used, now.memory_total};
    for (const AcceleratorUse& of : now.accelerators) one.push_back({of.name, of.busy_percent});
    use.push_back(std::move(one));
  }
  return {{"name", host.name},
          {"steps", std::move(steps)},
          {"end", seconds_json(host.end)},
          {"use", std::move(use)},
          {"fault", host.fault ? Json({host.fault->at, host.fault->text}) : Json()}};
}

Json run_json(const Timeline::Run& run) {
  Json out = {{"host", run.host},
              {"pid", run.pid},
              {"start", seconds_json(run.start)},
              {"end", seconds_json(run.end)},
              {"outcome", word(run.outcome)},
              {"status", run.status}};
  if (run.usage) out["usage"] = usage_json(*run.usage);
  return out;
}

Json rank_json(const Timeline::RankLine& rank) {
  Json output = Json::array();
  std::size_t last = Timeline::kBuckets;
  while (last > 0 && rank.output[last - 1] == 0) --last;
  for (std::size_t i = 0; i < last; ++i) output.push_back(rank.output[i]);
  Json out = run_json(rank);
  out["output"] = std::move(output);
  for (const Timeline::Run& run : rank.earlier) out["earlier"].push_back(run_json(run));
  if (!rank.last_lines.empty()) out["last_lines"] = rank.last_lines;
  return out;
}

// Escapes "<", so that it cannot end a script or begin a comment; in JSON it occurs only in strings.
std::string for_script(std::string json) {
  for (std::size_t at = json.find('<'); at != std::string::npos; at = json.find('<', at)) {
    json.replace(at, 1, "\\u003c");
  }
  return json;
}

// One entry of the trace; times in microseconds.
Json entry(std::string_view phase, std::string name, std::size_t host, std::size_t thread, double at) {
  return {{"ph", phase}, {"name", std::move(name)}, {"pid", host + 1}, {"tid", thread}, {"ts", at * 1e6}};
}

Json span(std::string name, std::size_t host, std::size_t thread, double from, double to) {
  Json out = entry("X", std::move(name), host, thread, from);
  out["dur"] = (to - from) * 1e6;
  return out;
}

Json title(std::string_view what, std::size_t host, std::size_t thread, const std::string& name) {
  return {{"ph", "M"}, {"name", what}, {"pid", host + 1}, {"tid", thread}, {"args", {{"name", name}}}};
}

void trace_host(Json& out, const Timeline& timeline, std::size_t index) {
  const Timeline::Host& host = timeline.hosts()[index];
  out.push_back(title("process_name", index, 0, host.name));
  out.push_back(title("thread_name", index, 0, "host"));
  for (std::size_t i = 0; i < host.steps.size(); ++i) {
    const double to = i + 1 < host.steps.size() ? host.steps[i + 1].at
                      : host.fault              ? host.fault->at
                                                : host.end.value_or(timeline.end());
    out.push_back(span(host.steps[i].text, index, 0, host.steps[i].at, std::max(to, host.steps[i].at)));
  }
  if (!host.fault) return;
  out.push_back(entry("i", host.fault->text, index, 0, host.fault->at));
  out.back()["s"] = "p";
}

void trace_output(Json& out, const Timeline& timeline, std::size_t host) {
  std::array<std::uint64_t, Timeline::kBuckets> bytes{};
  for (const Timeline::RankLine& rank : timeline.ranks()) {
    for (std::size_t i = 0; rank.host == host && i < bytes.size(); ++i) bytes[i] += rank.output[i];
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const double at = static_cast<double>(i) * timeline.bucket_seconds();
    if (at > timeline.end()) return;
    out.push_back(entry("C", "output", host, 0, at));
    out.back()["args"] = {{"bytes per second", static_cast<double>(bytes[i]) / timeline.bucket_seconds()}};
  }
}

void trace_rank(Json& out, const Timeline& timeline, std::size_t index) {
  const Timeline::RankLine& rank = timeline.ranks()[index];
  std::set<std::size_t> named;
  const auto add = [&](const Timeline::Run& run) {
    if (named.insert(run.host).second) {
      out.push_back(title("thread_name", run.host, index + 1, "rank " + std::to_string(index)));
    }
    if (!run.start) return;
    const double to = run.end.value_or(timeline.end());
    out.push_back(span(run.end ? run.status : "no end was seen", run.host, index + 1, *run.start, to));
    out.back()["args"] = {{"rank", index}, {"pid", run.pid}, {"outcome", word(run.outcome)}};
    if (run.usage) out.back()["args"]["usage"] = usage_json(*run.usage);
  };
  for (const Timeline::Run& run : rank.earlier) add(run);
  add(rank);
}

}  // namespace

std::string timeline_html(const Timeline& timeline) {
  Json hosts = Json::array();
  for (const Timeline::Host& host : timeline.hosts()) hosts.push_back(host_json(host));
  Json ranks = Json::array();
  for (const Timeline::RankLine& rank : timeline.ranks()) ranks.push_back(rank_json(rank));
  Json marks = Json::array();
  for (const Timeline::Mark& mark : timeline.marks()) marks.push_back({mark.at, mark.kind, mark.text});
  const Json data = {{"job", timeline.job_id()},
                     {"program", timeline.program()},
                     {"running", !timeline.has_ended()},
                     {"root_cause", timeline.root_cause() ? Json(timeline.root_cause()->value()) : Json()},
                     {"exit_code", timeline.exit_code()},
                     {"command", timeline.command()},
                     {"unix_time", timeline.unix_time()},
                     {"verdict", timeline.verdict()},
                     {"goodput", timeline.goodput()},
                     {"end", timeline.end()},
                     {"bucket", timeline.bucket_seconds()},
                     {"hosts", std::move(hosts)},
                     {"ranks", std::move(ranks)},
                     {"marks", std::move(marks)}};
  constexpr std::string_view kPlace = "{{DATA}}";
  std::string page(timeline_page());
  return page.replace(page.find(kPlace), kPlace.size(), for_script(dump(data)));
}

std::string timeline_trace(const Timeline& timeline) {
  Json events = Json::array();
  for (std::size_t host = 0; host < timeline.hosts().size(); ++host) {
    trace_host(events, timeline, host);
    trace_output(events, timeline, host);
  }
  for (std::size_t rank = 0; rank < timeline.ranks().size(); ++rank) trace_rank(events, timeline, rank);
  for (const Timeline::Mark& mark : timeline.marks()) {
    events.push_back(entry("i", mark.text, 0, 0, mark.at));
    events.back()["s"] = "g";
  }
  const Json trace = {{"displayTimeUnit", "ms"},
                      {"otherData", {{"job_id", timeline.job_id()}, {"verdict", timeline.verdict()}}},
                      {"traceEvents", std::move(events)}};
  return dump(trace) + "\n";
}

}  // namespace sml::report

#include "launcher/notify/notice.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <variant>

#include "common/core/text.h"

namespace sml::notify {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestCommandWords = 500;
constexpr std::size_t kLongestVerdict = 1000;
constexpr std::size_t kMostLines = 10;
constexpr std::size_t kLongestOfThem = 300;

std::string_view name_of(NotifyOn kind) {
  switch (kind) {
    case NotifyOn::Start: return "start";
    case NotifyOn::Restart: return "restart";
    case NotifyOn::Failure: return "failure";
    case NotifyOn::End: return "end";
  }
  return "";
}

std::string words_of(const std::vector<std::string>& command) {
  std::string out;
  for (const std::string& word : command) {
    if (out.size() < kLongestCommandWords) out += (out.empty() ? "" : " ") + shell_quote(word);
  }
  return show(out, kLongestCommandWords);
}

// The last lines of the rank, each escaped and cut.
std::vector<std::string> lines_of(const report::JobEnds& end) {
  std::vector<std::string> out;
  const auto is_it = [&](const report::RankLastLines& lines) {
    return end.root_cause && lines.rank == *end.root_cause;
  };
  const auto found = std::find_if(end.last_lines.begin(), end.last_lines.end(), is_it);
  if (found == end.last_lines.end()) return out;
  const std::size_t count = found->lines.size();
  for (std::size_t i = count > kMostLines ? count - kMostLines : 0; i < count; ++i) {
    out.push_back(show(found->lines[i], kLongestOfThem));
  }
  return out;
}

std::string ascii(const Json& json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace); }

}  // namespace

Notice NoticeMaker::make(NotifyOn kind, TimePoint at) const {
  const double age = std::max(0.0, in_seconds(at - began_));
  return {.kind = kind,
          .job_id = job_id_,
          .command = command_,
          .hosts = hosts_,
          .ranks = ranks_,
          .attempt = attempt_,
          .unix_time = began_unix_ + age,
          .age = age};
}

std::optional<Notice> NoticeMaker::wanted(Notice notice) const {
  if (!options_.notifies(notice.kind)) return std::nullopt;
  return notice;
}

std::optional<Notice> NoticeMaker::on_event(const report::Event& event) {
  const auto count = [this](const plan::LaunchPlan& plan) {
    const auto works = [](const plan::MappedHost& host) { return !host.ranks.empty(); };
    hosts_ = static_cast<std::uint32_t>(std::count_if(plan.map.hosts.begin(), plan.map.hosts.end(), works));
    ranks_ = plan.map.world_size();
  };
  if (const auto* job = std::get_if<report::JobBegins>(&event.what)) {
    job_id_ = job->plan->job.job_id;
    command_ = words_of(job->plan->command);
    count(*job->plan);
    began_ = event.at;
    began_unix_ = job->unix_time;
  } else if (std::holds_alternative<report::WorkersStart>(event.what) && attempt_ == 1) {
    Notice notice = make(NotifyOn::Start, event.at);
    notice.text =
        fmt::format("job {} has started: {} on {}", job_id_, pluralize(ranks_, "rank"), pluralize(hosts_, "host"));
    return wanted(std::move(notice));
  } else if (const auto* failed = std::get_if<report::AttemptFails>(&event.what)) {
    Notice notice = make(NotifyOn::Failure, event.at);
    notice.exit_code = failed->exit_code;
    notice.verdict = show(failed->verdict, kLongestVerdict);
    notice.root_cause = failed->root_cause;
    notice.text = fmt::format("attempt {} of job {} has failed: {}", attempt_, job_id_, notice.verdict);
    return wanted(std::move(notice));
  } else if (const auto* again = std::get_if<report::AttemptBegins>(&event.what)) {
    attempt_ = again->attempt;
    count(*again->plan);
    Notice notice = make(NotifyOn::Restart, event.at);
    notice.text = fmt::format("job {} starts again, attempt {}: {} on {}", job_id_, attempt_, pluralize(ranks_, "rank"),
                              pluralize(hosts_, "host"));
    return wanted(std::move(notice));
  } else if (const auto* end = std::get_if<report::JobEnds>(&event.what)) {
    const bool is_failure = end->exit_code != 0 && !options_.notifies(NotifyOn::End);
    Notice notice = make(is_failure ? NotifyOn::Failure : NotifyOn::End, event.at);
    notice.exit_code = end->exit_code;
    notice.verdict = show(end->verdict, kLongestVerdict);
    notice.root_cause = end->root_cause;
    notice.last_lines = lines_of(*end);
    notice.text = fmt::format("job {} has ended with status {}: {}", job_id_, end->exit_code, notice.verdict);
    return wanted(std::move(notice));
  }
  return std::nullopt;
}

std::string to_json(const Notice& notice) {
  Json out{{"event", name_of(notice.kind)}, {"job_id", notice.job_id}, {"command", notice.command},
           {"hosts", notice.hosts},         {"ranks", notice.ranks},   {"attempt", notice.attempt},
           {"time", notice.unix_time},      {"age_s", notice.age},     {"text", notice.text}};
  if (notice.exit_code) out["exit_code"] = *notice.exit_code;
  if (!notice.verdict.empty()) out["verdict"] = notice.verdict;
  if (notice.root_cause) out["root_cause"] = notice.root_cause->value();
  if (!notice.last_lines.empty()) out["last_lines"] = notice.last_lines;
  std::string text = ascii(out);
  if (text.size() > kMostBody) {
    out.erase("last_lines");
    text = ascii(out);
  }
  return text;
}

std::string to_slack(const Notice& notice) { return ascii({{"text", notice.text}}); }

}  // namespace sml::notify

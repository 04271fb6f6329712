#include "launcher/run/worker_tags.h"

#include <algorithm>
#include <chrono>

namespace sml::run {

namespace {

output::TagTemplate default_tag(std::size_t workers) {
  return workers == 1 ? output::TagTemplate() : *output::TagTemplate::parse("[{rank}] ");
}

output::TagLimits limits(const std::vector<output::TagSubject>& workers) {
  output::TagLimits out;
  for (const output::TagSubject& worker : workers) {
    out.rank = std::max(out.rank, worker.ranks.largest());
    out.local_rank = std::max(out.local_rank, worker.local_ranks.largest());
  }
  return out;
}

}  // namespace

std::vector<output::TagSubject> tag_subjects(const plan::JobMap& map) {
  std::vector<output::TagSubject> out;
  for (const plan::RankAssignment& rank : map.ranks) {
    output::TagSubject& subject = out.emplace_back();
    subject.ranks.add(rank.rank.value());
    subject.local_ranks.add(rank.local_rank.value());
    subject.hosts = {map.hosts[rank.host.value()].host.name};
    subject.roles = {map.roles.empty() ? "default" : map.roles[rank.program]};
  }
  return out;
}

output::TagSubject tagged(output::TagSubject worker, Stream stream, const OutputOptions& options) {
  const bool teed = options.routes.teed_is(LocalRank(worker.local_ranks.largest()), stream);
  worker.tagged = teed ? output::TagSubject::Tagged::AsTeed : output::TagSubject::Tagged::AsAll;
  worker.stream = stream;
  return worker;
}

output::Chain::Settings tag_settings(const std::vector<output::TagSubject>& workers, const OutputOptions& options) {
  return {.tag = options.tag ? *options.tag : default_tag(workers.size()),
          .teed_tag = options.teed_tag,
          .limits = limits(workers)};
}

bool tags_have_time(const OutputOptions& options) {
  return (options.tag && options.tag->has_time()) || (options.teed_tag && options.teed_tag->has_time());
}

output::WallTime wall_time(TimePoint time) {
  using namespace std::chrono;
  return floor<milliseconds>(system_clock::now() - duration_cast<system_clock::duration>(Clock::now() - time));
}

}  // namespace sml::run

#include "launcher/run/matched_lines.h"

#include <utility>

#include "common/core/text.h"
#include "launcher/run/log_paths.h"
#include "launcher/run/worker_tags.h"

namespace sml::run {

namespace {

// With --tee, or torchrun's --redirects, those of --tee; else all.
bool is_selected(const output::StreamRoutes& routes, LocalRank local_rank, Stream stream) {
  return (!routes.teed && !routes.redirected) || routes.teed_is(local_rank, stream);
}

}  // namespace

const std::vector<std::string>& MatchedLines::words(Stream stream) const {
  return stream == Stream::Stdout ? options_.matched.stdout_words : options_.matched.stderr_words;
}

Result<MatchedLines> MatchedLines::plan(const LogOptions& options, const OutputOptions& output,
                                        const plan::LaunchPlan& plan) {
  MatchedLines lines;
  lines.options_ = options;
  lines.with_time_ = tags_have_time(output);
  if (options.matched.stdout_words.empty() && options.matched.stderr_words.empty()) return lines;
  if (Result<void> planned = lines.plan_ranks(output, plan, Rank(0)); !planned) return planned.error();
  lines.files_.emplace(options.rules, lines.paths_);
  return lines;
}

Result<void> MatchedLines::plan_ranks(const OutputOptions& output, const plan::LaunchPlan& plan, Rank first) {
  const Result<LogPaths> names = LogPaths::make(options_.directory, options_.matched.layout, plan);
  if (!names) return Error(names.error()).in("--log-match-layout " + show(options_.matched.layout));
  const std::vector<output::TagSubject> subjects = tag_subjects(plan.map);
  const output::Chain::Settings settings = tag_settings(subjects, output);
  sources_.resize(log_index(first, Stream::Stdout));
  for (std::size_t i = first.value(); i < plan.map.ranks.size(); ++i) {
    const plan::RankAssignment& rank = plan.map.ranks[i];
    for (const Stream stream : {Stream::Stdout, Stream::Stderr}) {
      std::optional<Source>& source = sources_.emplace_back();
      if (words(stream).empty()) continue;
      const std::size_t file = file_at(names->of(rank, stream), settings);
      if (!is_selected(output.routes, rank.local_rank, stream)) continue;
      source = Source{file, chains_[file]->add_source(tagged(subjects[i], stream, output))};
    }
  }
  return {};
}

// The file at `path`, which is new if no other rank has named it.
std::size_t MatchedLines::file_at(const std::string& path, const output::Chain::Settings& settings) {
  const auto [known, is_new] = by_path_.emplace(path, paths_.size());
  if (is_new) {
    paths_.push_back(path);
    chains_.push_back(std::make_unique<output::Chain>(settings));
  }
  return known->second;
}

void MatchedLines::listen(const boost::asio::any_io_executor& loop, os::LogWriter::Events events) {
  if (!files_) return;
  writer_ = std::make_unique<os::LogWriter>(loop, std::move(*files_), std::move(events));
  files_.reset();
}

void MatchedLines::begin(std::function<void()> then) {
  if (!writer_) return then();
  writer_->create(std::move(then));
}

void MatchedLines::add(const OutputOptions& output, const plan::LaunchPlan& plan, Rank first) {
  if (!writer_) return;
  const std::size_t known = paths_.size();
  if (!plan_ranks(output, plan, first)) return;  // the template was good when the job began
  writer_->add({paths_.begin() + static_cast<std::ptrdiff_t>(known), paths_.end()});
}

void MatchedLines::write(Rank rank, Stream stream, std::string_view bytes, TimePoint read_at) {
  if (!writer_) return;
  std::optional<Source>& source = sources_[log_index(rank, stream)];
  if (!source) return;
  source->filter.add(words(stream), bytes, matched_);
  pass_on(*source, {Clock::now(), with_time_ ? wall_time(read_at) : output::WallTime()});
}

void MatchedLines::rank_done(Rank rank) {
  if (!writer_) return;
  for (const Stream stream : {Stream::Stdout, Stream::Stderr}) {
    std::optional<Source>& source = sources_[log_index(rank, stream)];
    if (!source) continue;
    source->filter.finish(words(stream), matched_);
    pass_on(*source, {Clock::now(), output::WallTime()});
    output::Chain& chain = *chains_[source->file];
    chain.finish(source->in_chain);
    writer_->write(source->file, chain.output());
    chain.output().clear();
  }
}

// Gives what the filter has let pass to the file.
void MatchedLines::pass_on(const Source& source, const output::Moment& moment) {
  if (matched_.empty()) return;
  output::Chain& chain = *chains_[source.file];
  chain.add(source.in_chain, matched_, moment);
  matched_.clear();
  writer_->write(source.file, chain.output());
  chain.output().clear();
}

void MatchedLines::flush(Duration limit) {
  if (writer_) writer_->flush(limit);
}

}  // namespace sml::run

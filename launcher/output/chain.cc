#include "launcher/output/chain.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sml::output {

namespace {

// Excludes red, which suggests an error, and colours that are invisible on a light or dark background.
constexpr int kColours[] = {36, 32, 33, 35, 34, 96, 92, 93, 95, 94};

}  // namespace

Chain::Chain(const Settings& settings)
    : settings_(settings),
      merger_(settings.control == Control::Show ? LineMerger::For::Terminal : LineMerger::For::File) {
  const bool several = settings.limits.rank > 0;
  if (settings.equal == Equal::Pass || !several) return;
  for (Folding& folding : foldings_) {
    folding.dedup =
        std::make_unique<Dedup>([this, &folding](std::span<const Dedup::Source> group, std::string_view bytes,
                                                 WallTime read_at) { emit(folding, group, bytes, read_at); });
  }
}

const TagTemplate& Chain::template_of(const TagSubject& subject) const {
  return subject.tagged == TagSubject::Tagged::AsTeed && settings_.teed_tag ? *settings_.teed_tag : settings_.tag;
}

Tag Chain::tag_of(const TagSubject& subject) const {
  const TagTemplate& written = template_of(subject);
  Tag tag = written.fill(subject, settings_.limits);
  if (settings_.colours == Colours::PerRank && subject.ranks.size() == 1 && !written.empty()) {
    tag.colour(kColours[subject.ranks.largest() % std::size(kColours)]);
  }
  return tag;
}

void Chain::keep_subject(SourceState& state, TagSubject subject) {
  if (folding(state).dedup) state.subject = std::make_unique<const TagSubject>(std::move(subject));
}

Chain::Source Chain::add_source(TagSubject subject) {
  Tag tag = tag_of(subject);
  const bool is_alone = settings_.limits.rank == 0 && subject.ranks.largest() == 0;
  const bool plain = template_of(subject).empty() && is_alone;
  const Source source = plain ? merger_.add_plain_source() : merger_.add_source(tag.at(WallTime()));
  SourceState& state = sources_.emplace_back(SourceState{.stream = subject.stream, .tag = std::move(tag)});
  keep_subject(state, std::move(subject));
  if (settings_.control == Control::Show) state.filter = std::make_unique<TerminalFilter>();
  if (settings_.progress == Progress::Collapse) state.collapse = std::make_unique<Collapse>();
  if (Folding& to = folding(state); to.dedup) {
    state.folded_as = to.dedup->add_source();
    to.sources.push_back(source);
  }
  return source;
}

void Chain::add(Source source, std::string_view bytes, const Moment& moment) {
  SourceState& state = sources_[source];
  if (state.filter) {
    filtered_.clear();
    state.filter->add(bytes, filtered_);
    bytes = filtered_;
  }
  if (!prompting_.empty()) look_for_prompt(source, bytes, moment.now);
  if (state.collapse) {
    collapsed_.clear();
    state.collapse->add(bytes, moment.now, collapsed_);
    bytes = collapsed_;
  }
  fold_or_merge(source, bytes, moment);
}

void Chain::set_prompts(Source source, Prompts prompts) {
  std::erase(prompting_, source);
  sources_[source].prompt_due.reset();
  if (prompts == Prompts::AreShown) prompting_.push_back(source);
}

void Chain::look_for_prompt(Source source, std::string_view bytes, TimePoint now) {
  prompt_again_ = now + kQuiet;
  if (bytes.empty() || std::find(prompting_.begin(), prompting_.end(), source) == prompting_.end()) return;
  SourceState& state = sources_[source];
  const std::size_t end = bytes.find_last_of("\r\n");
  if (end != std::string_view::npos) state.behind_return = bytes[end] == '\r';
  state.prompt_due.reset();
  if (end != bytes.size() - 1 && !state.behind_return) state.prompt_due = now + kQuiet;
}

void Chain::show_prompt(Source source, TimePoint now) {
  SourceState& state = sources_[source];
  state.prompt_due.reset();
  collapsed_.clear();
  if (state.collapse) state.collapse->let_go(collapsed_);
  fold_or_merge(source, collapsed_, {now, state.last_time});
  if (Dedup* dedup = folding(state).dedup.get()) dedup->let_go(state.folded_as);
  merger_.show_prompt(source);
}

void Chain::fold_or_merge(Source source, std::string_view bytes, const Moment& moment) {
  SourceState& state = sources_[source];
  if (Dedup* dedup = folding(state).dedup.get()) return dedup->add(state.folded_as, bytes, moment);
  merge(source, bytes, moment.read_at);
}

void Chain::merge(Source source, std::string_view bytes, WallTime read_at) {
  SourceState& state = sources_[source];
  if (state.tag.has_time() && read_at > state.last_time) {
    state.last_time = read_at;
    merger_.set_tag(source, state.tag.at(read_at));
  }
  merger_.add(source, bytes);
}

// The tag of a line that all of these have in common.
TagSubject Chain::subject_of(const Folding& from, std::span<const Dedup::Source> group) const {
  TagSubject subject{.ranks = {}, .local_ranks = {}, .hosts = {}};
  for (const Dedup::Source member : group) {
    const TagSubject& of = *sources_[from.sources[member]].subject;
    subject.ranks.add(of.ranks.largest());
    subject.local_ranks.add(of.local_ranks.largest());
    if (subject.hosts.empty() || subject.hosts.back() != of.hosts.front()) subject.hosts.push_back(of.hosts.front());
    for (const std::string& role : of.roles) {
      const bool known = std::find(subject.roles.begin(), subject.roles.end(), role) != subject.roles.end();
      if (!known) subject.roles.push_back(role);
    }
    subject.stream = of.stream;
    subject.tagged = of.tagged;
  }
  return subject;
}

void Chain::emit(Folding& from, std::span<const Dedup::Source> group, std::string_view bytes, WallTime read_at) {
  if (group.size() == 1) return merge(from.sources[group.front()], bytes, read_at);
  if (!from.last_tag || !std::equal(group.begin(), group.end(), from.last_group.begin(), from.last_group.end())) {
    from.last_group.assign(group.begin(), group.end());
    from.last_tag = tag_of(subject_of(from, group));
  }
  merger_.add_shared_line(from.last_tag->at(read_at), bytes);
}

void Chain::finish(Source source) {
  SourceState& state = sources_[source];
  if (std::exchange(state.ended, true)) return;
  set_prompts(source, Prompts::Wait);
  const Moment moment{TimePoint(), state.last_time};
  filtered_.clear();
  if (state.filter) state.filter->finish(filtered_);
  collapsed_.clear();
  if (state.collapse) {
    state.collapse->add(filtered_, moment.now, collapsed_);
    state.collapse->finish(collapsed_);
  }
  fold_or_merge(source, state.collapse ? collapsed_ : filtered_, moment);
  if (Dedup* dedup = folding(state).dedup.get()) dedup->finish(state.folded_as);
  merger_.finish(source);
}

void Chain::finish_all() {
  for (Source source = 0; source < sources_.size(); ++source) finish(source);
}

void Chain::begin_again(Source source, TagSubject subject) {
  SourceState& state = sources_[source];
  if (!std::exchange(state.ended, false)) return;
  state.tag = tag_of(subject);
  keep_subject(state, std::move(subject));
  merger_.set_tag(source, state.tag.at(state.last_time));
  if (state.filter) state.filter = std::make_unique<TerminalFilter>();
  if (state.collapse) state.collapse = std::make_unique<Collapse>();
  Folding& of_stream = folding(state);
  of_stream.last_tag.reset();
  if (of_stream.dedup) of_stream.dedup->begin_again(state.folded_as);
}

std::optional<TimePoint> Chain::deadline() const {
  std::optional<TimePoint> first;
  const auto consider = [&first](std::optional<TimePoint> at) {
    if (at && (!first || *at < *first)) first = at;
  };
  for (const Folding& folding : foldings_) {
    if (folding.dedup) consider(folding.dedup->deadline());
  }
  if (settings_.progress == Progress::Collapse) {
    for (const SourceState& state : sources_) consider(state.collapse->deadline());
  }
  for (const Source source : prompting_) consider(sources_[source].prompt_due);
  if (merger_.prompt_is_hidden()) consider(prompt_again_);
  return first;
}

void Chain::on_time(TimePoint now) {
  for (Source source = 0; source < sources_.size() && settings_.progress == Progress::Collapse; ++source) {
    collapsed_.clear();
    sources_[source].collapse->on_time(now, collapsed_);
    if (!collapsed_.empty()) fold_or_merge(source, collapsed_, {now, sources_[source].last_time});
  }
  for (Folding& folding : foldings_) {
    if (folding.dedup) folding.dedup->on_time(now);
  }
  for (const Source source : prompting_) {
    if (const std::optional<TimePoint> due = sources_[source].prompt_due; due && now >= *due) show_prompt(source, now);
  }
  if (prompt_again_ && now >= *prompt_again_) merger_.repeat_prompt();
}

}  // namespace sml::output

#include "launcher/output/dedup.h"

#include <algorithm>
#include <utility>

namespace sml::output {

namespace {
constexpr std::size_t kGroupCost = 1024;  // memory besides the text
}

Dedup::Source Dedup::add_source() {
  sources_.emplace_back();
  return static_cast<Source>(sources_.size() - 1);
}

void Dedup::add(Source source, std::string_view bytes, const Moment& moment) {
  SourceState& state = sources_[source];
  state.read_at = moment.read_at;
  while (!bytes.empty()) {
    std::size_t end = bytes.find_first_of("\r\n");
    if (end == std::string_view::npos) break;
    if (bytes[end] == '\r' && end + 1 < bytes.size() && bytes[end + 1] == '\n') ++end;
    const std::string_view rest_of_line = bytes.substr(0, end + 1);
    bytes.remove_prefix(end + 1);
    if (state.partial.empty() && !state.passing) {
      add_line(source, rest_of_line, moment);
      continue;
    }
    state.partial += rest_of_line;
    if (state.passing) {
      pass(source);
    } else {
      add_line(source, std::exchange(state.partial, {}), moment);
    }
    state.passing = false;
  }
  state.partial += bytes;
  if (!state.partial.empty() && (state.passing || state.partial.size() > kMaxLine)) pass(source);
}

void Dedup::add_line(Source source, std::string_view line, const Moment& moment) {
  auto& text = *texts_.try_emplace(std::string(line)).first;
  if (Group* group = find_place(source, text.second)) {
    join(*group, source);
    if (group->sources.size() == 2) wait_on(*group);
    if (is_written_by_all(*group)) send(*group);
  } else {
    const std::deque<Group*>& waiting = sources_[source].waiting;
    const std::uint64_t level = waiting.empty() ? 0 : waiting.back()->level + 1;
    const Due due{moment.now + kAlone, ++last_number_};
    groups_.push_back(std::make_unique<Group>(Group{&text, level, {}, due, moment.read_at}));
    Group& first = *groups_.back();
    text.second.emplace(level, &first);
    dues_.emplace(due, &first);
    held_ += line.size() + kGroupCost;
    join(first, source);
    if (is_written_by_all(first)) send(first);
  }
  while (held_ > kMaxHeld) send(*groups_.front());
  drop_gone();
}

// The group that the source's next line may join: one after all its lines that wait; nullptr if there is none.
Dedup::Group* Dedup::find_place(Source source, Texts::mapped_type& groups) {
  if (groups.empty()) return nullptr;
  const std::deque<Group*>& waiting = sources_[source].waiting;
  if (waiting.empty()) return groups.begin()->second;
  const std::uint64_t least = waiting.back()->level + 1;
  if (const auto found = groups.lower_bound(least); found != groups.end()) return found->second;
  // A group that no line follows can be moved to a higher level.
  const auto last = std::prev(groups.end());
  Group* group = last->second;
  if (!is_last_of_all(*group) || group == waiting.back()) return nullptr;
  groups.erase(last);
  group->level = least;
  groups.emplace(least, group);
  return group;
}

bool Dedup::is_last_of_all(const Group& group) const {
  return std::all_of(group.sources.begin(), group.sources.end(),
                     [&](Source source) { return sources_[source].waiting.back() == &group; });
}

bool Dedup::is_written_by_all(const Group& group) const {
  if (group.sources.size() < sources_.size() - ended_) return false;
  const auto open =
      std::count_if(group.sources.begin(), group.sources.end(), [&](Source source) { return !sources_[source].ended; });
  return static_cast<std::size_t>(open) == sources_.size() - ended_;
}

// A line that two have is likely to be written by others, too.
void Dedup::wait_on(Group& group) {
  dues_.erase(group.due);
  group.due.first += kWindow - kAlone;
  dues_.emplace(group.due, &group);
}

void Dedup::join(Group& group, Source source) {
  group.sources.insert(std::upper_bound(group.sources.begin(), group.sources.end(), source), source);
  sources_[source].waiting.push_back(&group);
  held_ += sizeof source;
}

// Emits the available part of a line that is too long.
void Dedup::pass(Source source) {
  SourceState& state = sources_[source];
  send_all_of(source);
  emit_({&source, 1}, state.partial, state.read_at);
  state.partial.clear();
  state.passing = true;
}

// Emits the group after all lines that must precede it. Not recursive, as the workers determine the length of that
// chain.
void Dedup::send(Group& wanted) {
  std::vector<Group*> todo{&wanted};
  while (!todo.empty()) {
    Group& group = *todo.back();
    const auto earlier = std::find_if(group.sources.begin(), group.sources.end(), [&](Source source) {
      return !group.gone && sources_[source].waiting.front() != &group;
    });
    if (!group.gone && earlier != group.sources.end()) {
      todo.push_back(sources_[*earlier].waiting.front());
      continue;
    }
    todo.pop_back();
    if (std::exchange(group.gone, true)) continue;
    for (const Source source : group.sources) sources_[source].waiting.pop_front();
    dues_.erase(group.due);
    const std::string& line = group.text->first;
    held_ -= line.size() + kGroupCost + group.sources.size() * sizeof(Source);
    emit_(group.sources, line, group.read_at);
    auto& groups = group.text->second;
    groups.erase(group.level);
    if (groups.empty()) texts_.erase(texts_.find(line));
  }
  drop_gone();
}

void Dedup::send_all_of(Source source) {
  while (!sources_[source].waiting.empty()) send(*sources_[source].waiting.front());
}

void Dedup::drop_gone() {
  while (!groups_.empty() && groups_.front()->gone) groups_.pop_front();
}

void Dedup::on_time(TimePoint now) {
  while (!dues_.empty() && dues_.begin()->first.first <= now) send(*dues_.begin()->second);
}

void Dedup::let_go(Source source) {
  if (!sources_[source].partial.empty()) pass(source);
}

void Dedup::finish(Source source) {
  let_go(source);
  sources_[source].ended = true;
  if (++ended_ < sources_.size()) return;
  while (!groups_.empty()) send(*groups_.front());
}

void Dedup::begin_again(Source source) {
  sources_[source].ended = false;
  --ended_;
}

std::optional<TimePoint> Dedup::deadline() const {
  if (dues_.empty()) return std::nullopt;
  return dues_.begin()->first.first;
}

}  // namespace sml::output

// The pipeline of the workers' output to one descriptor: filters it for a terminal, collapses progress bars, folds
// equal lines, tags and merges the lines. Pure: takes bytes and times, returns bytes. The settings are fixed at
// construction.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/output/collapse.h"
#include "launcher/output/dedup.h"
#include "launcher/output/line_merger.h"
#include "launcher/output/moment.h"
#include "launcher/output/tag_template.h"
#include "launcher/output/terminal_filter.h"

namespace sml::output {

class Chain {
 public:
  using Source = LineMerger::Source;

  // Control characters. Show, for output that a terminal shows: they become \xNN (TerminalFilter), and lines that end
  // with \r are kept apart (LineMerger::For::Terminal).
  enum class Control : std::uint8_t { Pass, Show };
  enum class Colours : std::uint8_t { None, PerRank };    // of the tags
  enum class Progress : std::uint8_t { Pass, Collapse };  // states of progress bars, which end with \r
  enum class Equal : std::uint8_t { Pass, Fold };         // equal lines of several workers
  struct Settings {
    TagTemplate tag{};
    std::optional<TagTemplate> teed_tag{};  // for subjects with TagSubject::Tagged::AsTeed; nullopt: `tag`
    TagLimits limits{};
    Control control = Control::Pass;
    Colours colours = Colours::None;
    Progress progress = Progress::Pass;
    Equal equal = Equal::Pass;
  };
  explicit Chain(const Settings& settings);
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;

  // Adds one stream of one worker. If the worker is the job's only one and has no tag, its bytes pass at once, in whole
  // lines or not; otherwise in whole lines.
  Source add_source(TagSubject subject);

  // Adds bytes that the source wrote.
  void add(Source source, std::string_view bytes, const Moment& moment);
  // Ends the source; a second call has no effect.
  void finish(Source source);
  // Ends all sources.
  void finish_all();
  // Reopens a source that has ended; from now on it writes for `subject`, which has the same rank and stream.
  void begin_again(Source source, TagSubject subject);

  // AreShown: the worker of this source gets the launcher's stdin. Text without an end of line is then taken for a
  // prompt when no more text has come for kQuiet, and is passed on. Text after a \r is a progress bar, not a prompt.
  static constexpr Duration kQuiet = std::chrono::milliseconds(100);
  enum class Prompts : std::uint8_t { Wait, AreShown };
  void set_prompts(Source source, Prompts prompts);
  // See LineMerger.
  void line_typed() { merger_.line_typed(); }

  // Adds a line of the launcher itself, without its newline.
  void add_own_line(std::string_view line) { merger_.add_own_line(line); }

  // The time at which the caller must call on_time(); nullopt: no output is waiting.
  std::optional<TimePoint> deadline() const;
  void on_time(TimePoint now);

  // The bytes to write. The caller writes them and removes them from the string.
  std::string& output() { return merger_.output(); }
  const std::string& output() const { return merger_.output(); }
  OutputEnd end() const { return merger_.end(); }

 private:
  struct SourceState {
    Stream stream = Stream::Stdout;
    Tag tag;
    std::unique_ptr<const TagSubject> subject{};  // null: equal lines are not folded
    WallTime last_time{};  // of its lines; never goes back, even if the estimates of the hosts' clocks change
    std::unique_ptr<TerminalFilter> filter{};  // null: none
    std::unique_ptr<Collapse> collapse{};      // null: none
    Dedup::Source folded_as = 0;               // the number of this source in its Folding
    bool ended = false;
    bool behind_return = false;             // the current line follows a \r; updated only for sources in prompting_
    std::optional<TimePoint> prompt_due{};  // when unfinished text is passed on as a prompt
  };
  // The folding of one stream of all workers.
  struct Folding {
    std::unique_ptr<Dedup> dedup;           // null: no folding
    std::vector<Source> sources;            // by the number that `dedup` uses for them
    std::vector<Dedup::Source> last_group;  // sources of the last folded line, whose tag is last_tag
    std::optional<Tag> last_tag;
  };
  Folding& folding(const SourceState& state) { return foldings_[state.stream == Stream::Stdout ? 0 : 1]; }
  void look_for_prompt(Source source, std::string_view bytes, TimePoint now);
  void show_prompt(Source source, TimePoint now);
  void fold_or_merge(Source source, std::string_view bytes, const Moment& moment);
  void merge(Source source, std::string_view bytes, WallTime read_at);
  void emit(Folding& folding, std::span<const Dedup::Source> group, std::string_view bytes, WallTime read_at);
  const TagTemplate& template_of(const TagSubject& subject) const;
  Tag tag_of(const TagSubject& subject) const;
  void keep_subject(SourceState& state, TagSubject subject);
  TagSubject subject_of(const Folding& from, std::span<const Dedup::Source> group) const;

  Settings settings_;
  LineMerger merger_;
  std::vector<SourceState> sources_;
  std::array<Folding, 2> foldings_;
  std::vector<Source> prompting_;            // of workers that get the launcher's stdin
  std::optional<TimePoint> prompt_again_{};  // when to repeat a prompt above which other lines have been written
  std::string filtered_;                     // these two are members to reuse their memory
  std::string collapsed_;
};

}  // namespace sml::output

// All that happens to the output of the workers on its way to one descriptor: made safe for a terminal, thinned out,
// folded, tagged, merged. Pure: bytes and times in, bytes out. What a chain does is decided when it is made.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/output/collapse.h"
#include "common/output/dedup.h"
#include "common/output/line_merger.h"
#include "common/output/moment.h"
#include "common/output/tag_template.h"
#include "common/output/terminal_filter.h"

namespace sml::output {

class Chain {
 public:
  using Source = LineMerger::Source;

  enum class Control : std::uint8_t { Pass, Show };       // control characters of workers, see TerminalFilter
  enum class Colours : std::uint8_t { None, PerRank };    // of the tags
  enum class Progress : std::uint8_t { Pass, Collapse };  // states that end with \r
  enum class Equal : std::uint8_t { Pass, Fold };         // lines of several workers
  struct Settings {
    TagTemplate tag{};
    std::optional<TagTemplate> teed_tag{};  // of subjects that are tagged AsTeed; nothing: `tag`
    TagLimits limits{};
    Control control = Control::Pass;
    Colours colours = Colours::None;
    Progress progress = Progress::Pass;
    Equal equal = Equal::Pass;
  };
  explicit Chain(const Settings& settings);
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;

  // One stream of one worker. Without a tag the bytes of a job's only worker pass at once, whole lines or not.
  Source add_source(TagSubject subject);

  // What the source wrote.
  void add(Source source, std::string_view bytes, const Moment& moment);
  // The source has ended; a second call does nothing.
  void finish(Source source);
  // All sources have ended.
  void finish_all();
  // A source that has ended writes once more, for `subject` from now on, of the same rank and stream.
  void begin_again(Source source, TagSubject subject);

  // The worker of this source has our input, or has it no more. Text of one that has it is a prompt when its line has
  // not ended and nothing more has come for kQuiet: it is passed on. Text behind a \r is none, but a progress bar.
  static constexpr Duration kQuiet = std::chrono::milliseconds(100);
  enum class Prompts : std::uint8_t { Wait, AreShown };
  void set_prompts(Source source, Prompts prompts);
  // See LineMerger.
  void line_typed() { merger_.line_typed(); }

  // A line of the launcher's own, without its newline.
  void add_own_line(std::string_view line) { merger_.add_own_line(line); }

  // When on_time() is to be called, because something waits; nothing: not now.
  std::optional<TimePoint> deadline() const;
  void on_time(TimePoint now);

  // What can be written; to be taken away.
  std::string& output() { return merger_.output(); }
  const std::string& output() const { return merger_.output(); }
  OutputEnd end() const { return merger_.end(); }

 private:
  struct SourceState {
    TagSubject subject;
    Tag tag;
    WallTime last_time{};  // of its lines; never goes back, whatever is learnt about the clocks of hosts
    std::optional<TerminalFilter> filter{};
    std::optional<Collapse> collapse{};
    Dedup::Source folded_as = 0;
    bool ended = false;
    bool behind_return = false;  // the line that has begun; kept for sources in prompting_
    std::optional<TimePoint> prompt_due{};
  };
  // One stream of all workers.
  struct Folding {
    std::unique_ptr<Dedup> dedup;  // null: nothing is folded
    std::vector<Source> sources;   // by the numbers that it knows them by
    std::vector<Dedup::Source> last_group;
    std::optional<Tag> last_tag;
  };
  Folding& folding(const SourceState& state) { return foldings_[state.subject.stream == Stream::Stdout ? 0 : 1]; }
  void look_for_prompt(Source source, std::string_view bytes, TimePoint now);
  void show_prompt(Source source, TimePoint now);
  void fold_or_merge(Source source, std::string_view bytes, const Moment& moment);
  void merge(Source source, std::string_view bytes, WallTime read_at);
  void emit(Folding& folding, std::span<const Dedup::Source> group, std::string_view bytes, WallTime read_at);
  const TagTemplate& template_of(const TagSubject& subject) const;
  Tag tag_of(const TagSubject& subject) const;

  Settings settings_;
  LineMerger merger_;
  std::vector<SourceState> sources_;
  std::array<Folding, 2> foldings_;
  std::vector<Source> prompting_;            // of workers that have our input
  std::optional<TimePoint> prompt_again_{};  // when the one that lines of others have pushed up is repeated
  std::string filtered_;                     // these two are kept for their memory
  std::string collapsed_;
};

}  // namespace sml::output

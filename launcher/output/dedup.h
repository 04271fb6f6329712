// Folds equal lines of many workers into one line. Pure; one instance for stdout and one for stderr.
//
// A line waits for the same line of other sources, and is emitted at once when all sources that have not ended have
// written it. A line of only one source waits for at most kAlone, which a person does not notice. Once a second source
// has written the line, it waits for the other sources, for kWindow in all. The lines of one source are always emitted
// in its own order, so earlier lines are emitted before a later one. At most kMaxHeld bytes wait: if there are more,
// the oldest lines are emitted early. A line longer than kMaxLine is not folded and passes in pieces.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "launcher/output/moment.h"

namespace sml::output {

class Dedup {
 public:
  using Source = std::uint32_t;
  static constexpr Duration kAlone = std::chrono::milliseconds(100);
  static constexpr Duration kWindow = std::chrono::milliseconds(500);
  static constexpr std::size_t kMaxLine = std::size_t{64} << 10;
  static constexpr std::size_t kMaxHeld = std::size_t{4} << 20;

  // Receives the output: a whole line with its end, of one source or several (sorted); or a piece of a line of one
  // source. Called from within the member functions below.
  using Emit = std::function<void(std::span<const Source>, std::string_view bytes, WallTime read_at)>;
  explicit Dedup(Emit emit) : emit_(std::move(emit)) {}

  Source add_source();
  void add(Source source, std::string_view bytes, const Moment& moment);
  // Must be called when deadline() has passed.
  void on_time(TimePoint now);
  // Emits the unfinished line of the source, after all its earlier lines.
  void let_go(Source source);
  // Ends the source: emits the rest of its last line, and everything after the last source has ended. Call once for
  // each source.
  void finish(Source source);
  // Reopens a source that has ended. Its lines are folded with those of the others again.
  void begin_again(Source source);
  // nullopt: no line is waiting.
  std::optional<TimePoint> deadline() const;

 private:
  struct Group;
  // The waiting groups with the same text, by level.
  using Texts = std::unordered_map<std::string, std::map<std::uint64_t, Group*>>;
  // When the wait of a group is over; the number orders those of one moment by age.
  using Due = std::pair<TimePoint, std::uint64_t>;
  // A line that waits, and the sources that have written it. Levels increase along the lines of each source, so that no
  // two groups can each have to precede the other.
  struct Group {
    Texts::value_type* text;
    std::uint64_t level;
    std::vector<Source> sources;
    Due due;
    WallTime read_at;
    bool gone = false;  // the line has been emitted
  };
  struct SourceState {
    std::string partial;         // of the current line, which has not ended
    bool passing = false;        // the beginning of the current line has been emitted
    std::deque<Group*> waiting;  // the source's lines that wait, in order
    WallTime read_at;
    bool ended = false;
  };
  void add_line(Source source, std::string_view line, const Moment& moment);
  Group* find_place(Source source, Texts::mapped_type& groups);
  bool is_last_of_all(const Group& group) const;
  bool is_written_by_all(const Group& group) const;
  void join(Group& group, Source source);
  void wait_on(Group& group);
  void pass(Source source);
  void send(Group& group);
  void send_all_of(Source source);
  void drop_gone();

  Emit emit_;
  std::vector<SourceState> sources_;
  std::size_t ended_ = 0;                      // number of sources that have ended
  std::deque<std::unique_ptr<Group>> groups_;  // oldest first; some in between may be gone
  std::map<Due, Group*> dues_;                 // of those that are not gone
  std::uint64_t last_number_ = 0;
  std::size_t held_ = 0;  // bytes of the waiting lines, and an estimate of what each costs
  Texts texts_;
};

}  // namespace sml::output

// Lines that many workers print alike become one line of all of them. Pure; one for each stream.
//
// Rules. A line waits for at most kWindow for the same line of other sources; it goes on at once when all sources have
// it. The lines of one source always go on in its own order, so that what stands before a line that goes on goes first.
// No more than kMaxHeld bytes wait: when there are more, the oldest go on before their time. A line longer than
// kMaxLine is folded with none, and passes in pieces.
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

#include "common/output/moment.h"

namespace sml::output {

class Dedup {
 public:
  using Source = std::uint32_t;
  static constexpr Duration kWindow = std::chrono::milliseconds(500);
  static constexpr std::size_t kMaxLine = std::size_t{64} << 10;
  static constexpr std::size_t kMaxHeld = std::size_t{4} << 20;

  // What goes on: a whole line with its end, of one source or several (sorted); or a piece of a line of one source.
  // Called from within the calls below.
  using Emit = std::function<void(std::span<const Source>, std::string_view bytes, WallTime read_at)>;
  explicit Dedup(Emit emit) : emit_(std::move(emit)) {}

  Source add_source();
  void add(Source source, std::string_view bytes, const Moment& moment);
  // deadline() has come.
  void on_time(TimePoint now);
  // What the source has begun of a line goes on, behind all its lines.
  void let_go(Source source);
  // The source has ended: what is left of its last line goes on, and after the last source everything. Once for each.
  void finish(Source source);
  // One of those that have ended goes on.
  void begin_again() { --ended_; }
  std::optional<TimePoint> deadline() const;

 private:
  struct Group;
  // One text's groups that wait, by level.
  using Texts = std::unordered_map<std::string, std::map<std::uint64_t, Group*>>;
  // A line that waits, and who has it. Levels rise along the lines of each source, so that no two groups can each have
  // to go before the other.
  struct Group {
    Texts::value_type* text;
    std::uint64_t level;
    std::vector<Source> sources;
    TimePoint due;
    WallTime read_at;
    bool gone = false;
  };
  struct SourceState {
    std::string partial;         // of a line that has not ended
    bool passing = false;        // the beginning of that line has gone on
    std::deque<Group*> waiting;  // its lines, in order
    WallTime read_at;
  };
  void add_line(Source source, std::string_view line, const Moment& moment);
  Group* find_place(Source source, Texts::mapped_type& groups);
  bool is_last_of_all(const Group& group) const;
  void join(Group& group, Source source);
  void pass(Source source);
  void send(Group& group);
  void send_all_of(Source source);
  void drop_gone();

  Emit emit_;
  std::vector<SourceState> sources_;
  std::size_t ended_ = 0;
  std::deque<std::unique_ptr<Group>> groups_;  // oldest first; some in between may be gone
  std::size_t held_ = 0;
  Texts texts_;
};

}  // namespace sml::output

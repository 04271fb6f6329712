// The state machine of sml-run top: what is on the screen, and what a key does. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "launcher/top/job_view.h"

namespace sml::top {

enum class Style : std::uint8_t { Plain, Title, Selected, Bad, Faint };
struct Line {
  std::string text;  // ASCII, no longer than the screen is wide
  Style style = Style::Plain;
};

enum class Key : std::uint8_t { Up, Down, PageUp, PageDown, Home, End, Enter, Escape, Erase, Other };

// The wishes of the user.
struct Leave {};
struct ShowLogs {
  std::size_t rank = 0;
};
struct ShowStacks {};
struct StopJob {};
struct SendSignal {
  int signo = 0;
  std::string ranks;
};
using Wish = std::variant<std::monostate, Leave, ShowLogs, ShowStacks, StopJob, SendSignal>;

class Screen {
 public:
  static constexpr std::size_t kFewestColumns = 40;
  static constexpr std::size_t kFewestLines = 8;
  static constexpr std::size_t kMostText = 20'000;  // lines of a text that are kept, the last ones

  // The job has answered. `elapsed`: since the answer before.
  void take(Snapshot job, Duration elapsed);
  // Shows the answer to a wish: the lines of a rank, stacks, or a refusal. Any bytes; control characters are shown
  // escaped.
  void show_text(std::string title, std::string_view text);
  void print(std::string_view sentence);  // in the last line, until the next key
  void job_has_ended(std::string_view how);

  // `letter` counts for Key::Other.
  Wish on_key(Key key, char letter = 0);
  // Exactly `lines` lines for a screen of that size; sets what a page is.
  std::vector<Line> draw(std::size_t columns, std::size_t lines);

 private:
  enum class Mode : std::uint8_t { Table, Text, Question, SignalName };
  Wish on_table_key(Key key, char letter);
  Wish on_letter(char letter);
  void on_text_key(Key key, char letter);
  Wish on_answer(char letter);
  Wish on_name_key(Key key, char letter);
  void ask(std::string question, Wish wish);
  void move(std::ptrdiff_t by);
  std::vector<std::size_t> selected() const;
  void draw_head(std::vector<Line>& out) const;
  void draw_hosts(std::vector<Line>& out, std::size_t most) const;
  void draw_table(std::vector<Line>& out, std::size_t lines);
  void draw_text(std::vector<Line>& out, std::size_t lines);
  Line line_of(const Row& row) const;
  Line foot() const;

  Snapshot job_;
  bool has_job_ = false;
  std::optional<std::string> ended_;
  Mode mode_ = Mode::Table;
  Order order_ = Order::OddFirst;
  bool folds_ = true;
  std::vector<Row> rows_;
  std::size_t selected_ = 0;  // row
  std::size_t top_row_ = 0;   // the first one on the screen
  std::size_t page_ = 10;     // rows of a page
  std::string title_;
  std::vector<std::string> text_;
  std::size_t top_line_ = 0;
  std::string question_;
  Wish asked_;         // carried out when the answer is yes
  std::string typed_;  // the name of a signal
  std::string note_;
};

}  // namespace sml::top

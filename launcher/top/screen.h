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

// The requests of the user, which the owner of the Screen carries out.
struct Leave {};  // end sml-run top
struct ShowLogs {
  std::size_t rank = 0;
};
struct ShowStacks {};
struct StopJob {};
struct SendSignal {
  int signo = 0;
  std::string ranks;  // "0-3,7"
};
// monostate: no request.
using UserRequest = std::variant<std::monostate, Leave, ShowLogs, ShowStacks, StopJob, SendSignal>;

class Screen {
 public:
  static constexpr std::size_t kFewestColumns = 40;
  static constexpr std::size_t kFewestLines = 8;
  static constexpr std::size_t kMostText = 20'000;  // lines of a text that are kept, the last ones

  // The job has answered. `elapsed`: since the answer before.
  void take(Snapshot job, Duration elapsed);
  // Shows the answer to a request: the lines of a rank, or stacks. Any bytes; control characters are shown escaped.
  void show_text(std::string title, std::string_view text);
  void print(std::string_view sentence);  // in the last line, until the next key
  void job_has_ended(std::string_view how);

  // Changes the screen's state, and returns the request of the user. `letter` is used only with Key::Other.
  UserRequest on_key(Key key, char letter = 0);
  // Returns exactly `lines` lines for a screen of that size. Also sets how far PageUp and PageDown move.
  std::vector<Line> draw(std::size_t columns, std::size_t lines);

 private:
  enum class Mode : std::uint8_t { Table, Text, Question, SignalName };
  UserRequest on_table_key(Key key, char letter);
  UserRequest on_letter(char letter);
  void on_text_key(Key key, char letter);
  UserRequest on_answer(char letter);
  UserRequest on_name_key(Key key, char letter);
  void ask(std::string question, UserRequest request);
  void move(std::ptrdiff_t by);
  std::vector<std::size_t> selected() const;  // the ranks of the selected row
  void draw_head(std::vector<Line>& out) const;
  void draw_hosts(std::vector<Line>& out, std::size_t most) const;
  void draw_table(std::vector<Line>& out, std::size_t lines);
  void draw_text(std::vector<Line>& out, std::size_t lines);
  Line line_of(const Row& row) const;
  Line foot() const;

  Snapshot job_;
  bool has_job_ = false;
  std::optional<std::string> ended_;  // how the job has ended; nullopt: it runs
  Mode mode_ = Mode::Table;
  Order order_ = Order::OddFirst;
  bool folds_ = true;  // false: lists all ranks
  std::vector<Row> rows_;
  std::size_t selected_ = 0;       // index of a row
  std::size_t top_row_ = 0;        // the first one on the screen
  std::size_t page_ = 10;          // rows of a page
  std::string title_;              // of the text of Mode::Text
  std::vector<std::string> text_;  // its lines
  std::size_t top_line_ = 0;       // the first of them on the screen
  std::string question_;
  UserRequest asked_;  // carried out when the answer is yes
  std::string typed_;  // the name of a signal so far
  std::string note_;   // see print()
};

}  // namespace sml::top

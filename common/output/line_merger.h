// Lines of many workers become one stream: whole, tagged, in the order in which they were completed. Pure.
//
// Rules. A line ends with \n; also with \r, so that progress bars show at once (\r\n is one end). Up to kMaxLine bytes
// a line is neither split nor joined with another. A longer one is passed on in pieces; when another source's line
// comes between two pieces, the first is closed with kContinues and the next begins with it. A last line without an end
// is passed on without one, and is completed with \n only when a line of another source follows. Bytes pass unchanged.
// A prompt, text whose line has not ended, is passed on as such a piece when show_prompt() says so.
//
// On a terminal a line that a \r ended still stands there, and the next one would be written over it: one of another
// source begins with \n, so that nobody's text is seen behind another's tag. A prompt that lines of others have pushed
// up there can be repeated below them, and needs no kContinues.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/output/bottom_line.h"

namespace sml::output {

class LineMerger {
 public:
  static constexpr std::size_t kMaxLine = std::size_t{64} << 10;
  static constexpr std::string_view kContinues = "[...]";

  using Source = std::uint32_t;
  enum class For : std::uint8_t { File, Terminal };

  explicit LineMerger(For whom = For::File) : for_(whom) {}

  // A further source; `tag` goes before each of its lines.
  Source add_source(std::string tag);

  // A source whose bytes pass at once and as they are: the only worker of a job, without a tag. Until add_source():
  // it has spawned others.
  Source add_plain_source();

  // The tag of lines that begin from now on.
  void set_tag(Source source, std::string tag) { lines_[source].tag = std::move(tag); }

  // What the source wrote; complete lines are appended to output().
  void add(Source source, std::string_view bytes);
  // The source has ended: what is left of its last line is passed on.
  void finish(Source source);
  // What the source has begun is a prompt.
  void show_prompt(Source source);
  // Shows the prompt once more that has been pushed up, if there is one.
  void repeat_prompt();
  bool prompt_is_hidden() const { return hidden_ != kNobody; }
  // A line was typed on the terminal that shows the output: its cursor is at the beginning of a line.
  void line_typed();
  // A line of the launcher's own, without its newline.
  void add_own_line(std::string_view line);
  // A line that several sources have in common, with its end; `tag` goes before it.
  void add_shared_line(std::string_view tag, std::string_view line);

  std::string& output() { return out_; }
  const std::string& output() const { return out_; }
  // Of all that has been appended to output().
  OutputEnd end() const;

 private:
  struct Line {
    std::string tag;
    bool plain = false;
    std::string partial;     // of a line that has not ended
    bool after_cr = false;   // the last byte passed on was a \r that ended a line
    bool continued = false;  // pieces of the present line have been passed on
    std::string prompt{};    // of the present line, on a terminal
  };

  void pass_on(Source source, std::string_view text);
  void pass_on_piece(Source source);
  void begin(Source source);
  void close_line_of_another(Source source);
  std::string_view end_pending_crlf(Line& line, Source source, std::string_view bytes);
  void add_with_returns(Source source, std::string_view bytes);
  void keep(Source source, std::string_view rest);

  static constexpr Source kNobody = UINT32_MAX;
  For for_;
  std::vector<Line> lines_;
  std::string out_;
  Source open_ = kNobody;    // whose unfinished line stands at the end of the output
  Source last_ = kNobody;    // who wrote last
  Source hidden_ = kNobody;  // whose prompt is to be repeated
  bool at_return_ = false;   // the last byte of the output is a \r
};

}  // namespace sml::output

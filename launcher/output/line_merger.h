// Merges the lines of many workers into one stream: whole and tagged, in the order in which they were completed. Pure.
//
// A line ends with \n, or with \r, so that progress bars appear at once (\r\n is one end). A line of up to kMaxLine
// bytes is neither split nor joined with another. A longer one is passed on in pieces; if a line of another source
// comes between two pieces, the first is closed with kContinues and the next begins with it. A last line without an end
// is passed on without one, and is completed with \n only if a line of another source follows. Bytes pass unchanged. A
// prompt, which is text whose line has not ended, is passed on as such a piece by show_prompt().
//
// On a terminal, a line that ended with \r is still visible and would be overwritten by the next one: a line of another
// source therefore begins with \n, so that no text appears behind another source's tag. Without tags a line that ends
// with \r does not: the progress bars of several sources share a line, as where they write to the terminal themselves.
// A prompt above which other lines were written can be repeated below them, and needs no kContinues there.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/output/bottom_line.h"

namespace sml::output {

class LineMerger {
 public:
  static constexpr std::size_t kMaxLine = std::size_t{64} << 10;
  static constexpr std::string_view kContinues = "[...]";

  using Source = std::uint32_t;
  // The output goes to a file, or is shown on a terminal.
  enum class For : std::uint8_t { File, Terminal };

  explicit LineMerger(For whom = For::File) : for_(whom) {}

  // Adds a source; `tag` is written before each of its lines.
  Source add_source(std::string tag);

  // Adds a source whose bytes pass at once and unchanged: the job's only worker, without a tag. Once add_source() adds
  // another source, its bytes are merged in lines like all others.
  Source add_plain_source();

  // Sets the tag of lines that begin from now on.
  void set_tag(Source source, std::string tag) { lines_[source].tag = std::move(tag); }

  // Adds bytes that the source wrote; complete lines are appended to output().
  void add(Source source, std::string_view bytes);
  // Ends the source: passes on the rest of its last line.
  void finish(Source source);
  // Passes on the source's unfinished line as a prompt. Does nothing if there is none.
  void show_prompt(Source source);
  // Repeats the prompt above which other lines were written, if there is one.
  void repeat_prompt();
  // Whether there is a prompt above which other lines were written.
  bool prompt_is_hidden() const { return hidden_ != kNobody; }
  // A line was typed on the terminal that shows the output: its cursor is now at the beginning of a line.
  void line_typed();
  // Adds a line of the launcher itself, without its newline.
  void add_own_line(std::string_view line);
  // Adds a line that several sources have in common. `line` includes its end; `tag` is written before it.
  void add_shared_line(std::string_view tag, std::string_view line);

  std::string& output() { return out_; }
  const std::string& output() const { return out_; }
  // How everything appended to output() so far ends.
  OutputEnd end() const;

 private:
  struct Line {
    std::string tag;
    bool plain = false;      // see add_plain_source()
    std::string partial;     // of the current line, which has not ended
    bool after_cr = false;   // the last byte passed on was a \r that ended a line
    bool continued = false;  // pieces of the current line have been passed on
    std::string prompt{};    // of the current line, on a terminal
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
  Source open_ = kNobody;    // the source whose unfinished line is at the end of the output
  Source last_ = kNobody;    // the source that wrote last
  Source hidden_ = kNobody;  // the source whose prompt is to be repeated
  bool at_return_ = false;   // the last byte of the output is a \r
};

}  // namespace sml::output

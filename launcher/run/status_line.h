// Draws the live status line below the output on a terminal. Its text and its drawing are pure, see
// report/status_text.h and output/bottom_line.h; this class decides when to draw.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/clock.h"
#include "launcher/os/out_stream.h"
#include "launcher/output/bottom_line.h"
#include "launcher/output/chain.h"

namespace sml::run {

// Draws the line at least once and at most ten times a second; not in the first second, so that a short job shows none,
// and not while the terminal is stopped (Ctrl-S) or belongs to another job.
class StatusLine {
 public:
  using Text = std::function<std::string(std::size_t columns)>;  // the present text, of at most `columns` columns

  // `fd` is the terminal; `stream` writes the output of `chain` to it; both must outlive this.
  StatusLine(const boost::asio::any_io_executor& loop, int fd, os::OutStream& stream, const output::Chain& chain,
             Text text);

  // True for a terminal whose TERM allows the cursor to be moved.
  static bool can_be_drawn_on(int fd);

  // To be called before `bytes`, all of the chain's output, are written: edits them so that they do not collide with
  // the line.
  void let_pass(std::string& bytes);
  // The size of the terminal has changed.
  void redraw();
  void hide();  // removes the line; it is not drawn before show()
  void show();
  // To be called when another program may have written to the terminal.
  void cursor_moved();

 private:
  enum class Terminal : std::uint8_t { Ours, Others };
  Terminal terminal() const;
  void draw(std::string& out);
  void wake_at(TimePoint at);

  int fd_;
  os::OutStream& stream_;
  const output::Chain& chain_;
  Text text_;
  output::BottomLine line_;
  boost::asio::steady_timer timer_;
  TimePoint next_;     // the line is not drawn before this
  TimePoint wake_at_;  // the timer is set to this
  bool hidden_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sml::run

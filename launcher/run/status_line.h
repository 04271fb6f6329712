// The live line below the output on a terminal: when it is drawn. What it says and how it is put there are pure, see
// report/status_text.h and output/bottom_line.h.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/clock.h"
#include "common/os/out_stream.h"
#include "common/output/bottom_line.h"
#include "common/output/chain.h"

namespace sml::run {

// Not in the first second, so that a short job shows nothing; at most ten times a second, at least once; not while the
// terminal is stopped (Ctrl-S) or another job has it.
class StatusLine {
 public:
  using Text = std::function<std::string(std::size_t columns)>;

  // `fd` is the terminal; `stream` writes to it what `chain` has made; both outlive this.
  StatusLine(const boost::asio::any_io_executor& loop, int fd, os::OutStream& stream, const output::Chain& chain,
             Text text);

  // A terminal whose TERM tells that its cursor can be moved.
  static bool can_be_drawn_on(int fd);

  // `bytes`, all of the chain's output, are about to be written: changes them so that the line is not in their way.
  void let_pass(std::string& bytes);
  // The terminal has another size.
  void redraw();
  // Takes it off, and puts it back.
  void hide();
  void show();
  // Others may have written to the terminal.
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
  TimePoint next_;     // not drawn before
  TimePoint wake_at_;  // the timer is set to this
  bool hidden_ = false;
};

}  // namespace sml::run

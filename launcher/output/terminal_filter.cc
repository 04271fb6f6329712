#include "launcher/output/terminal_filter.h"

#include <algorithm>

#include "common/core/letters.h"
#include "common/core/text.h"

namespace sml::output {

namespace {

constexpr char kEscape = '\x1b';
constexpr std::size_t kLongestSequence = 64;
constexpr std::size_t kLongestColour = 4 * kLongestSequence;

bool is_plain(char c) { return (c >= ' ' && c < '\x7f') || c == '\t'; }

bool is_parameter(char c) { return is_digit(c) || c == ';' || c == ':'; }

// True if further bytes could complete `text` to a character.
bool may_become_character(std::string_view text) {
  for (const std::string_view rest : {"\x80", "\x80\x80", "\x80\x80\x80", "\xbf", "\xbf\x80", "\xbf\x80\x80"}) {
    if (utf8_length(std::string(text) + std::string(rest)) == text.size() + rest.size()) return true;
  }
  return false;
}

}  // namespace

void TerminalFilter::add(std::string_view bytes, std::string& out) {
  std::string joined;
  if (!kept_.empty()) {
    joined = kept_ + std::string(bytes);
    kept_.clear();
    bytes = joined;
  }
  while (!bytes.empty()) {
    const std::size_t taken = take(bytes, More::Comes, out);
    if (taken == 0) {
      kept_ = bytes;
      return;
    }
    bytes.remove_prefix(taken);
  }
}

void TerminalFilter::finish(std::string& out) {
  for (std::string_view rest = kept_; !rest.empty();) rest.remove_prefix(take(rest, More::No, out));
  kept_.clear();
  if (!colour_.empty() && !resumes_) out += kReset;
  colour_.clear();
  resumes_ = false;
}

// Handles a part at the front; returns its number of bytes. 0: more bytes are needed to decide.
std::size_t TerminalFilter::take(std::string_view text, More more, std::string& out) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_plain);
  if (end != text.begin()) {
    const auto length = static_cast<std::size_t>(end - text.begin());
    pass(text.substr(0, length), out);
    return length;
  }
  const char c = text.front();
  if (c == '\n' || c == '\r') {
    end_line(c, out);
    return 1;
  }
  if (c == kEscape) return take_sequence(text, more, out);
  return take_character(text, more, out);
}

std::size_t TerminalFilter::take_sequence(std::string_view text, More more, std::string& out) {
  const std::string_view head = text.substr(0, kLongestSequence);
  std::size_t at = 1;
  if (at < head.size() && head[at] == '[') {
    ++at;
    while (at < head.size() && is_parameter(head[at])) ++at;
    if (at < head.size() && head[at] == 'm') {
      set_colour(head.substr(0, at + 1), out);
      return at + 1;
    }
  }
  const bool unfinished = at == head.size() && head.size() < kLongestSequence;
  if (unfinished && more == More::Comes) return 0;
  pass(show(head.substr(0, 1)), out);
  return 1;
}

std::size_t TerminalFilter::take_character(std::string_view text, More more, std::string& out) {
  const std::size_t length = utf8_length(text);
  const bool is_control = length == 2 && text[0] == '\xc2' && static_cast<unsigned char>(text[1]) < 0xa0;
  if (length > 1 && !is_control) {
    pass(text.substr(0, length), out);
    return length;
  }
  if (length == 0 && more == More::Comes && text.size() < 4 && may_become_character(text)) return 0;
  const std::size_t shown = std::max<std::size_t>(length, 1);
  pass(show(text.substr(0, shown)), out);
  return shown;
}

void TerminalFilter::pass(std::string_view text, std::string& out) {
  if (resumes_) out += colour_;
  resumes_ = false;
  out += text;
}

void TerminalFilter::end_line(char end, std::string& out) {
  if (!colour_.empty() && !resumes_) out += kReset;
  resumes_ = !colour_.empty();
  out += end;
}

void TerminalFilter::set_colour(std::string_view sequence, std::string& out) {
  const bool resets = sequence.find_first_not_of('0', 2) == sequence.size() - 1;  // ESC [ m, ESC [ 0 m
  const bool too_long = colour_.size() + sequence.size() > kLongestColour;
  if (resets || too_long) {
    // In a line that has no text yet, the colours of the previous line are already reset.
    if (!resumes_) out += resets ? sequence : kReset;
    colour_.clear();
    resumes_ = false;
    if (resets) return;
  }
  pass(sequence, out);
  colour_ += sequence;
}

}  // namespace sml::output

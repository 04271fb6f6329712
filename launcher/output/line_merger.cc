#include "launcher/output/line_merger.h"

#include <cstring>

#include "launcher/output/terminal_filter.h"

namespace sml::output {

LineMerger::Source LineMerger::add_source(std::string tag) {
  for (Line& line : lines_) line.plain = false;
  lines_.emplace_back().tag = std::move(tag);
  return static_cast<Source>(lines_.size() - 1);
}

LineMerger::Source LineMerger::add_plain_source() {
  lines_.emplace_back().plain = true;
  return static_cast<Source>(lines_.size() - 1);
}

void LineMerger::add(Source source, std::string_view bytes) {
  Line& line = lines_[source];
  if (line.after_cr) bytes = end_pending_crlf(line, source, bytes);
  if (bytes.empty()) return;
  if (line.plain) {
    out_ += bytes;
    at_return_ = bytes.back() == '\r';
    open_ = bytes.back() == '\n' || at_return_ ? kNobody : source;
    last_ = source;
    return;
  }
  if (std::memchr(bytes.data(), '\r', bytes.size()) != nullptr) return add_with_returns(source, bytes);
  const std::size_t first = bytes.find('\n');
  if (first == std::string_view::npos) return keep(source, bytes);
  pass_on(source, bytes.substr(0, first + 1));
  bytes.remove_prefix(first + 1);
  while (const void* found = std::memchr(bytes.data(), '\n', bytes.size())) {  // each at the start of a line
    const auto length = static_cast<std::size_t>(static_cast<const char*>(found) - bytes.data()) + 1;
    out_ += line.tag;
    out_.append(bytes.data(), length);
    bytes.remove_prefix(length);
  }
  if (!bytes.empty()) keep(source, bytes);
}

// Handles the \n of a \r\n whose \r was the last byte of an earlier piece.
std::string_view LineMerger::end_pending_crlf(Line& line, Source source, std::string_view bytes) {
  line.after_cr = false;
  if (bytes.empty() || bytes[0] != '\n') return bytes;
  if (last_ == source) {
    out_.push_back('\n');
    at_return_ = false;
  } else {
    pass_on(source, "\n");
  }
  return bytes.substr(1);
}

void LineMerger::add_with_returns(Source source, std::string_view bytes) {
  while (!bytes.empty()) {
    std::size_t end = bytes.find_first_of("\r\n");
    if (end == std::string_view::npos) return keep(source, bytes);
    const bool at_return = bytes[end] == '\r';
    if (at_return && end + 1 < bytes.size() && bytes[end + 1] == '\n') ++end;
    pass_on(source, bytes.substr(0, end + 1));
    lines_[source].after_cr = end + 1 == bytes.size() && bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
  }
}

// Passes on the current line of the source, which `text` ends.
void LineMerger::pass_on(Source source, std::string_view text) {
  Line& line = lines_[source];
  const bool has_tags = last_ == kNobody || !lines_[last_].tag.empty() || !line.tag.empty();
  if (!has_tags && text.back() == '\r') at_return_ = false;  // the state before may be overwritten
  begin(source);
  if (!line.partial.empty()) {
    out_ += line.partial;
    line.partial.clear();
  }
  out_ += text;
  line.continued = false;
  line.prompt.clear();
  open_ = kNobody;
  last_ = source;
  at_return_ = text.back() == '\r';
}

// Passes on `partial` although its line has not ended.
void LineMerger::pass_on_piece(Source source) {
  Line& line = lines_[source];
  begin(source);
  out_ += line.partial;
  line.partial.clear();
  line.prompt.clear();
  open_ = source;
  last_ = source;
}

// Prepares the end of the output for a piece of this source.
void LineMerger::begin(Source source) {
  Line& line = lines_[source];
  if (hidden_ == source) hidden_ = kNobody;
  if (open_ == source) return;  // directly after its own earlier piece
  close_line_of_another(source);
  out_ += line.tag;
  if (line.continued) out_ += kContinues;
}

void LineMerger::close_line_of_another(Source source) {
  if (open_ != kNobody) {
    if (lines_[open_].continued) out_ += kContinues;
    if (!lines_[open_].prompt.empty()) hidden_ = open_;
    if (for_ == For::Terminal) out_ += TerminalFilter::kReset;  // colours that it would have reset later
    out_.push_back('\n');
  } else if (for_ == For::Terminal && at_return_ && last_ != source) {
    out_.push_back('\n');
  }
  at_return_ = false;
}

void LineMerger::keep(Source source, std::string_view rest) {
  Line& line = lines_[source];
  line.partial += rest;
  if (line.partial.size() <= kMaxLine) return;
  pass_on_piece(source);
  line.continued = true;
}

void LineMerger::show_prompt(Source source) {
  Line& line = lines_[source];
  if (line.partial.empty()) return;
  std::string prompt = line.partial;
  pass_on_piece(source);
  hidden_ = kNobody;  // two prompts would otherwise alternate forever
  if (for_ == For::File) {
    line.continued = true;
  } else {
    line.prompt = std::move(prompt);
  }
}

void LineMerger::repeat_prompt() {
  if (hidden_ == kNobody) return;
  const Source source = hidden_;
  begin(source);
  out_ += lines_[source].prompt;
  open_ = source;
  last_ = source;
}

void LineMerger::line_typed() {
  for (const Source source : {open_, hidden_}) {
    if (source == kNobody) continue;
    lines_[source].continued = false;
    lines_[source].prompt.clear();
  }
  open_ = kNobody;
  hidden_ = kNobody;
  last_ = kNobody;
  at_return_ = false;
}

void LineMerger::finish(Source source) {
  Line& line = lines_[source];
  if (!line.partial.empty()) pass_on_piece(source);
  if (hidden_ == source) hidden_ = kNobody;
  line.continued = false;
  line.prompt.clear();
}

OutputEnd LineMerger::end() const {
  if (open_ != kNobody || hidden_ != kNobody) return OutputEnd::Text;
  return at_return_ ? OutputEnd::Return : OutputEnd::Line;
}

void LineMerger::add_own_line(std::string_view text) { add_shared_line(text, "\n"); }

void LineMerger::add_shared_line(std::string_view tag, std::string_view line) {
  close_line_of_another(kNobody);
  out_ += tag;
  out_ += line;
  open_ = kNobody;
  last_ = kNobody;
  at_return_ = line.back() == '\r';
}

}  // namespace sml::output

#include "launcher/output/collapse.h"

namespace sml::output {

void Collapse::add(std::string_view bytes, TimePoint now, std::string& out) {
  while (!bytes.empty()) {
    if (bytes[0] == '\n' && text_.empty() && !state_.empty()) {  // a \r\n, which ends a line
      out += state_;
      out += '\n';
      state_.clear();
      bytes.remove_prefix(1);
      continue;
    }
    const std::size_t end = bytes.find_first_of("\r\n");
    if (end == std::string_view::npos) return keep(bytes, out);
    text_ += bytes.substr(0, end);
    end_text(bytes[end], now, out);
    bytes.remove_prefix(end + 1);
  }
}

void Collapse::end_text(char end, TimePoint now, std::string& out) {
  text_ += end;
  if (end == '\n' || passing_) {
    out += text_;
    state_.clear();
    passing_ = false;
  } else {
    state_.swap(text_);
    if (!due_) due_ = now + kPeriod;
  }
  text_.clear();
  on_time(now, out);
}

void Collapse::keep(std::string_view rest, std::string& out) {
  text_ += rest;
  if (text_.size() <= kMaxText && !passing_) return;
  state_.clear();
  out += text_;
  text_.clear();
  passing_ = true;
}

void Collapse::on_time(TimePoint now, std::string& out) {
  if (!due_ || now < *due_) return;
  out += state_;
  state_.clear();
  due_.reset();
}

void Collapse::let_go(std::string& out) {
  if (text_.empty()) return;
  out += text_;
  text_.clear();
  passing_ = true;
}

void Collapse::finish(std::string& out) {
  out += text_.empty() ? state_ : text_;
  text_.clear();
  state_.clear();
}

}  // namespace sml::output

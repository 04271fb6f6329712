#include "launcher/output/line_filter.h"

#include <algorithm>
#include <utility>

namespace sml::output {

void LineFilter::add(std::span<const std::string> words, std::string_view bytes, std::string& out) {
  while (!bytes.empty()) {
    if (std::exchange(after_return_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const std::size_t end = bytes.find_first_of("\r\n");
    add_text(words, bytes.substr(0, end), out);
    if (end == std::string_view::npos) return;
    decide(words, out);
    if (*passes_) out += '\n';
    passes_.reset();
    after_return_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
  }
}

void LineFilter::add_text(std::span<const std::string> words, std::string_view text, std::string& out) {
  if (!passes_) {
    const std::size_t kept = std::min(text.size(), kMaxText - text_.size());
    text_ += text.substr(0, kept);
    text.remove_prefix(kept);
    if (text_.size() == kMaxText) decide(words, out);
  }
  if (passes_.value_or(false)) out += text;
}

void LineFilter::decide(std::span<const std::string> words, std::string& out) {
  if (passes_) return;
  passes_ = std::any_of(words.begin(), words.end(),
                        [this](const std::string& word) { return text_.find(word) != std::string::npos; });
  if (*passes_) out += text_;
  text_.clear();
}

void LineFilter::finish(std::span<const std::string> words, std::string& out) {
  if (!text_.empty()) decide(words, out);
  passes_.reset();
  after_return_ = false;
}

}  // namespace sml::output

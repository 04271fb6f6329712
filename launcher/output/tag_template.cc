#include "launcher/output/tag_template.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/core/input_error.h"
#include "common/core/text.h"

namespace sml::output {

namespace {

constexpr std::size_t kMaxWidth = 20;

std::size_t digits(std::uint32_t number) { return std::to_string(number).size(); }

}  // namespace

void Tag::colour(int sgr) {
  pieces_.front().insert(0, fmt::format("\x1b[{}m", sgr));
  pieces_.back() += "\x1b[0m";
}

std::string Tag::at(WallTime time) const {
  std::string out = pieces_.front();
  if (!has_time()) return out;
  const std::string text = iso_time(time);
  for (std::size_t i = 1; i < pieces_.size(); ++i) out += text + pieces_[i];
  return out;
}

void TagTemplate::add_text(std::string_view text) {
  if (text.empty()) return;
  if (parts_.empty() || parts_.back().word != Word::Text) parts_.push_back({Word::Text, "", 1});
  parts_.back().text += text;
}

Result<TagTemplate> TagTemplate::parse(std::string_view text) {
  TagTemplate out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t brace = std::min(text.find_first_of("{}", at), text.size());
    out.add_text(text.substr(at, brace - at));
    if (brace == text.size()) break;
    const char c = text[brace];
    const std::string column = fmt::format("column {}", brace + 1);
    if (brace + 1 < text.size() && text[brace + 1] == c) {
      out.add_text(text.substr(brace, 1));
      at = brace + 2;
      continue;
    }
    if (c == '}') return usage_error("a } without its {; write }} for a brace").in(column);
    const std::size_t end = text.find_first_of("{}", brace + 1);
    if (end == std::string_view::npos || text[end] == '{') {
      return usage_error("a { without its }; write {{ for a brace").in(column);
    }
    Result<Part> part = parse_word(text.substr(brace + 1, end - brace - 1));
    if (!part) return Error(part.error()).in(column);
    out.parts_.push_back(std::move(*part));
    at = end + 1;
  }
  return out;
}

Result<TagTemplate::Part> TagTemplate::parse_word(std::string_view inside) {
  constexpr std::pair<std::string_view, Word> kWords[] = {{"rank", Word::Rank},     {"local_rank", Word::LocalRank},
                                                          {"role", Word::Role},     {"host", Word::Host},
                                                          {"stream", Word::Stream}, {"time", Word::Time}};
  const std::size_t colon = inside.find(':');
  const std::string_view name = inside.substr(0, colon);
  const auto* const found =
      std::find_if(std::begin(kWords), std::end(kWords), [name](const auto& row) { return row.first == name; });
  if (found == std::end(kWords)) {
    return usage_error("{{{}}} is none of {{rank}} {{local_rank}} {{role}} {{host}} {{stream}} {{time}}",
                       show(inside, 40));
  }
  Part part{found->second, "", 1};
  if (colon == std::string_view::npos) return part;
  if (part.word != Word::Rank && part.word != Word::LocalRank) {
    return usage_error("{{{}}} takes no width; write {{{}}}", show(inside, 40), name);
  }
  const std::string_view width = inside.substr(colon + 1);
  part.width = parse_number<std::uint32_t>(width).value_or(kMaxWidth + 1);
  if (part.width > kMaxWidth) {
    return usage_error("\"{}\" is not a width from 0 to {}, as in {{rank:4}}", show(width, 40), kMaxWidth);
  }
  return part;
}

bool TagTemplate::has_time() const {
  return std::any_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.word == Word::Time; });
}

Tag TagTemplate::fill(const TagSubject& subject, const TagLimits& limits) const {
  std::vector<std::string> pieces(1);
  for (const Part& part : parts_) {
    std::string& out = pieces.back();
    switch (part.word) {
      case Word::Text: out += part.text; break;
      case Word::Rank: out += subject.ranks.text(part.width == 0 ? digits(limits.rank) : part.width); break;
      case Word::LocalRank:
        out += subject.local_ranks.text(part.width == 0 ? digits(limits.local_rank) : part.width);
        break;
      case Word::Role: out += fmt::format("{}", fmt::join(subject.roles, ",")); break;
      case Word::Host: out += fold_names(subject.hosts); break;
      case Word::Stream: out += subject.stream == Stream::Stdout ? "stdout" : "stderr"; break;
      case Word::Time: pieces.emplace_back(); break;
    }
  }
  return Tag(std::move(pieces));
}

}  // namespace sml::output

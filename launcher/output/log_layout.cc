#include "launcher/output/log_layout.h"

#include <algorithm>
#include <array>
#include <utility>

#include "common/core/input_error.h"
#include "common/core/text.h"

namespace sml::output {

namespace {

constexpr std::string_view kByLargest = "rank:0";  // padded to the digits of the largest rank
constexpr std::string_view kWords = "{rank}, {local_rank}, {host}, {stream}, {job} and {restart}";

bool dots_alone(std::string_view component) { return component == "." || component == ".."; }

// Pads the number to the number of digits of `widest`.
std::string padded(std::uint32_t number, std::uint32_t widest) {
  std::string digits = std::to_string(number);
  const std::size_t width = std::to_string(widest).size();
  return digits.size() < width ? std::string(width - digits.size(), '0') + digits : digits;
}

// Makes a name safe as part of one component.
std::string harmless(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    if (c == '/' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '_';
  }
  return out;
}

// Makes a component stay in its folder: an empty one would make a path absolute, dots would lead out of it.
std::string inside(std::string_view component) {
  if (component.empty()) return "_";
  if (dots_alone(component)) return std::string(component.size(), '_');
  return std::string(component);
}

}  // namespace

Result<LogLayout> LogLayout::parse(std::string_view text) {
  if (text.starts_with('/')) return usage_error("must be relative to the folder of --log-dir");
  bool good = text.find('\0') == std::string_view::npos;
  for (const std::string_view component : split(text, '/')) good = good && !component.empty() && !dots_alone(component);
  if (!good) return usage_error("must be names with one / between them, neither . nor ..");
  LogLayout layout;
  for (std::size_t at = 0; at < text.size();) {
    const bool doubled = at + 1 < text.size() && text[at] == text[at + 1];
    if ((text[at] == '{' || text[at] == '}') && doubled) {
      layout.add_literal(text.substr(at, 1));
      at += 2;
    } else if (text[at] == '{') {
      const Result<std::size_t> end = layout.add_word(text, at);
      if (!end) return end.error();
      at = *end;
    } else if (text[at] == '}') {
      return usage_error("has a } without a {; write }} for the character itself");
    } else {
      layout.add_literal(text.substr(at++, 1));
    }
  }
  return layout;
}

Result<std::size_t> LogLayout::add_word(std::string_view text, std::size_t at) {
  static constexpr std::array<std::pair<std::string_view, Word>, 7> kKnown{{{"rank", Word::Rank},
                                                                            {kByLargest, Word::Rank},
                                                                            {"local_rank", Word::LocalRank},
                                                                            {"host", Word::Host},
                                                                            {"stream", Word::Stream},
                                                                            {"job", Word::Job},
                                                                            {"restart", Word::Restart}}};
  const std::size_t end = text.find('}', at);
  if (end == std::string_view::npos) return usage_error("has a { without a }; write {{ for the character itself");
  const std::string_view name = text.substr(at + 1, end - at - 1);
  const auto* known = std::find_if(kKnown.begin(), kKnown.end(), [name](const auto& row) { return row.first == name; });
  if (known == kKnown.end()) return usage_error("has {" + show(name, 40) + "}; the words are " + std::string(kWords));
  parts_.push_back({known->second, name == kByLargest ? std::string(name) : ""});
  return end + 1;
}

void LogLayout::add_literal(std::string_view text) {
  if (parts_.empty() || parts_.back().word != Word::Literal) parts_.push_back({Word::Literal, ""});
  parts_.back().text += text;
}

std::string LogLayout::path(const Place& place) const {
  const bool told =
      std::any_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.word == Word::Restart; });
  std::string out = place.restart > 0 && !told ? "restart." + std::to_string(place.restart) + "/" : "";
  for (const Part& part : parts_) {
    switch (part.word) {
      case Word::Literal: out += part.text; break;
      case Word::Rank:
        out += padded(place.rank.value(), part.text.empty() ? place.world_size : place.world_size - 1);
        break;
      case Word::LocalRank: out += std::to_string(place.local_rank.value()); break;
      case Word::Host: out += harmless(place.host); break;
      case Word::Stream: out += place.stream == Stream::Stdout ? "stdout" : "stderr"; break;
      case Word::Job: out += harmless(place.job); break;
      case Word::Restart: out += std::to_string(place.restart); break;
    }
  }
  std::string safe;
  for (const std::string_view component : split(out, '/')) safe += (safe.empty() ? "" : "/") + inside(component);
  return safe;
}

Result<void> check_distinct(std::vector<std::string> paths) {
  std::sort(paths.begin(), paths.end());
  const auto same = std::adjacent_find(paths.begin(), paths.end());
  if (same != paths.end()) {
    return usage_error("gives " + show(*same) +
                       " to more than one stream; use {rank} and {stream} to distinguish them");
  }
  for (const std::string& path : paths) {
    const std::size_t dot = path.find_last_not_of("0123456789");
    if (dot == std::string::npos || path[dot] != '.' || dot + 1 == path.size()) continue;
    if (std::binary_search(paths.begin(), paths.end(), path.substr(0, dot))) {
      return usage_error("gives " + show(path) + ", which is also a name for what rotation leaves of " +
                         show(path.substr(0, dot)));
    }
  }
  return {};
}

}  // namespace sml::output

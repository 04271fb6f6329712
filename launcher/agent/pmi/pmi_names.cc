#include "launcher/agent/pmi/pmi_names.h"

#include <vector>

namespace sml::agent {

namespace {

constexpr char kQuestion = '?';
constexpr char kAnswer = '!';

// Texts in sequence, each preceded by its length and a colon.
void append(std::string& out, std::string_view text) {
  out += std::to_string(text.size());
  out += ':';
  out += text;
}

std::optional<std::vector<std::string>> texts_in(std::string_view bytes) {
  std::vector<std::string> out;
  while (!bytes.empty()) {
    std::size_t size = 0;
    while (!bytes.empty() && bytes.front() >= '0' && bytes.front() <= '9' && size <= bytes.size()) {
      size = size * 10 + static_cast<std::size_t>(bytes.front() - '0');
      bytes.remove_prefix(1);
    }
    if (bytes.empty() || bytes.front() != ':' || size >= bytes.size()) return std::nullopt;
    out.emplace_back(bytes.substr(1, size));
    bytes.remove_prefix(1 + size);
  }
  return out;
}

}  // namespace

std::string write(const PmiNameQuestion& question) {
  std::string out{kQuestion, static_cast<char>(question.verb)};
  for (const std::string* text : {&question.thread, &question.name, &question.port}) append(out, *text);
  return out;
}

std::string write(const PmiNameAnswer& answer) {
  std::string out{kAnswer, static_cast<char>(answer.good)};
  for (const std::string* text : {&answer.thread, &answer.port}) append(out, *text);
  return out;
}

std::optional<PmiNameQuestion> read_name_question(std::string_view bytes) {
  if (bytes.size() < 2 || bytes[0] != kQuestion) return std::nullopt;
  if (static_cast<unsigned char>(bytes[1]) > static_cast<unsigned char>(PmiNameVerb::LookUp)) return std::nullopt;
  const auto texts = texts_in(bytes.substr(2));
  if (!texts || texts->size() != 3) return std::nullopt;
  return PmiNameQuestion{static_cast<PmiNameVerb>(bytes[1]), (*texts)[0], (*texts)[1], (*texts)[2]};
}

std::optional<PmiNameAnswer> read_name_answer(std::string_view bytes) {
  if (bytes.size() < 2 || bytes[0] != kAnswer) return std::nullopt;
  const auto texts = texts_in(bytes.substr(2));
  if (!texts || texts->size() != 2) return std::nullopt;
  return PmiNameAnswer{bytes[1] != 0, (*texts)[0], (*texts)[1]};
}

PmiNameAnswer PmiNames::answer(const PmiNameQuestion& question) {
  PmiNameAnswer out{.good = false, .thread = question.thread, .port = {}};
  const auto found = ports_.find(question.name);
  if (question.verb == PmiNameVerb::Publish) {
    out.good = found == ports_.end() && ports_.size() < kMost;
    if (out.good) ports_[question.name] = question.port;
  } else if (found != ports_.end()) {
    out.good = true;
    out.port = found->second;
    if (question.verb == PmiNameVerb::Unpublish) ports_.erase(found);
  }
  return out;
}

}  // namespace sml::agent

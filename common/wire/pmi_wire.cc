#include "common/wire/pmi_wire.h"

#include <algorithm>

#include "common/core/letters.h"
#include "common/core/text.h"

namespace sml::wire {

namespace {

using Next = Result<std::optional<PmiMessage>>;

constexpr std::size_t kLengthField = 6;  // of a PMI-2 frame
constexpr std::size_t kMostPairs = 2048;
constexpr std::string_view kCommand = "cmd=";
constexpr std::string_view kManyLines = "mcmd=";
constexpr std::string_view kLastLine = "endcmd\n";

Error broken(std::string what) { return Error(ErrorKind::Protocol, std::move(what)); }

Error not_pmi(std::string_view bytes) { return broken("sent what is no message of PMI: \"" + show(bytes, 60) + "\""); }

// "key=value", or a key alone.
std::pair<std::string, std::string> pair_of(std::string_view text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const std::string_view value = text.substr(std::min(equals + 1, text.size()));
  return {std::string(text.substr(0, equals)), std::string(value)};
}

Next message_of(std::vector<std::pair<std::string, std::string>> pairs, std::string_view text) {
  if (pairs.empty() || pairs.size() > kMostPairs || pairs.front().second.empty()) return not_pmi(text);
  PmiMessage out;
  out.name = std::move(pairs.front().second);
  pairs.erase(pairs.begin());
  out.pairs = std::move(pairs);
  return std::optional(std::move(out));
}

// Takes the first pair of a frame off `text`. Slurm's library doubles a semicolon within a value; MPICH's sends none.
std::string_view take_pair(std::string_view& text, std::string& kept) {
  kept.clear();
  while (!text.empty()) {
    kept += take_until(text, ';');
    if (text.empty() || text.front() != ';') break;
    kept += ';';
    text.remove_prefix(1);
  }
  return kept;
}

}  // namespace

const std::string* PmiMessage::find(std::string_view key) const {
  const auto found = std::find_if(pairs.begin(), pairs.end(), [key](const auto& pair) { return pair.first == key; });
  return found == pairs.end() ? nullptr : &found->second;
}

void PmiReader::feed(std::string_view bytes) { buffer_ += bytes; }

Next PmiReader::next(PmiDialect dialect) {
  if (buffer_.empty()) return std::optional<PmiMessage>();
  if (dialect == PmiDialect::Two) return next_frame();
  return buffer_.starts_with(kManyLines) ? next_spawn() : next_line();
}

Next PmiReader::next_line() {
  const std::size_t end = buffer_.find('\n');
  if (std::min(end, buffer_.size()) > kPmiMessage) {
    return broken("sent a line of more than " + std::to_string(kPmiMessage) + " bytes");
  }
  // Rejects bytes that cannot become a line at once, instead of waiting for more.
  const std::string_view begin = std::string_view(buffer_).substr(0, kCommand.size());
  const bool may_be_more_lines = kManyLines.starts_with(begin);
  if (!kCommand.starts_with(begin) && !may_be_more_lines) return not_pmi(buffer_);
  if (end == std::string::npos) return std::optional<PmiMessage>();
  const std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  if (!line.starts_with(kCommand)) return not_pmi(line);
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string_view word : split(line, ' ')) {
    if (!word.empty()) pairs.push_back(pair_of(word));
  }
  return message_of(std::move(pairs), line);
}

// One line for each pair, whose value may contain blanks.
Next PmiReader::next_spawn() {
  std::size_t end = buffer_.find("\nendcmd\n");
  if (std::min(end, buffer_.size()) > kPmiSpawn) {
    return broken("sent a command of more than " + std::to_string(kPmiSpawn) + " bytes");
  }
  if (end == std::string::npos) return std::optional<PmiMessage>();
  const std::string text = buffer_.substr(0, end);
  buffer_.erase(0, end + 1 + kLastLine.size());
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string_view line : split(text, '\n')) {
    if (!line.empty()) pairs.push_back(pair_of(line));
  }
  return message_of(std::move(pairs), text);
}

// MPICH pads the length on the left, Slurm on the right.
Next PmiReader::next_frame() {
  if (buffer_.size() < kLengthField) return std::optional<PmiMessage>();
  const std::string_view digits = trim(std::string_view(buffer_).substr(0, kLengthField), " ");
  if (!all_digits(digits)) return not_pmi(buffer_);
  const std::size_t length = std::stoul(std::string(digits));
  if (length > kPmiSpawn) return broken("sent a message of more than " + std::to_string(kPmiSpawn) + " bytes");
  if (buffer_.size() < kLengthField + length) return std::optional<PmiMessage>();
  const std::string body = buffer_.substr(kLengthField, length);
  buffer_.erase(0, kLengthField + length);
  if (!body.starts_with(kCommand)) return not_pmi(body);
  std::vector<std::pair<std::string, std::string>> pairs;
  std::string kept;
  std::string_view rest = body;
  while (!rest.empty()) {
    const std::string_view pair = trim(take_pair(rest, kept), " \n");
    if (!pair.empty()) pairs.push_back(pair_of(pair));
  }
  return message_of(std::move(pairs), body);
}

PmiWriter::PmiWriter(PmiDialect dialect, std::string_view name) : dialect_(dialect), text_(kCommand) { text_ += name; }

PmiWriter& PmiWriter::add(std::string_view key, std::string_view value) {
  text_ += dialect_ == PmiDialect::One ? ' ' : ';';
  text_ += key;
  text_ += '=';
  text_ += value;
  return *this;
}

PmiWriter& PmiWriter::add(std::string_view key, std::int64_t value) { return add(key, std::to_string(value)); }

std::string PmiWriter::take() {
  if (dialect_ == PmiDialect::One) return text_ += '\n';
  text_ += ';';
  const std::string length = std::to_string(text_.size());
  return text_.insert(0, std::string(kLengthField - std::min(length.size(), kLengthField), ' ') + length);
}

bool has_pmi_form(std::string_view value) {
  return std::none_of(value.begin(), value.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte <= ' ' || byte == 0x7f || c == ';';
  });
}

}  // namespace sml::wire

#include "launcher/agent/pmi/pmi_spawn.h"

#include <optional>

#include "common/core/text.h"
#include "common/plan/ranks/rank_layout.h"

namespace sml::agent {

namespace {

// The field names of a dialect. A number is appended to the names of numbered fields.
struct Words {
  const char* count;      // number of ranks
  const char* arguments;  // number of arguments
  const char* argument;
  std::size_t first_argument;
  const char* keys;
  const char* key;
  const char* value;
  const char* infos;
  const char* info_key;
  const char* info_value;
};
constexpr Words kOne{"nprocs",      "argcnt",      "arg",      1,           "preput_num",
                     "preput_key_", "preput_val_", "info_num", "info_key_", "info_val_"};
constexpr Words kTwo{"maxprocs", "argc",  "argv",         0,         "preputcount",
                     "ppkey",    "ppval", "infokeycount", "infokey", "infoval"};

const Words& words_of(wire::PmiDialect dialect) { return dialect == wire::PmiDialect::One ? kOne : kTwo; }

Error bad_spawn(const std::string& what) { return Error(ErrorKind::Protocol, "sent \"spawn\" " + what); }

// Parses the count of a field that may be numbered; `without` if the field is missing.
Result<std::size_t> number_in(const wire::PmiMessage& part, const std::string& key, std::size_t without,
                              std::size_t most) {
  const std::string* text = part.find(key);
  if (text == nullptr) return without;
  const auto count = parse_number<std::size_t>(*text);
  if (count && *count <= most) return *count;
  return bad_spawn("with \"" + show(*text, 40) + "\" as " + key);
}

Result<std::string> numbered(const wire::PmiMessage& part, const char* key, std::size_t number) {
  const std::string name = key + std::to_string(number);
  if (const std::string* found = part.find(name)) return *found;
  return bad_spawn("without " + name);
}

bool can_be_key(const std::string& key) {
  return !key.empty() && key.size() <= wire::kPmiKey && wire::has_pmi_form(key);
}
bool can_be_value(const std::string& value) { return value.size() <= wire::kPmiValue && wire::has_pmi_form(value); }

}  // namespace

std::string heed_spawn_info(plan::SpawnProgram& program, const std::string& key, const std::string& value) {
  if (key == "wdir" || key == "wd") program.working_directory = value;
  if (key == "path") program.search_path = value;
  if (key == "soft") {
    std::optional<std::vector<plan::CountRange>> allowed = plan::parse_allowed_counts(value);
    if (!allowed) return "wants \"" + show(value, 100) + "\" ranks (soft), where numbers like 2,4:8:2 are due";
    program.allowed = std::move(*allowed);
  }
  if (key == "hostfile" || key == "add-hostfile") {
    return "names a file of hosts (" + key + "), and only hosts of the job can be used";
  }
  if (key == "add-host") return "adds hosts (add-host), and only hosts of the job can be used; name these (host)";
  if (key == "arch") {
    return "wants \"" + show(value, 100) + "\" as the architecture (arch), which cannot be chosen; name hosts (host)";
  }
  if (key == "file") return "names a file of further settings (file), which is not read; set info keys instead";
  if (key != "host" && key != "hosts") return {};
  for (const std::string_view name : split(value, ',')) {
    if (!name.empty()) program.hosts.emplace_back(trim(name, " "));
  }
  return {};
}

Result<bool> PmiSpawnReader::add(wire::PmiDialect dialect, const wire::PmiMessage& message) {
  if (dialect == wire::PmiDialect::Two) return add_all(message);
  const Result<std::size_t> all = number_in(message, "totspawns", 1, kMostPrograms);
  if (!all) return all.error();
  const Result<std::size_t> now = number_in(message, "spawnssofar", 1, kMostPrograms);
  if (!now) return now.error();
  if (*now != request_.programs.size() + 1 || *now > *all) return bad_spawn("out of turn");
  if (request_.programs.empty()) {
    if (Result<void> keys = add_keys(dialect, message); !keys) return keys.error();
  }
  const std::string* program = message.find("execname");
  if (program == nullptr) return bad_spawn("without a program");
  if (Result<void> added = add_program(dialect, *program, message); !added) return added.error();
  return *now == *all;
}

// For PMI-2, where one message has all programs.
Result<bool> PmiSpawnReader::add_all(const wire::PmiMessage& message) {
  request_ = {};
  size_ = 0;
  wire::PmiMessage part;  // fields up to the next program
  std::optional<std::string> program;
  for (std::size_t i = 0; i <= message.pairs.size(); ++i) {
    const bool ends = i == message.pairs.size() || message.pairs[i].first == "subcmd";
    if (!ends) {
      part.pairs.push_back(message.pairs[i]);
      continue;
    }
    Result<void> added =
        program ? add_program(wire::PmiDialect::Two, *program, part) : add_keys(wire::PmiDialect::Two, part);
    if (!added) return added.error();
    if (i < message.pairs.size()) program = message.pairs[i].second;
    part.pairs.clear();
  }
  if (request_.programs.empty()) return bad_spawn("without a program");
  return true;
}

PmiSpawnRequest PmiSpawnReader::take() {
  size_ = 0;
  return std::exchange(request_, {});
}

Result<void> PmiSpawnReader::add_program(wire::PmiDialect dialect, std::string program, const wire::PmiMessage& part) {
  const Words& words = words_of(dialect);
  if (program.empty()) return bad_spawn("without a program");
  if (request_.programs.size() == kMostPrograms) {
    return bad_spawn("with more than " + std::to_string(kMostPrograms) + " programs");
  }
  for (const auto& [key, value] : part.pairs) size_ += key.size() + value.size();
  size_ += program.size();
  if (size_ > kMost) return bad_spawn("with more than " + std::to_string(kMost >> 10) + " KiB of programs");
  plan::SpawnProgram out;
  out.command.push_back(std::move(program));
  const Result<std::size_t> count = number_in(part, words.count, 1, plan::kMaxWorldSize);
  if (!count) return count.error();
  out.count = static_cast<std::uint32_t>(*count);
  if (*count == 0) request_.refusal = "asks for no rank of \"" + show(out.command.front(), 100) + "\"";
  const Result<std::size_t> arguments = number_in(part, words.arguments, 0, part.pairs.size());
  if (!arguments) return arguments.error();
  for (std::size_t i = 0; i < *arguments; ++i) {
    Result<std::string> word = numbered(part, words.argument, words.first_argument + i);
    if (!word) return word.error();
    out.command.push_back(std::move(*word));
  }
  const Result<std::size_t> infos = number_in(part, words.infos, 0, part.pairs.size());
  if (!infos) return infos.error();
  for (std::size_t i = 0; i < *infos; ++i) {
    const Result<std::string> key = numbered(part, words.info_key, i);
    if (!key) return key.error();
    const Result<std::string> value = numbered(part, words.info_value, i);
    if (!value) return value.error();
    if (std::string why = heed_spawn_info(out, *key, *value); !why.empty()) request_.refusal = std::move(why);
  }
  request_.programs.push_back(std::move(out));
  return {};
}

Result<void> PmiSpawnReader::add_keys(wire::PmiDialect dialect, const wire::PmiMessage& part) {
  const Words& words = words_of(dialect);
  const Result<std::size_t> count = number_in(part, words.keys, 0, part.pairs.size());
  if (!count) return count.error();
  for (std::size_t i = 0; i < *count; ++i) {
    Result<std::string> key = numbered(part, words.key, i);
    if (!key) return key.error();
    Result<std::string> value = numbered(part, words.value, i);
    if (!value) return value.error();
    if (!can_be_key(*key) || !can_be_value(*value)) {
      return bad_spawn("with the key \"" + show(*key, wire::kPmiKey) + "\" or its value as PMI cannot carry it");
    }
    request_.keys.push_back({std::move(*key), std::move(*value)});
  }
  return {};
}

}  // namespace sml::agent

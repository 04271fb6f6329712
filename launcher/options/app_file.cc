#include "launcher/options/app_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "common/core/text.h"
#include "launcher/options/command_line.h"

namespace sml {

namespace {

Result<std::vector<ProgramOptions>> parse_lines(std::string_view text) {
  std::vector<ProgramOptions> out;
  std::size_t number = 0;
  text = without_byte_order_mark(text);
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    ++number;
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos || line[begin] == '#') continue;
    const auto refused = [number](const Error& error) {
      return Error(ErrorKind::Config, fmt::format("{}: {}", number, error.message()));
    };
    if (line.find('\0') != std::string_view::npos) return refused(Error(ErrorKind::Config, "a NUL byte"));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const Result<std::vector<std::string>> words = shell_words(line);
    if (!words) return refused(words.error());
    Result<ProgramOptions> program = parse_program(*words);
    if (!program) return refused(program.error());
    out.push_back(std::move(*program));
  }
  return out;
}

void prepend(std::vector<std::string>& list, const std::vector<std::string>& front) {
  list.insert(list.begin(), front.begin(), front.end());
}

}  // namespace

Result<void> read_app_file(Options& options, const ReadFile& read_file) {
  if (options.app_file.empty()) return {};
  const std::string path = show(options.app_file);
  const Result<std::string> text = read_file(options.app_file, kMaxAppFileBytes);
  if (!text) return Error(ErrorKind::Config, fmt::format("--app {}: {}", path, text.error().message()));
  Result<std::vector<ProgramOptions>> programs = parse_lines(*text);
  if (!programs) return Error(ErrorKind::Config, path + ":" + programs.error().message());
  if (programs->empty()) return Error(ErrorKind::Config, path + ": names no program; expected one a line");
  for (ProgramOptions& program : *programs) {
    prepend(program.export_variables, options.export_variables);
    prepend(program.env_files, options.env_files);
    if (program.working_directory.empty()) program.working_directory = options.working_directory;
  }
  ProgramOptions& first = programs->front();
  if (first.hosts.empty()) first.hosts = options.hosts;
  static_cast<ProgramOptions&>(options) = std::move(first);
  options.more_programs.assign(std::make_move_iterator(programs->begin() + 1),
                               std::make_move_iterator(programs->end()));
  return {};
}

}  // namespace sml

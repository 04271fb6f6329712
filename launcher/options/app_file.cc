#include "launcher/options/app_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "common/core/text.h"
#include "common/core/text_cursor.h"
#include "launcher/options/command_line.h"

namespace sml {

namespace {

Result<std::vector<ProgramOptions>> parse_lines(std::string_view text, std::string_view path) {
  std::vector<ProgramOptions> out;
  for (TextCursor at(text, path); !at.at_end(); at.take_line()) {
    std::string_view line = at.rest_of_line();
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos || line[begin] == '#') continue;
    if (line.find('\0') != std::string_view::npos) return at.error("a NUL byte");
    if (line.ends_with('\r')) line.remove_suffix(1);
    const Result<std::vector<std::string>> words = shell_words(line);
    if (!words) return at.error(words.error().message());
    Result<ProgramOptions> program = parse_program(*words);
    if (!program) return at.error(program.error().message());
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
  Result<std::vector<ProgramOptions>> programs = parse_lines(*text, options.app_file);
  if (!programs) return programs.error();
  if (programs->empty()) return file_error(options.app_file, "names no program; expected one a line");
  for (ProgramOptions& program : *programs) {
    prepend(program.export_variables, options.export_variables);
    prepend(program.env_files, options.env_files);
    if (options.local_rank_argument == LocalRankArgument::Yes) program.local_rank_argument = LocalRankArgument::Yes;
    if (program.working_directory.empty()) program.working_directory = options.working_directory;
  }
  ProgramOptions& first = programs->front();
  if (!first.hosts.empty() && !options.hosts.empty()) {
    return file_error(options.app_file,
                      "its first program has -H, and so has the command line: both would name the hosts "
                      "of the job; give -H once");
  }
  if (first.hosts.empty()) first.hosts = options.hosts;
  static_cast<ProgramOptions&>(options) = std::move(first);
  options.more_programs.assign(std::make_move_iterator(programs->begin() + 1),
                               std::make_move_iterator(programs->end()));
  return {};
}

}  // namespace sml

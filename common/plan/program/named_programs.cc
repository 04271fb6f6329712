#include "common/plan/program/named_programs.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "common/core/text.h"
#include "common/plan/program/script.h"
#include "common/plan/variables.h"

namespace sml::plan {

namespace {

constexpr std::size_t kMostWords = 64;
constexpr std::size_t kMostText = std::size_t{64} << 10;

using Words = std::vector<std::string>;

std::string absolute(const std::string& path, const std::string& folder) {
  if (path.starts_with('/')) return path;
  return folder + (path.starts_with("./") ? path.substr(1) : "/" + path);
}

// True if the text begins like a shell script: "#!/bin/bash".
bool is_of_shell(std::string_view text) {
  return text.starts_with("#!") && text.substr(0, text.find('\n')).find("sh") != std::string_view::npos;
}

// Appends the text without its comment lines.
void append_script(std::string& to, std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = take_until(text, '\n');
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin != std::string_view::npos && line[begin] != '#') (to += line) += '\n';
  }
}

std::string text_of(const CommandLine& line, const HostFiles& files) {
  std::string out;
  for (std::size_t i = 1; i < line.words.size() && out.size() < kMostText; ++i) (out += line.words[i]) += '\n';
  const Script script = script_of(line.words);
  const bool of_shell = !script.path.empty() && script.place == ScriptPlace::FolderOrPath;
  const std::string text = files.read(of_shell ? absolute(script.path, line.folder) : line.program, 0, kMostText);
  if (of_shell || is_of_shell(text)) append_script(out, text);
  out.resize(std::min(out.size(), kMostText));
  return out;
}

// The words that may be a name or a path, without duplicates; they are separated by quotes, "=" and shell operators.
Words words_of(std::string_view text) {
  constexpr std::string_view kOfNames = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-,@%:~";
  Words out;
  while (out.size() < kMostWords) {
    text.remove_prefix(std::min(text.find_first_of(kOfNames), text.size()));
    if (text.empty()) break;
    const std::string_view word = text.substr(0, text.find_first_not_of(kOfNames));
    text.remove_prefix(word.size());
    if (!word.starts_with('-') && std::find(out.begin(), out.end(), word) == out.end()) out.emplace_back(word);
  }
  return out;
}

bool is_launcher(std::string_view word) {
  constexpr std::array<std::string_view, 8> kNames{"mpirun", "mpiexec", "orterun", "prterun",
                                                   "prun",   "srun",    "sml-run", "horovodrun"};
  const std::string_view name = word.substr(word.rfind('/') + 1);
  return std::find(kNames.begin(), kNames.end(), name.substr(0, name.find('.'))) != kNames.end();
}

// Resolves the word as a shell does; empty if there is no such file.
std::string file_of(const std::string& word, std::string_view path, const CommandLine& line, const HostFiles& files) {
  if (word.find('/') != std::string::npos) {
    std::string file = absolute(word, line.folder);
    return files.is_file(file) ? file : std::string();
  }
  while (!path.empty()) {
    const std::string_view folder = take_until(path, ':');
    std::string file = std::string(folder) + "/" + word;
    if (folder.starts_with('/') && files.is_file(file)) return file;
  }
  return {};
}

}  // namespace

Words named_programs(const CommandLine& line, std::span<const std::string> environment, const HostFiles& files) {
  const Words words = words_of(text_of(line, files));
  if (std::any_of(words.begin(), words.end(), is_launcher)) return {};
  const std::string* path = find_variable(environment, "PATH");
  Words out;
  for (const std::string& word : words) {
    std::string file = file_of(word, path == nullptr ? std::string_view() : value_of(*path), line, files);
    if (!file.empty()) out.push_back(std::move(file));
  }
  return out;
}

}  // namespace sml::plan

#include "common/plan/program/script.h"

#include <algorithm>
#include <array>

namespace sml::plan {

namespace {

// How an interpreter parses a word that begins with "-" (or, for shells, "+").
struct Interpreter {
  std::string_view flags;      // letters without a value; a word may hold several
  std::string_view valued;     // letters whose value is the rest of the word, or the next word
  std::string_view no_script;  // letters after which no script follows
  ScriptPlace place;
};

constexpr Interpreter kPython{"bBdEiIOPqRsSuvx", "WX", "cmhV?", ScriptPlace::Folder};
constexpr Interpreter kShell{"abefhiklmnprtuvxBCEHPT", "oO", "cs", ScriptPlace::FolderOrPath};
constexpr Interpreter kPerl{"wWXtTuUs", "", "", ScriptPlace::Folder};

// A version is ignored: "python3.11" is python.
const Interpreter* interpreter_of(std::string_view program) {
  constexpr std::array<std::string_view, 5> kShells{"sh", "bash", "dash", "ksh", "zsh"};
  std::string_view name = program.substr(program.rfind('/') + 1);
  if (std::find(kShells.begin(), kShells.end(), name) != kShells.end()) return &kShell;
  while (!name.empty() && (name.back() == '.' || (name.back() >= '0' && name.back() <= '9'))) name.remove_suffix(1);
  if (name == "python" || name == "pypy") return &kPython;
  return name == "perl" ? &kPerl : nullptr;
}

enum class Next : std::uint8_t { Word, AfterValue, Script, Nothing };

Next after_option(std::string_view word, const Interpreter& interpreter) {
  if (word == "--") return Next::Script;
  if (word.starts_with("--") || word.size() < 2) return Next::Nothing;  // a long option may have a value
  for (std::size_t i = 1; i < word.size(); ++i) {
    if (interpreter.no_script.find(word[i]) != std::string_view::npos) return Next::Nothing;
    const bool valued = interpreter.valued.find(word[i]) != std::string_view::npos;
    if (valued) return i + 1 == word.size() ? Next::AfterValue : Next::Word;
    if (interpreter.flags.find(word[i]) == std::string_view::npos) return Next::Nothing;
  }
  return Next::Word;
}

bool is_option(std::string_view word, const Interpreter& interpreter) {
  return word.starts_with('-') || (interpreter.place == ScriptPlace::FolderOrPath && word.starts_with('+'));
}

}  // namespace

Script script_of(std::span<const std::string> command) {
  const Interpreter* interpreter = command.empty() ? nullptr : interpreter_of(command.front());
  if (interpreter == nullptr) return {};
  std::size_t at = 1;
  for (; at < command.size() && is_option(command[at], *interpreter); ++at) {
    const Next next = after_option(command[at], *interpreter);
    if (next == Next::Nothing) return {};
    if (next == Next::AfterValue) ++at;
    if (next == Next::Script) {
      ++at;
      break;
    }
  }
  if (at >= command.size() || command[at].empty()) return {};
  if (command[at].starts_with("/dev/") || command[at].starts_with("/proc/")) return {};
  return {command[at], interpreter->place};
}

}  // namespace sml::plan

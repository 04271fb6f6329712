#include "common/plan/program/preload.h"

#include <algorithm>
#include <array>

#include "common/core/letters.h"
#include "common/core/text.h"

namespace sml::plan {

namespace {

constexpr std::size_t kLongestModuleName = 200;
constexpr std::size_t kMostModules = 64;

bool is_name_character(char c) { return is_letter_or_digit(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80; }

// True for "a.b_c": no part is empty or begins with a digit.
bool is_module(std::string_view name) {
  bool begins = true;
  for (const char c : name) {
    if (c == '.' ? begins : !is_name_character(c) || (begins && is_digit(c))) return false;
    begins = c == '.';
  }
  return !begins && name.size() <= kLongestModuleName;
}

bool is_python_interpreter(std::string_view program) {
  std::string_view name = program.substr(program.rfind('/') + 1);
  while (!name.empty() && (name.back() == '.' || is_digit(name.back()))) name.remove_suffix(1);
  return name == "python";
}

constexpr std::string_view kFlags = "bBdEIOPqRsSuv";  // letters without a value; a word may hold several
constexpr std::string_view kValued = "WX";            // letters whose value is the rest of the word, or the next word

// Reads options until the script or module.
class Reader {
 public:
  explicit Reader(std::span<const std::string> command) : command_(command) {}

  std::optional<PythonLine> read() {
    line_.interpreter.push_back(command_[0]);
    for (at_ = 1; at_ < command_.size(); ++at_) {
      const std::string& word = command_[at_];
      if (word == "--") return rest(at_ + 1);
      if (!word.starts_with('-')) return rest(at_);
      if (word.size() < 2 || word[1] == '-' || !take(word)) return std::nullopt;
      if (line_.runs == PythonRuns::Module) return rest(at_ + 1);
    }
    return std::nullopt;
  }

 private:
  // Returns false if the option is not known here.
  bool take(const std::string& word) {
    for (std::size_t i = 1; i < word.size(); ++i) {
      if (word[i] == 'm') return take_module(word, i);
      if (kValued.find(word[i]) != std::string_view::npos) {
        line_.interpreter.push_back(word);
        if (i + 1 < word.size()) return true;
        if (++at_ == command_.size()) return false;
        line_.interpreter.push_back(command_[at_]);
        return true;
      }
      if (kFlags.find(word[i]) == std::string_view::npos) return false;
    }
    line_.interpreter.push_back(word);
    return true;
  }

  bool take_module(const std::string& word, std::size_t letter) {
    line_.runs = PythonRuns::Module;
    if (letter > 1) line_.interpreter.push_back(word.substr(0, letter));
    if (letter + 1 < word.size()) line_.words.push_back(word.substr(letter + 1));
    return true;
  }

  std::optional<PythonLine> rest(std::size_t from) {
    if (from < command_.size())
      line_.words.insert(line_.words.end(), command_.begin() + static_cast<std::ptrdiff_t>(from), command_.end());
    if (line_.words.empty() || line_.words.front().empty()) return std::nullopt;
    const std::string& first = line_.words.front();
    const bool stream = first == "-" || first.starts_with("/dev/") || first.starts_with("/proc/");
    return line_.runs == PythonRuns::Script && stream ? std::nullopt : std::optional(std::move(line_));
  }

  std::span<const std::string> command_;
  std::size_t at_ = 1;
  PythonLine line_;
};

}  // namespace

Result<std::vector<std::string>> parse_modules(std::string_view text) {
  std::vector<std::string> out;
  for (const std::string_view name : split(text, ',')) {
    if (!is_module(name)) {
      return Error(ErrorKind::Usage, show(name) +
                                         " is not the name of a module: expected names with , between them, such as "
                                         "torch,transformers");
    }
    if (std::find(out.begin(), out.end(), name) == out.end()) out.emplace_back(name);
  }
  if (out.size() > kMostModules) {
    return Error(ErrorKind::Usage,
                 "more than " + std::to_string(kMostModules) + " modules; name one that imports the others");
  }
  return out;
}

std::optional<PythonLine> python_line(std::span<const std::string> command) {
  if (command.empty() || !is_python_interpreter(command.front())) return std::nullopt;
  return Reader(command).read();
}

std::uint32_t first_argument(std::span<const std::string> command) {
  const std::optional<PythonLine> line = python_line(command);
  const std::size_t behind = line ? command.size() - line->words.size() + 1 : std::min<std::size_t>(command.size(), 1);
  return static_cast<std::uint32_t>(behind);
}

bool counts_at_start(std::string_view name) {
  constexpr std::array<std::string_view, 9> kPrefixes{"PYTHON", "LD_",  "MALLOC_",   "OMP_", "GOMP_",
                                                      "KMP_",   "MKL_", "OPENBLAS_", "LC_"};
  constexpr std::array<std::string_view, 3> kNames{"GLIBC_TUNABLES", "LANG", "TZ"};
  const auto begins = [name](std::string_view prefix) { return name.starts_with(prefix); };
  return std::any_of(kPrefixes.begin(), kPrefixes.end(), begins) ||
         std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

Environment common_environment(std::span<const Environment> environments) {
  if (environments.empty()) return {};
  Environment out = environments.front();
  for (const Environment& other : environments.subspan(1)) {
    std::erase_if(out, [&other](const std::string& entry) {
      return std::find(other.begin(), other.end(), entry) == other.end();
    });
  }
  return out;
}

std::string differs_at_start(std::span<const std::string> before, std::span<const std::string> after) {
  const auto missing = [](std::span<const std::string> from, std::span<const std::string> in) -> std::string {
    for (const std::string& entry : from) {
      const std::string_view name = name_of(entry);
      if (counts_at_start(name) && std::find(in.begin(), in.end(), entry) == in.end()) return std::string(name);
    }
    return {};
  };
  const std::string lost = missing(before, after);
  return lost.empty() ? missing(after, before) : lost;
}

}  // namespace sml::plan

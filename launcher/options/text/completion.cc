#include "launcher/options/text/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "launcher/options/control_line.h"
#include "launcher/options/option_table.h"

namespace sml {

namespace {

using std::string_view;

enum class Kind : std::uint8_t { Flag, File, Folder, Variable, Host, Words, Any };

std::string fixed_values(const OptionRow& row) { return fmt::format("{}", fmt::join(fixed_values_of(row), " ")); }

Kind kind_of(const OptionRow& row) {
  if (row.is_flag()) return Kind::Flag;
  if (row.value.starts_with("FILE")) return Kind::File;
  if (row.value.starts_with("DIR")) return Kind::Folder;
  if (row.value.starts_with("NAME[")) return Kind::Variable;
  if (main_spelling(row) == "--hosts") return Kind::Host;
  return fixed_values_of(row).empty() ? Kind::Any : Kind::Words;
}

// The first sentence of the help text.
string_view summary(const OptionRow& row) {
  const std::size_t stop = std::min({row.help.find(". "), row.help.find("; "), row.help.find(": "), row.help.size()});
  string_view text = row.help.substr(0, stop);
  if (text.ends_with('.')) text.remove_suffix(1);
  return text;
}

std::string replaced(string_view text, string_view special, string_view before) {
  std::string out;
  for (char c : text) {
    if (special.find(c) != string_view::npos) out += before;
    out += c;
  }
  return out;
}

// Escapes text for '...' of a POSIX shell.
std::string in_quotes(string_view text) {
  std::string out;
  for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out;
}

// Visits the rows of options that are offered; of rare ones the values are not completed, either.
template <class Visit>
void for_each_listed(Visit visit) {
  for_each_row([&visit](const OptionRow& row) {
    if (row.listed == Listed::InItsTopic) visit(row);
  });
}

std::string spellings_where(bool (*wanted)(const OptionRow&), string_view between) {
  std::string out;
  for_each_listed([&](const OptionRow& row) {
    if (!wanted(row)) return;
    for (string_view spelling : spellings_of(row))
      out += (out.empty() ? "" : std::string(between)) + std::string(spelling);
  });
  return out;
}

std::string control_words_with(string_view between) { return fmt::format("{}", fmt::join(control_words(), between)); }

bool is_any(const OptionRow&) { return true; }
bool takes_value(const OptionRow& row) { return !row.is_flag(); }

// ---- bash

std::string bash_action(const OptionRow& row) {
  switch (kind_of(row)) {
    case Kind::File: return "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$1\")";
    case Kind::Folder: return "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$1\")";
    case Kind::Variable: return "mapfile -t COMPREPLY < <(compgen -e -- \"$1\")";
    case Kind::Host: return "mapfile -t COMPREPLY < <(compgen -A hostname -- \"$1\")";
    case Kind::Words: return fmt::format("mapfile -t COMPREPLY < <(compgen -W '{}' -- \"$1\")", fixed_values(row));
    case Kind::Flag:
    case Kind::Any: break;
  }
  return "";
}

std::string bash_values() {
  std::string out;
  for_each_listed([&](const OptionRow& row) {
    if (bash_action(row).empty()) return;
    out += fmt::format("    {}) {} ;;\n", fmt::join(spellings_of(row), "|"), bash_action(row));
  });
  return out;
}

// Bash splits words at "=", too: --np=4 becomes three words.
constexpr string_view kBash = R"sh(# bash completion of sml-run; made by: sml-run --completion bash

# The values of option $2 that begin with $1.
_sml_run_values() {
  case $2 in
@VALUES@  esac
}

# The words behind a sub-command for running jobs.
_sml_run_of_job() {
  local given='--format'
  case ${COMP_WORDS[1]} in
    status) given+=' --watch' ;;
    signal) given+=' --ranks' ;;
    logs) given+=' --ranks --follow' ;;
  esac
  if [[ $1 == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$given" -- "$1")
  elif [[ ${COMP_WORDS[COMP_CWORD - 1]} == --format ]]; then
    mapfile -t COMPREPLY < <(compgen -W 'text json' -- "$1")
  elif [[ ${COMP_WORDS[1]} == signal ]] && ((COMP_CWORD == 3)); then
    mapfile -t COMPREPLY < <(compgen -A signal -- "$1")
  elif [[ ${COMP_WORDS[1]} != ps && ${COMP_WORDS[COMP_CWORD - 1]} != --ranks ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" ps 2>/dev/null | sed '1d; s/ .*//')" -- "$1")
  fi
}

_sml_run() {
  local cur=${COMP_WORDS[COMP_CWORD]} i=1 option= ended= first=$COMP_CWORD  # _command_offset changes COMP_CWORD
  COMPREPLY=()
  if ((COMP_CWORD > 1)); then
    case ${COMP_WORDS[1]} in
      @JOB_WORDS@) _sml_run_of_job "$cur"; return ;;
    esac
  fi
  while ((i < COMP_CWORD)); do
    case ${COMP_WORDS[i]} in
      --) ended=yes; ((i++)); break ;;
      @WITH_VALUE@)
        option=${COMP_WORDS[i]}
        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
        if ((i + 1 >= COMP_CWORD)); then
          [[ $cur == = ]] && cur=
          _sml_run_values "$cur" "$option"
          return
        fi
        ((i += 2)) ;;
      -*) ((i++)) ;;
      *) break ;;
    esac
  done
  if ((i == COMP_CWORD)) && [[ -z $ended && $cur == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W '@ALL@' -- "$cur")
  elif declare -F _command_offset >/dev/null; then
    _command_offset "$i"
  elif ((i == COMP_CWORD)); then
    mapfile -t COMPREPLY < <(compgen -c -- "$cur")
  else
    compopt -o default
  fi
  if ((first == 1)); then
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W '@JOB_WORDS_LIST@' -- "$cur")
  fi
}
complete -F _sml_run sml-run
)sh";

// ---- zsh

std::string zsh_action(const OptionRow& row) {
  switch (kind_of(row)) {
    case Kind::File: return ":file:_files";
    case Kind::Folder: return ":folder:_files -/";
    case Kind::Variable: return ":variable:_parameters -g \"*export*\"";
    case Kind::Host: return ":hosts:_hosts";
    case Kind::Words: return fmt::format(":value:({})", fixed_values(row));
    case Kind::Any: return fmt::format(":{}: ", replaced(row.value, ":[]\\", "\\"));
    case Kind::Flag: break;
  }
  return "";
}

std::string zsh_arguments() {
  std::string out;
  for_each_listed([&](const OptionRow& row) {
    for (string_view spelling : spellings_of(row)) {
      // accepts --np 4 and --np=4, also with a single dash
      out += fmt::format("  '*{}{}[{}]{}' \\\n", spelling, row.is_flag() ? "" : "=",
                         in_quotes(replaced(summary(row), ":[]\\", "\\")), in_quotes(zsh_action(row)));
    }
  });
  return out;
}

constexpr string_view kZsh = R"sh(#compdef sml-run
# zsh completion of sml-run; made by: sml-run --completion zsh

_sml_run_words() {
  _alternative 'words:running jobs:(@JOB_WORDS_LIST@)' 'commands:program:_command_names -e'
}

if (( CURRENT > 2 )) && [[ ${words[2]} == (@JOB_WORDS@) ]]; then
  if [[ ${words[CURRENT-1]} == --format ]]; then
    compadd -- text json
  elif [[ ${words[2]} == signal && CURRENT -eq 4 ]]; then
    compadd -- ${signals[2,-3]}
  elif [[ ${words[CURRENT]} == -* ]]; then
    case ${words[2]} in
      status) compadd -- --format --watch ;;
      signal) compadd -- --format --ranks ;;
      logs) compadd -- --format --ranks --follow ;;
      *) compadd -- --format ;;
    esac
  elif [[ ${words[2]} != ps ]]; then
    compadd -- ${(f)"$(${words[1]} ps 2>/dev/null | sed '1d; s/ .*//')"}
  fi
  return
fi

_arguments -S \
@ARGUMENTS@  '(-)1:program:_sml_run_words' \
  '*::argument:_normal'
)sh";

// ---- fish

std::string fish_action(const OptionRow& row) {
  switch (kind_of(row)) {
    case Kind::File: return " -r -F";
    case Kind::Folder: return " -x -a '(__fish_complete_directories)'";
    case Kind::Variable: return " -x -a '(set --names --export)'";
    case Kind::Host: return " -x -a '(__fish_print_hostnames)'";
    case Kind::Words: return fmt::format(" -x -a '{}'", fixed_values(row));
    case Kind::Any: return " -x";
    case Kind::Flag: break;
  }
  return "";
}

std::string fish_spelling(string_view spelling) {
  if (spelling.starts_with("--")) return fmt::format(" -l {}", spelling.substr(2));
  return fmt::format(" {} {}", spelling.size() == 2 ? "-s" : "-o", spelling.substr(1));
}

std::string fish_lines() {
  std::string out;
  for_each_listed([&](const OptionRow& row) {
    out += "complete -c sml-run -n __sml_run_has_no_program";
    for (string_view spelling : spellings_of(row)) out += fish_spelling(spelling);
    out += fish_action(row);
    out += fmt::format(" -d '{}'\n", replaced(summary(row), "\\'", "\\"));
  });
  return out;
}

constexpr string_view kFish = R"sh(# fish completion of sml-run; made by: sml-run --completion fish

function __sml_run_has_no_program
    set -l words (commandline -opc)
    set -e words[1]
    set -l is_value no
    for word in $words
        if test $is_value = yes
            set is_value no
            continue
        end
        switch $word
            case --
                return 1
            case @WITH_VALUE@
                set is_value yes
            case '-*'
            case '*'
                return 1
        end
    end
    return 0
end

function __sml_run_speaks_to_jobs
    set -l words (commandline -opc)
    test (count $words) -ge 2; and contains -- $words[2] @JOB_WORDS_LIST@
end

complete -c sml-run -n __sml_run_has_no_program -a '(__fish_complete_command)'
complete -c sml-run -n 'test (count (commandline -opc)) -eq 1' -a '@JOB_WORDS_LIST@' -d 'of running jobs'
complete -c sml-run -n __sml_run_speaks_to_jobs -f -a "(sml-run ps 2>/dev/null | sed '1d; s/ .*//')"
complete -c sml-run -n __sml_run_speaks_to_jobs -l format -x -a 'text json'
complete -c sml-run -n __sml_run_speaks_to_jobs -l ranks -x
complete -c sml-run -n __sml_run_speaks_to_jobs -l watch
complete -c sml-run -n __sml_run_speaks_to_jobs -l follow
@LINES@)sh";

std::string fill(string_view text, string_view mark, string_view with) {
  std::string out(text);
  for (std::size_t at = out.find(mark); at != std::string::npos; at = out.find(mark, at + with.size())) {
    out.replace(at, mark.size(), with);
  }
  return out;
}

std::string with_job_words(string_view script) {
  return fill(fill(script, "@JOB_WORDS@", control_words_with("|")), "@JOB_WORDS_LIST@", control_words_with(" "));
}

}  // namespace

std::string completion_script(Shell shell) {
  switch (shell) {
    case Shell::Bash:
      return fill(fill(fill(with_job_words(kBash), "@VALUES@", bash_values()), "@WITH_VALUE@",
                       spellings_where(takes_value, "|")),
                  "@ALL@", spellings_where(is_any, " "));
    case Shell::Zsh: return fill(with_job_words(kZsh), "@ARGUMENTS@", zsh_arguments());
    case Shell::Fish:
      return fill(fill(with_job_words(kFish), "@WITH_VALUE@", spellings_where(takes_value, " ")), "@LINES@",
                  fish_lines());
  }
  return "";
}

}  // namespace sml

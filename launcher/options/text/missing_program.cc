#include "launcher/options/text/missing_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "common/core/text.h"
#include "launcher/options/control_line.h"
#include "launcher/plan/env_file.h"

namespace sml {

namespace {

using std::string_view;

struct Dash {
  string_view bytes;
  string_view code_point;
};
constexpr std::array kLongDashes{Dash{"\u2010", "U+2010"}, Dash{"\u2011", "U+2011"}, Dash{"\u2012", "U+2012"},
                                 Dash{"\u2013", "U+2013"}, Dash{"\u2014", "U+2014"}, Dash{"\u2015", "U+2015"},
                                 Dash{"\u2212", "U+2212"}};

// The words that people try, and ours for the same.
struct OwnWord {
  string_view typed;
  string_view meant;
};
constexpr std::array kOwnWords{OwnWord{"list", "sml-run ps"},
                               OwnWord{"ls", "sml-run ps"},
                               OwnWord{"jobs", "sml-run ps"},
                               OwnWord{"info", "sml-run status"},
                               OwnWord{"show", "sml-run status"},
                               OwnWord{"attach", "sml-run logs --follow"},
                               OwnWord{"follow", "sml-run logs --follow"},
                               OwnWord{"tail", "sml-run logs --follow"},
                               OwnWord{"output", "sml-run logs"},
                               OwnWord{"monitor", "sml-run top"},
                               OwnWord{"watch", "sml-run status --watch"},
                               OwnWord{"cancel", "sml-run stop"},
                               OwnWord{"abort", "sml-run stop"},
                               OwnWord{"terminate", "sml-run stop"},
                               OwnWord{"delete", "sml-run stop"},
                               OwnWord{"plan", "sml-run --dry-run"},
                               OwnWord{"doctor", "sml-run --check"},
                               OwnWord{"explain", "sml-run --explain"},
                               OwnWord{"start", "sml-run PROGRAM"},
                               OwnWord{"submit", "sml-run PROGRAM"},
                               OwnWord{"log", "sml-run logs"},
                               OwnWord{"kill", "sml-run stop"},
                               OwnWord{"help", "sml-run --help"},
                               OwnWord{"version", "sml-run --version"},
                               OwnWord{"check", "sml-run --check"},
                               OwnWord{"stack", "sml-run stacks"},
                               OwnWord{"run", "sml-run PROGRAM"},
                               OwnWord{"launch", "sml-run PROGRAM"},
                               OwnWord{"exec", "sml-run PROGRAM"},
                               OwnWord{"install", "sml-run --install-links"},
                               OwnWord{"completion", "sml-run --completion bash"}};

std::string own_word(string_view program) {
  for (const OwnWord& word : kOwnWords) {
    if (word.typed == program) return std::string(word.meant);
  }
  std::vector<string_view> words = control_words();
  words.emplace_back("train");
  const string_view best = nearest(program, words);
  return best.empty() ? std::string() : fmt::format("sml-run {}", best);
}

// "algo-2" beside "algo-1": the same but for the digits at the end.
bool looks_like_a_host(string_view word, std::span<const string_view> hosts) {
  const auto without_number = [](string_view name) { return name.substr(0, name.find_last_not_of("0123456789") + 1); };
  return std::any_of(hosts.begin(), hosts.end(), [&](string_view host) {
    return word == host || (without_number(host) != host && without_number(word) != word &&
                            without_number(host) == without_number(word));
  });
}

}  // namespace

Result<void> check_program_word(string_view program) {
  for (const Dash& dash : kLongDashes) {
    if (!program.starts_with(dash.bytes)) continue;
    return Error(ErrorKind::Usage, fmt::format("\"{}\" begins with a long dash ({}); type -{}", show(program, 80),
                                               dash.code_point, show(program.substr(dash.bytes.size()), 80)));
  }
  return {};
}

std::string advice_on_missing_program(string_view program, std::span<const string_view> hosts) {
  if (program.find_first_of(" \t\n") != string_view::npos) {
    const bool of_a_shell = program.find_first_of("|&;<>$`") != string_view::npos || program.starts_with("cd ");
    return of_a_shell ? "that is a line for a shell; start it as: sh -c '...'"
                      : "program and arguments are one quoted word; remove the quotes";
  }
  const std::size_t equals = program.find('=');
  if (equals != string_view::npos && plan::valid_variable_name(program.substr(0, equals)))
    return fmt::format("set a variable with -x {}", show(program, 80));
  if (looks_like_a_host(program, hosts)) {
    return fmt::format(
        "{} looks like a host (a shell makes words of {{1,2}}); -H takes one list without blanks, such "
        "as algo-1,algo-2 or algo-[1-2]",
        show(program, 80));
  }
  const std::string own = own_word(program);
  return own.empty() ? own : fmt::format("did you mean {}?", own);
}

Error with_program_advice(Error why, const plan::LaunchPlan& plan) {
  if (why.kind() != ErrorKind::NotFound) return why;
  std::vector<string_view> hosts;
  for (const plan::MappedHost& host : plan.map.hosts) hosts.push_back(host.host.name);
  for (std::size_t i = 0; i < plan.program_count(); ++i) {
    const std::string& program = plan.program(i).command.front();
    if (!why.message().ends_with(" " + program)) continue;
    std::string advice = advice_on_missing_program(program, hosts);
    if (!advice.empty()) return std::move(why).with_hint(std::move(advice));
  }
  return why;
}

}  // namespace sml

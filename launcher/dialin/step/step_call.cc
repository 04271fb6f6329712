#include "launcher/dialin/step/step_call.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <utility>

#include "common/core/text.h"
#include "common/plan/machine/host.h"
#include "launcher/dialin/key.h"

namespace sml::dialin {

namespace {

constexpr std::string_view kAnswer = "--answer-step";
constexpr std::string_view kOwnName = "-";

// $1: the file; $2: the mark; $3: the host; the others are for the program. The rules are those of os::check_trust(),
// but for ACLs and read-only mounts, which stat does not show, and links, which are refused. In a sticky folder a file
// counts when it has one name; a folder never has two. The program gets PATH and no further variable.
constexpr char kFind[] =
    "unset sml_path sml_host sml_at sml_uid sml_gid sml_top sml_bad sml_is sml_names; "
    "sml_path=$PATH; PATH=/usr/bin:/bin:$PATH; "
    "sml_host=$3; [ \"$sml_host\" != - ] || sml_host=${SLURMD_NODENAME:-$(uname -n)}; "
    "sml_uid=$(id -u); sml_gid=$(id -g); [ \"$sml_gid\" = \"$sml_uid\" ] || sml_gid=0; "
    "sml_top=$(stat -c %u /); sml_at=$1; sml_bad=; "
    "[ -f \"$1\" ] && [ -x \"$1\" ] || sml_bad=1; "
    "while [ -z \"$sml_bad\" ]; do "
    "sml_is=$(stat -c %A:%g:%u \"$sml_at\"); "
    "case $sml_is in [d-]????[-]??[-]?:* | [d-]???????[-]?:0:* | [d-]???????[-]?:\"$sml_gid\":*) ;; "
    "d????????[tT]:*) [ \"$sml_names\" = 1 ] || sml_bad=1 ;; "
    "*) sml_bad=1 ;; esac; "
    "case $sml_is in d*) sml_names=1 ;; *) sml_names=$(stat -c %h \"$sml_at\") ;; esac; "
    "case ${sml_is##*:} in 0 | \"$sml_uid\" | \"$sml_top\") ;; *) sml_bad=1 ;; esac; "
    "[ \"$sml_at\" != / ] || break; sml_at=${sml_at%/*}; sml_at=${sml_at:-/}; done; "
    "if [ -n \"$sml_bad\" ]; then printf \"\\n%s %s missing\\n\" \"$2\" \"$sml_host\"; exit 66; fi; "
    "sml_at=$1; shift; PATH=$sml_path; exec \"$sml_at\" --answer-step \"$1\" \"$sml_host\" \"$3\" \"$4\" \"$5\"";

constexpr std::array<std::pair<std::string_view, StepWord>, 3> kWords{
    {{"missing", StepWord::Missing}, {"trying", StepWord::Trying}, {"failed", StepWord::Failed}}};

bool is_variable(std::string_view name) {
  return !name.empty() && name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == std::string_view::npos;
}

}  // namespace

std::vector<std::string> words_of_step(const std::string& file, const StepCall& call) {
  return {"/bin/sh",
          "-c",
          kFind,
          "sml-run-step",
          file,
          call.mark,
          call.host.empty() ? std::string(kOwnName) : call.host,
          fmt::format("{}", fmt::join(call.addresses, ",")),
          std::to_string(call.port),
          call.secret_variable};
}

std::optional<StepCall> parse_step_call(std::span<const std::string> arguments) {
  constexpr std::size_t kCount = 6;
  if (arguments.size() != kCount || arguments[0] != kAnswer) return std::nullopt;
  StepCall call{.addresses = {}, .host = arguments[2], .mark = arguments[1], .secret_variable = arguments[5]};
  for (const std::string_view address : split(arguments[3], ',')) {
    if (!plan::valid_host_name(address)) return std::nullopt;
    call.addresses.emplace_back(address);
  }
  call.port = parse_number<std::uint16_t>(arguments[4]).value_or(0);
  if (call.port == 0 || call.addresses.empty() || !is_variable(call.secret_variable)) return std::nullopt;
  return call;
}

Result<Key> key_of_step(std::string_view secret) { return derive_key(secret, "sml-run step 1"); }

std::string to_text(const StepLine& line, const std::string& mark) {
  std::string_view word;
  for (const auto& [text, value] : kWords) {
    if (value == line.word) word = text;
  }
  return fmt::format("{} {} {} {}\n", mark, line.host, word, show(line.text, 300));
}

std::optional<StepLine> parse_step_line(std::string_view line, std::string_view mark) {
  const auto take = [&line] { return take_until(line, ' '); };
  if (mark.empty() || take() != mark) return std::nullopt;
  StepLine out{.host = std::string(take()), .text = {}};
  const std::string_view word = take();
  out.text = trim(line);
  for (const auto& [text, value] : kWords) {
    if (text != word) continue;
    out.word = value;
    return out;
  }
  return std::nullopt;
}

}  // namespace sml::dialin

#include "launcher/sagemaker/mpi_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/core/text.h"
#include "common/plan/ranks/job_map.h"
#include "launcher/plan/export_words.h"

namespace sml::sagemaker {

namespace {

enum class Meaning : std::uint8_t { Export, NcclDebug, Np, Mca, Oversubscribe, Verbose, Ignored, Hosts };

struct Row {
  std::string_view name;  // without dashes
  Meaning meaning;
  std::size_t values;  // number of words that follow
};

constexpr std::array kRows{
    Row{"x", Meaning::Export, 1},
    Row{"NCCL_DEBUG", Meaning::NcclDebug, 1},
    Row{"np", Meaning::Np, 1},
    Row{"n", Meaning::Np, 1},
    Row{"c", Meaning::Np, 1},
    Row{"mca", Meaning::Mca, 2},
    Row{"gmca", Meaning::Mca, 2},
    Row{"oversubscribe", Meaning::Oversubscribe, 0},
    Row{"verbose", Meaning::Verbose, 0},
    Row{"v", Meaning::Verbose, 0},
    Row{"bind-to", Meaning::Ignored, 1},
    Row{"map-by", Meaning::Ignored, 1},
    Row{"rank-by", Meaning::Ignored, 1},
    Row{"report-bindings", Meaning::Ignored, 0},
    Row{"display-map", Meaning::Ignored, 0},
    Row{"display-allocation", Meaning::Ignored, 0},
    Row{"tag-output", Meaning::Ignored, 0},
    Row{"timestamp-output", Meaning::Ignored, 0},
    Row{"allow-run-as-root", Meaning::Ignored, 0},
    Row{"nooversubscribe", Meaning::Ignored, 0},
    Row{"q", Meaning::Ignored, 0},
    Row{"quiet", Meaning::Ignored, 0},
    Row{"H", Meaning::Hosts, 1},
    Row{"host", Meaning::Hosts, 1},
    Row{"hostfile", Meaning::Hosts, 1},
    Row{"machinefile", Meaning::Hosts, 1},
};

Error bad(std::string_view what) { return Error(ErrorKind::Config, fmt::format("custom_mpi_options: {}", what)); }

// Appends the word, and removes an earlier one for the same name.
void set_export(MpiOptions& options, std::string word) {
  const auto name_of = [](std::string_view w) { return w.substr(0, w.find('=')); };
  std::erase_if(options.export_words, [&](const std::string& old) { return name_of(old) == name_of(word); });
  options.export_words.push_back(std::move(word));
}

Result<void> set_np(MpiOptions& options, std::string_view text) {
  const auto np = parse_number<std::uint32_t>(text);
  if (!np || *np == 0 || *np > plan::kMaxWorldSize) {
    return bad(fmt::format("-np: \"{}\" is no number of workers", show(text, 60)));
  }
  options.np = np;
  return {};
}

Result<void> export_word(MpiOptions& options, const std::string& word) {
  if (Result<void> checked = plan::check_export_word(word); !checked) return bad("-x: " + checked.error().message());
  set_export(options, word);
  return {};
}

Result<void> apply(MpiOptions& options, const Row& row, std::string_view written, std::span<const std::string> values) {
  switch (row.meaning) {
    case Meaning::Export: return export_word(options, values[0]);
    case Meaning::NcclDebug: return export_word(options, "NCCL_DEBUG=" + values[0]);
    case Meaning::Mca: return export_word(options, "OMPI_MCA_" + values[0] + "=" + values[1]);
    case Meaning::Np: return set_np(options, values[0]);
    case Meaning::Oversubscribe: options.oversubscribe = true; return {};
    case Meaning::Verbose: options.verbose = true; return {};
    case Meaning::Ignored:
      options.ignored.push_back(values.empty() ? std::string(written) : fmt::format("{} {}", written, values[0]));
      return {};
    case Meaning::Hosts:
      return bad(fmt::format("{}: the hosts of the job are those of resourceconfig.json; leave it out", written));
  }
  return {};
}

}  // namespace

Result<MpiOptions> parse_mpi_options(std::string_view text) {
  if (text.find('\0') != text.npos) return bad("cannot hold a NUL byte");
  const Result<std::vector<std::string>> words = shell_words(text);
  if (!words) return bad(words.error().message());
  return parse_mpi_options(*words);
}

Result<MpiOptions> parse_mpi_options(std::span<const std::string> words) {
  MpiOptions options;
  while (!words.empty()) {
    const std::string& word = words.front();
    const std::size_t dashes = word.starts_with("--") ? 2 : word.starts_with('-') ? 1 : 0;
    const std::size_t equals = word.find('=');
    const std::string_view written = std::string_view(word).substr(0, equals);
    const auto row = std::find_if(kRows.begin(), kRows.end(),
                                  [&](const Row& r) { return dashes > 0 && r.name == written.substr(dashes); });
    if (row == kRows.end()) return bad(fmt::format("\"{}\" is not understood", show(written, 80)));
    words = words.subspan(1);
    std::vector<std::string> values;
    if (equals != std::string::npos) values.push_back(word.substr(equals + 1));
    if (values.size() > row->values) return bad(fmt::format("{} takes no value", written));
    for (; values.size() < row->values; words = words.subspan(1)) {
      if (words.empty()) return bad(fmt::format("{} needs a value", written));
      values.push_back(words.front());
    }
    if (Result<void> applied = apply(options, *row, written, values); !applied) return applied.error();
  }
  return options;
}

}  // namespace sml::sagemaker

#include "launcher/control/log_printer.h"

#include "launcher/report/live/job_list.h"

namespace sml::control {

namespace {

constexpr std::size_t kLongestLine = std::size_t{64} << 10;

std::size_t index(Stream stream) { return stream == Stream::Stdout ? 0 : 1; }

output::Chain::Settings settings(LogPrinter::Control control) {
  using output::Chain;
  return {.tag = *output::TagTemplate::parse("[{rank}] "),
          .control = control == LogPrinter::Control::Show ? Chain::Control::Show : Chain::Control::Pass};
}

output::TagSubject subject(Rank rank, Stream stream) {
  output::TagSubject out;
  out.ranks.add(rank.value());
  out.local_ranks.add(0);
  out.stream = stream;
  return out;
}

}  // namespace

LogPrinter::LogPrinter(Form form, std::array<Control, 2> control)
    : form_(form), chains_{output::Chain(settings(control[0])), output::Chain(settings(control[1]))} {}

void LogPrinter::add(const Output& output) {
  if (form_ == Form::Json) return add_json(output);
  output::Chain& chain = chains_[index(output.stream)];
  const Key key(output.rank, output.stream);
  auto found = sources_.find(key);
  if (found == sources_.end()) {
    found = sources_.emplace(key, chain.add_source(subject(output.rank, output.stream))).first;
  }
  chain.add(found->second, output.bytes, {Clock::now(), {}});
}

void LogPrinter::add_json(const Output& output) {
  std::string& begun = begun_[{output.rank, output.stream}];
  begun += output.bytes;
  std::string_view rest = begun;
  for (std::size_t end = rest.find('\n'); end != std::string_view::npos || rest.size() > kLongestLine;) {
    const std::string_view line = rest.substr(0, std::min({end, kLongestLine}));
    json_ += report::log_line_json(output.rank, output.stream, line) + "\n";
    rest.remove_prefix(line.size() + (line.size() == end ? 1 : 0));
    end = rest.find('\n');
  }
  begun.erase(0, begun.size() - rest.size());
}

void LogPrinter::finish() {
  for (output::Chain& chain : chains_) chain.finish_all();
  for (const auto& [key, line] : begun_) {
    if (!line.empty()) json_ += report::log_line_json(key.first, key.second, line) + "\n";
  }
  begun_.clear();
}

std::array<std::string, 2> LogPrinter::take() {
  if (form_ == Form::Json) return {std::exchange(json_, {}), {}};
  return {std::exchange(chains_[0].output(), {}), std::exchange(chains_[1].output(), {})};
}

}  // namespace sml::control

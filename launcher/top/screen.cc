#include "launcher/top/screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "common/core/exit_status.h"
#include "common/core/text.h"
#include "launcher/report/live/status_text.h"

namespace sml::top {

namespace {

using std::string_view;

constexpr std::size_t kNameWidth = 20;
// Columns of the table; the state takes the rest.
constexpr std::size_t kRanksWidth = 9;
constexpr std::size_t kHostWidth = 10;
constexpr std::size_t kCpuWidth = 6;
constexpr std::size_t kBytesWidth = 7;
constexpr std::size_t kRateWidth = 6;
constexpr std::size_t kSilentWidth = 7;

constexpr string_view kHelp =
    "up, down, page up, page down  choose a rank, or scroll\n"
    "enter, l                      the last lines of the rank\n"
    "t                             where all ranks are (stacks)\n"
    "o r c m s b                   order: odd ones, rank, CPU, memory, silence, output\n"
    "f                             fold ranks that are alike, or list all\n"
    "k                             send a signal to the rank, or the ranks of the row\n"
    "S                             stop the job\n"
    "escape, q                     back; q leaves\n"
    "\n"
    "Odd are ranks that have failed or are lost, whose state is not that of most, and that\n"
    "are silent longer, take less CPU or have more memory than the others.";

std::string seconds_text(double seconds) {
  return report::clock_text(
      std::chrono::duration_cast<Duration>(std::chrono::duration<double>(std::max(0.0, seconds))));
}

std::string cut(std::string text, std::size_t columns) {
  if (text.size() <= columns) return text;
  text.resize(columns);
  if (columns > 3) text.replace(columns - 3, 3, "...");
  return text;
}

// ASCII: one column for each byte, whatever the terminal takes for the width of others.
std::string ascii(string_view text, std::size_t most = 1000) {
  std::string out;
  for (const char c : show(text, most)) out += static_cast<unsigned char>(c) < 0x80 ? c : '?';
  return out;
}

bool is_bad(const RankState& rank) { return rank.state == "failed" || rank.state == "lost"; }

// The least and the largest of a value over the ranks of a row: "98", "12-98", or where that has no room, "<98".
template <class Get, class Show>
std::string range_text(const Snapshot& job, const Row& row, std::size_t width, Get get, Show shown) {
  std::optional<double> least;
  std::optional<double> most;
  for (const std::size_t number : row.ranks) {
    const std::optional<double> value = get(job.ranks[number]);
    if (!value) continue;
    least = least ? std::min(*least, *value) : *value;
    most = most ? std::max(*most, *value) : *value;
  }
  if (!least) return "-";
  std::string low = shown(*least);
  const std::string high = shown(*most);
  if (low == high) return low;
  return low.size() + 1 + high.size() <= width ? low + "-" + high : "<" + high;
}

std::string short_bytes(double bytes) {
  constexpr string_view kUnits = "BKMGT";
  std::size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < kUnits.size(); ++unit) bytes /= 1024;
  return unit == 0 || bytes >= 10 ? fmt::format("{:.0f}{}", bytes, kUnits[unit])
                                  : fmt::format("{:.1f}{}", bytes, kUnits[unit]);
}

std::string table_line(const std::array<std::string, 8>& cells) {
  return fmt::format("{:>{}} {:<{}} {:>7} {:>{}} {:>{}} {:>{}} {:>{}} {}", cells[0], kRanksWidth, cells[1], kHostWidth,
                     cells[2], cells[3], kCpuWidth, cells[4], kBytesWidth, cells[5], kRateWidth, cells[6], kSilentWidth,
                     cells[7]);
}

}  // namespace

void Screen::take(Snapshot job, Duration elapsed) {
  if (has_job_) add_rates(job, job_, elapsed);
  mark_odd(job);
  const std::vector<std::size_t> before = selected();
  job_ = std::move(job);
  has_job_ = true;
  rows_ = rows_of(job_, order_, folds_ ? page_ : job_.ranks.size());
  if (before.empty()) return;
  const auto has_it = [&](const Row& row) {
    return std::find(row.ranks.begin(), row.ranks.end(), before.front()) != row.ranks.end();
  };
  const auto found = std::find_if(rows_.begin(), rows_.end(), has_it);
  if (found != rows_.end() && selected_ > 0) selected_ = static_cast<std::size_t>(found - rows_.begin());
}

void Screen::show_text(std::string title, string_view text) {
  mode_ = Mode::Text;
  title_ = std::move(title);
  text_.clear();
  while (text.ends_with('\n')) text.remove_suffix(1);
  for (const string_view line : split(text, '\n')) text_.push_back(ascii(line, string_view::npos));
  if (text_.size() > kMostText) text_.erase(text_.begin(), text_.end() - static_cast<std::ptrdiff_t>(kMostText));
  top_line_ = 0;
}

void Screen::print(std::string_view sentence) { note_ = ascii(sentence); }

void Screen::job_has_ended(std::string_view how) {
  ended_ = ascii(how);
  note_.clear();
}

std::vector<std::size_t> Screen::selected() const {
  return selected_ < rows_.size() ? rows_[selected_].ranks : std::vector<std::size_t>();
}

// ---- keys

UserRequest Screen::on_key(Key key, char letter) {
  note_.clear();
  switch (mode_) {
    case Mode::Table: return on_table_key(key, letter);
    case Mode::Text: return on_text_key(key, letter), UserRequest();
    case Mode::Question: return on_answer(letter);
    case Mode::SignalName: return on_name_key(key, letter);
  }
  return {};
}

void Screen::move(std::ptrdiff_t by) {
  const auto last = static_cast<std::ptrdiff_t>(rows_.empty() ? 0 : rows_.size() - 1);
  selected_ =
      static_cast<std::size_t>(std::clamp(static_cast<std::ptrdiff_t>(selected_) + by, std::ptrdiff_t{0}, last));
}

UserRequest Screen::on_table_key(Key key, char letter) {
  const auto page = static_cast<std::ptrdiff_t>(page_);
  switch (key) {
    case Key::Up: return move(-1), UserRequest();
    case Key::Down: return move(1), UserRequest();
    case Key::PageUp: return move(-page), UserRequest();
    case Key::PageDown: return move(page), UserRequest();
    case Key::Home: return selected_ = 0, UserRequest();
    case Key::End: return move(static_cast<std::ptrdiff_t>(rows_.size())), UserRequest();
    case Key::Enter: return on_letter('l');
    case Key::Other: return on_letter(letter);
    case Key::Escape:
    case Key::Erase: return {};
  }
  return {};
}

UserRequest Screen::on_letter(char letter) {
  constexpr string_view kOrders = "orcmsb";
  if (const std::size_t order = kOrders.find(letter); order != string_view::npos) {
    order_ = static_cast<Order>(order);
    selected_ = 0;
    rows_ = rows_of(job_, order_, folds_ ? page_ : job_.ranks.size());
    return {};
  }
  const std::vector<std::size_t> ranks = selected();
  switch (letter) {
    case 'q': return Leave{};
    case 'h':
    case '?': return show_text("Keys", kHelp), UserRequest();
    case 'f':
      folds_ = !folds_;
      selected_ = 0;
      rows_ = rows_of(job_, order_, folds_ ? page_ : job_.ranks.size());
      return {};
    case 'l':
      if (ranks.empty()) return {};
      return ShowLogs{ranks.front()};
    case 't': return ShowStacks{};
    case 'S': return ask("Stop the job " + ascii(job_.id) + "?", StopJob{}), UserRequest();
    case 'k':
      if (ranks.empty()) return {};
      mode_ = Mode::SignalName;
      typed_.clear();
      return {};
    default: return {};
  }
}

void Screen::on_text_key(Key key, char letter) {
  const std::size_t most = text_.size() > page_ ? text_.size() - page_ : 0;
  switch (key) {
    case Key::Up: top_line_ -= top_line_ > 0 ? 1 : 0; return;
    case Key::Down: top_line_ = std::min(top_line_ + 1, most); return;
    case Key::PageUp: top_line_ -= std::min(top_line_, page_); return;
    case Key::PageDown: top_line_ = std::min(top_line_ + page_, most); return;
    case Key::Home: top_line_ = 0; return;
    case Key::End: top_line_ = most; return;
    case Key::Enter:
    case Key::Escape: mode_ = Mode::Table; return;
    case Key::Other:
      if (letter == 'q') mode_ = Mode::Table;
      return;
    case Key::Erase: return;
  }
}

void Screen::ask(std::string question, UserRequest request) {
  mode_ = Mode::Question;
  question_ = std::move(question);
  asked_ = std::move(request);
}

// Only y is yes.
UserRequest Screen::on_answer(char letter) {
  mode_ = Mode::Table;
  return letter == 'y' ? std::exchange(asked_, {}) : UserRequest();
}

UserRequest Screen::on_name_key(Key key, char letter) {
  constexpr std::size_t kLongest = 12;
  if (key == Key::Escape) mode_ = Mode::Table;
  if (key == Key::Erase && !typed_.empty()) typed_.pop_back();
  const bool is_part = key == Key::Other && std::isalnum(static_cast<unsigned char>(letter)) != 0;
  if (is_part && typed_.size() < kLongest)
    typed_ += static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  if (key != Key::Enter) return {};
  mode_ = Mode::Table;
  const std::optional<int> signo = signal_number(typed_);
  if (!signo) return print("\"" + typed_ + "\" is no signal"), UserRequest();
  const std::string ranks = numbers_text(selected());
  ask(fmt::format("Send {} to rank{} {}?", signal_name(*signo), selected().size() > 1 ? "s" : "", ranks),
      SendSignal{*signo, ranks});
  return {};
}

// ---- drawing

std::vector<Line> Screen::draw(std::size_t columns, std::size_t lines) {
  std::vector<Line> out;
  if (columns < kFewestColumns || lines < kFewestLines) {
    out.push_back({"too small", Style::Title});
  } else {
    draw_head(out);
    const std::size_t left = lines - 1;  // for all but the foot
    if (mode_ == Mode::Text) {
      draw_text(out, left);
    } else {
      draw_table(out, left);
    }
    out.resize(left);
    out.push_back(foot());
  }
  out.resize(lines);
  for (Line& line : out) {
    line.text = cut(std::move(line.text), columns);
    if (line.style == Style::Title || line.style == Style::Selected) line.text.resize(columns, ' ');
  }
  return out;
}

void Screen::draw_head(std::vector<Line>& out) const {
  if (!has_job_) {
    out.push_back({"sml-run top: the job is asked", Style::Title});
    return;
  }
  const auto count = [this](string_view state) {
    return std::count_if(job_.ranks.begin(), job_.ranks.end(),
                         [&](const RankState& rank) { return rank.state == state; });
  };
  std::string head =
      fmt::format("{}  {}  {}", ascii(job_.id), ended_ ? "ended" : ascii(job_.state, 20), seconds_text(job_.age_s));
  if (job_.attempt > 1) head += fmt::format("  attempt {}", job_.attempt);
  if (job_.goodput) head += fmt::format("  goodput {:.1f} %", *job_.goodput * 100);
  head += fmt::format("  hosts {}  ranks {}", job_.hosts.size(), job_.ranks.size());
  std::string states;
  for (const string_view state : {"waiting", "running", "finished", "failed", "stopped", "lost"}) {
    if (const auto n = count(state); n > 0) states += fmt::format("{}{} {}", states.empty() ? "" : ", ", n, state);
  }
  out.push_back({std::move(head), Style::Title});
  out.push_back(
      {states + "  |  " + ascii(job_.command), count("failed") + count("lost") > 0 ? Style::Bad : Style::Plain});
}

// The hosts that are not well first, and then those with the most memory in use.
void Screen::draw_hosts(std::vector<Line>& out, std::size_t most) const {
  std::vector<const HostState*> hosts;
  for (const HostState& host : job_.hosts) hosts.push_back(&host);
  const auto weight_of = [](const HostState* host) {
    if (host->state == "failed") return 2.0;
    return host->memory_size > 0 ? static_cast<double>(host->memory_used) / static_cast<double>(host->memory_size)
                                 : -1.0;
  };
  std::stable_sort(hosts.begin(), hosts.end(), [&](auto* a, auto* b) { return weight_of(a) > weight_of(b); });
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (i + 1 >= most && hosts.size() > most) {
      out.push_back({fmt::format("  and {} more hosts", hosts.size() - i), Style::Faint});
      return;
    }
    const HostState& host = *hosts[i];
    std::string line = fmt::format("  {:<{}} {:<9}", ascii(host.name, kNameWidth), kNameWidth, ascii(host.state, 9));
    if (host.memory_size > 0) {
      line += fmt::format(" memory {} of {}", short_bytes(static_cast<double>(host.memory_used)),
                          short_bytes(static_cast<double>(host.memory_size)));
    }
    if (!host.busy_percent.empty()) {
      double sum = 0;
      for (const double percent : host.busy_percent) sum += percent;
      line += fmt::format("  {} {:.0f} %", pluralize(host.busy_percent.size(), "accelerator"),
                          sum / static_cast<double>(host.busy_percent.size()));
    }
    if (!host.detail.empty()) line += "  " + ascii(host.detail);
    out.push_back({std::move(line), host.state == "failed" ? Style::Bad : Style::Plain});
  }
}

void Screen::draw_table(std::vector<Line>& out, std::size_t lines) {
  draw_hosts(out, std::max<std::size_t>(1, (lines - out.size()) / 4));
  out.push_back({table_line({"RANK", "HOST", "PID", "CPU %", "MEMORY", "OUT/S", "SILENT", "STATE"}), Style::Title});
  const std::size_t room = lines > out.size() ? lines - out.size() : 1;
  if (room != page_) {
    page_ = room;
    rows_ = rows_of(job_, order_, folds_ ? page_ : job_.ranks.size());
  }
  move(0);
  if (selected_ < top_row_) top_row_ = selected_;
  if (selected_ >= top_row_ + page_) top_row_ = selected_ - page_ + 1;
  top_row_ = std::min(top_row_, rows_.size() > page_ ? rows_.size() - page_ : 0);
  for (std::size_t i = top_row_; i < std::min(rows_.size(), top_row_ + page_); ++i) {
    Line line = line_of(rows_[i]);
    if (i == selected_) line.style = Style::Selected;
    out.push_back(std::move(line));
  }
}

Line Screen::line_of(const Row& row) const {
  const RankState& first = job_.ranks[row.ranks.front()];
  const bool one_host = std::all_of(row.ranks.begin(), row.ranks.end(),
                                    [&](std::size_t number) { return job_.ranks[number].host == first.host; });
  const auto whole = [](double value) { return fmt::format("{:.0f}", value); };
  const auto cpu_of = [](const RankState& rank) { return rank.cpu_percent; };
  const auto memory_of = [](const RankState& rank) {
    return rank.memory ? std::optional(static_cast<double>(*rank.memory)) : std::nullopt;
  };
  const auto rate_of = [](const RankState& rank) { return std::optional(rank.output_rate); };
  const auto silence_of = [](const RankState& rank) { return rank.silent_s; };
  std::string state = row.is_folded() ? fmt::format("{} {}", row.ranks.size(), first.state) : first.state;
  if (!row.is_folded() && !first.status.empty()) state = first.status;
  return {table_line({cut(numbers_text(row.ranks), kRanksWidth), one_host ? ascii(first.host, kHostWidth) : "*",
                      row.is_folded() || first.pid <= 0 ? "-" : std::to_string(first.pid),
                      range_text(job_, row, kCpuWidth, cpu_of, whole),
                      range_text(job_, row, kBytesWidth, memory_of, short_bytes),
                      range_text(job_, row, kRateWidth, rate_of, short_bytes),
                      range_text(job_, row, kSilentWidth, silence_of, seconds_text), ascii(state)}),
          is_bad(first) ? Style::Bad : Style::Plain};
}

void Screen::draw_text(std::vector<Line>& out, std::size_t lines) {
  out.push_back({ascii(title_), Style::Title});
  page_ = lines > out.size() ? lines - out.size() : 1;
  for (std::size_t i = top_line_; i < std::min(text_.size(), top_line_ + page_); ++i) out.push_back({text_[i]});
}

Line Screen::foot() const {
  if (mode_ == Mode::Question) return {question_ + " (y/n)", Style::Title};
  if (mode_ == Mode::SignalName) {
    return {fmt::format("Signal for rank {} (such as USR1): {}_", numbers_text(selected()), typed_), Style::Title};
  }
  if (!note_.empty()) return {note_, Style::Title};
  if (ended_) return {*ended_ + "  (q leaves)", Style::Title};
  if (mode_ == Mode::Text) return {"escape: back", Style::Faint};
  return {fmt::format("?: keys  l: lines  t: stacks  k: signal  S: stop  f: {}  order: {}",
                      folds_ ? "list all" : "fold", name(order_)),
          Style::Faint};
}

}  // namespace sml::top

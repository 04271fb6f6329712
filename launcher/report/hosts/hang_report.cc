#include "launcher/report/hosts/hang_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "common/core/rank_set.h"
#include "common/core/text.h"
#include "launcher/report/hosts/stack_text.h"
#include "launcher/report/live/status_text.h"
#include "launcher/report/rank_words.h"

namespace sml::report {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestFrame = 200;  // bytes of a frame
constexpr std::size_t kShownFrames = 12;    // frames per place
constexpr std::size_t kShownPlaces = 16;    // places with their stacks
constexpr std::size_t kWidest = 24;         // width of the columns for ranks and hosts
constexpr std::size_t kTableWidth = 71;     // 80 columns less "sml-run: "

const ThreadTrace& main_thread(const RankTrace& trace) {
  static const ThreadTrace none;
  return trace.process.threads.empty() ? none : trace.process.threads.front();
}

// The frames of a rank's main thread, innermost first.
std::vector<std::string> stack_of(const RankTrace& trace) {
  return trace.process.stacks.empty() ? std::vector<std::string>()
                                      : main_frames(trace.process.tool, trace.process.stacks);
}

// The ranks at one place.
struct Place {
  RankSet ranks;
  std::vector<const RankTrace*> members;
  std::vector<std::string> stack;  // empty: no tool has provided it
  std::string where;
};

// The kernel's description that all members share, without the peer if that differs; empty if none is shared.
std::string kernel_word(const Place& place) {
  const auto shared = [&place](auto describe) {
    const std::string first = describe(main_thread(*place.members.front()));
    const bool same = std::all_of(place.members.begin(), place.members.end(),
                                  [&](const RankTrace* one) { return describe(main_thread(*one)) == first; });
    return same ? first : std::string();
  };
  const std::string exactly = shared(kernel_place);
  return exactly.empty() ? shared(kernel_place_of_any) : exactly;
}

std::string where_of(const Place& place) {
  std::string word = kernel_word(place);
  if (place.stack.empty()) return word;
  return place.stack.front() + (word.empty() ? "" : ", in " + word);
}

// Sorted by size, the largest first.
std::vector<Place> places_of(const Traces& traces) {
  std::map<std::string, Place> by_key;
  for (const RankTrace& trace : traces.ranks) {
    std::vector<std::string> stack = stack_of(trace);
    std::string key;
    for (const std::string& frame : stack) key += frame + "\n";
    if (stack.empty()) key = kernel_place_of_any(main_thread(trace));
    Place& place = by_key[key];
    place.ranks.add(trace.rank.value());
    place.members.push_back(&trace);
    place.stack = std::move(stack);
  }
  std::vector<Place> out;
  for (auto& [key, place] : by_key) {
    place.where = where_of(place);
    out.push_back(std::move(place));
  }
  std::stable_sort(out.begin(), out.end(), [](const Place& a, const Place& b) {
    if (a.members.size() != b.members.size()) return a.members.size() > b.members.size();
    return a.members.front()->rank < b.members.front()->rank;
  });
  return out;
}

std::string hosts_of(const Place& place) {
  std::vector<std::string> names;
  for (const RankTrace* one : place.members) {
    if (std::find(names.begin(), names.end(), one->host) == names.end()) names.push_back(one->host);
  }
  return show(fold_names(names), kWidest);
}

std::string states_of(const Place& place) {
  std::string out;
  for (const RankTrace* one : place.members) {
    const std::string_view word = state_word(main_thread(*one).state);
    if (out.find(word) == std::string::npos) out += (out.empty() ? "" : ", ") + std::string(word);
  }
  return out;
}

std::string quiet_of(const Place& place) {
  const auto [least, most] = std::minmax_element(place.members.begin(), place.members.end(),
                                                 [](const auto* a, const auto* b) { return a->quiet < b->quiet; });
  const std::string from = clock_text((*least)->quiet);
  const std::string to = clock_text((*most)->quiet);
  return from == to ? from : from + "-" + to;
}

// Whether the stack of the place is shown below the table.
bool is_shown(const std::vector<Place>& places, std::size_t i) {
  return i < kShownPlaces && places[i].stack.size() >= 2;
}

void add_table(const std::vector<Place>& places, std::vector<std::string>& out) {
  std::size_t columns[] = {5, 5, 5, 5};
  std::vector<std::vector<std::string>> rows{{"RANKS", "HOSTS", "STATE", "QUIET", "WHERE"}};
  for (const Place& place : places) {
    rows.push_back({show(place.ranks.text(), kWidest), hosts_of(place), states_of(place), quiet_of(place),
                    show(place.where, kLongestFrame)});
    for (std::size_t i = 0; i < std::size(columns); ++i) columns[i] = std::max(columns[i], rows.back()[i].size());
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::vector<std::string>& row = rows[i];
    const std::string line = fmt::format("  {:<{}}  {:<{}}  {:<{}}  {:>{}}  {}", row[0], columns[0], row[1], columns[1],
                                         row[2], columns[2], row[3], columns[3], row[4]);
    out.push_back(i > 0 && is_shown(places, i - 1) ? cut_lines(line, kTableWidth) : line);
  }
}

void add_odd_ones(const std::vector<Place>& places, std::size_t ranks, const plan::JobMap& map,
                  std::vector<std::string>& out) {
  if (places.size() < 2 || places.front().members.size() * 2 <= ranks) return;
  for (std::size_t i = 1; i < std::min(places.size(), kShownPlaces); ++i) {
    if (places.front().stack.empty() && !places[i].stack.empty()) continue;  // most ranks have no stack to compare with
    const RankSet& odd = places[i].ranks;
    out.push_back(ranks_in_words(odd, map) + (odd.size() == 1 ? " differs" : " differ") +
                  " from most: " + show(places[i].where, kLongestFrame));
  }
}

void add_stacks(const std::vector<Place>& places, std::vector<std::string>& out) {
  for (std::size_t i = 0; i < std::min(places.size(), kShownPlaces); ++i) {
    const Place& place = places[i];
    if (!is_shown(places, i)) continue;
    out.push_back((place.ranks.size() == 1 ? "rank " : "ranks ") + show(place.ranks.text(), kLongestFrame) + ":");
    for (std::size_t frame = 0; frame < std::min(place.stack.size(), kShownFrames); ++frame) {
      out.push_back("    " + show(place.stack[frame], kLongestFrame));
    }
    if (place.stack.size() > kShownFrames) {
      out.push_back(fmt::format("    and {} more", place.stack.size() - kShownFrames));
    }
  }
  if (places.size() > kShownPlaces) out.push_back(fmt::format("and {} places more", places.size() - kShownPlaces));
}

// Python was read by a tool that does not know it.
bool shows_interpreter(const RankTrace& trace) {
  return trace.process.tool != "py-spy" && trace.process.stacks.find("_PyEval_") != std::string::npos;
}

// A Python program of which no tool has read the lines.
bool lacks_python_lines(const RankTrace& trace) {
  return trace.process.stacks.empty() && trace.process.command.find("python") != std::string::npos;
}

// Adds the reasons why stacks are missing.
void add_faults(const Traces& traces, std::vector<std::string>& out) {
  std::map<std::string, RankSet> faults;
  bool nobody = !traces.ranks.empty();
  for (const RankTrace& trace : traces.ranks) {
    nobody = nobody && trace.process.tool.empty();
    if (!trace.process.fault.empty()) faults[trace.process.fault].add(trace.rank.value());
  }
  for (const auto& [why, ranks] : faults) {
    out.push_back("no stack of " + std::string(ranks.size() == 1 ? "rank " : "ranks ") +
                  show(ranks.text(), kLongestFrame) + ": " + show(why, kLongestFrame));
  }
  if (nobody) out.push_back("this is from the kernel alone; with py-spy or gdb on the hosts there are stacks, too");
  if (!traces.ranks.empty() && std::all_of(traces.ranks.begin(), traces.ranks.end(), lacks_python_lines)) {
    out.push_back(
        "hint: install py-spy on the hosts for lines of Python, or use --warn-silent D --on-silent stop, at which "
        "Python "
        "prints them by itself");
  }
  if (std::any_of(traces.ranks.begin(), traces.ranks.end(), shows_interpreter)) {
    out.push_back(
        "these are frames of the Python interpreter; with py-spy on the hosts there are those of your program");
  }
  if (!traces.silent.empty()) out.push_back("no answer in time from " + show(fold_names(traces.silent), kLongestFrame));
}

// Escapes the text, so that any bytes become printable.
std::string clean(const std::string& text) { return show(text, std::string::npos); }

std::string clean_lines(const std::string& text) {
  std::string out;
  for (const std::string_view line : split(text, '\n')) out += show(line, std::string::npos) + "\n";
  return out;
}

}  // namespace

std::vector<std::string> hang_table(const std::string& title, const Traces& traces, const plan::JobMap& map) {
  std::vector<std::string> out{title + ":"};
  const std::vector<Place> places = places_of(traces);
  if (places.empty()) {
    out.emplace_back("  no rank runs");
  } else {
    add_table(places, out);
  }
  add_odd_ones(places, traces.ranks.size(), map, out);
  add_stacks(places, out);
  add_faults(traces, out);
  return out;
}

std::string rank_details(const RankTrace& trace) {
  const ProcessTrace& process = trace.process;
  std::string out =
      fmt::format("rank {} on {}\npid {}: {}\nstate {}, quiet for {:.1f} s, CPU time {:.2f} s\n", trace.rank.value(),
                  clean(trace.host), process.pid, clean(process.command), state_word(main_thread(trace).state),
                  in_seconds(trace.quiet), static_cast<double>(process.cpu_ms) / 1000);
  out += fmt::format("\n{} connections by TCP\n", process.socket_count);
  for (const std::string& peer : process.sockets) out += "  to " + clean(peer) + "\n";
  out += fmt::format("\n{} threads\n", process.thread_count);
  for (const ThreadTrace& thread : process.threads) {
    out += fmt::format("  {} {}: {}, in {}, wait channel {}, system call {}\n", thread.tid, clean(thread.name),
                       state_word(thread.state), clean(kernel_place(thread)),
                       thread.wait_channel.empty() ? "-" : clean(thread.wait_channel),
                       thread.system_call.empty() ? "-" : clean(thread.system_call));
    if (!thread.kernel_stack.empty()) out += clean_lines(thread.kernel_stack);
  }
  if (!process.fault.empty()) out += "\nno stacks: " + clean(process.fault) + "\n";
  if (!process.stacks.empty()) out += "\nstacks by " + clean(process.tool) + "\n" + clean_lines(process.stacks);
  return out;
}

std::string hang_json(const std::string& job_id, const Traces& traces) {
  const auto text = [](const std::string& bytes) { return clean(bytes); };
  Json ranks = Json::array();
  for (const RankTrace& trace : traces.ranks) {
    const ProcessTrace& process = trace.process;
    Json threads = Json::array();
    for (const ThreadTrace& thread : process.threads) {
      threads.push_back({{"tid", thread.tid},
                         {"name", text(thread.name)},
                         {"state", state_word(thread.state)},
                         {"where", text(kernel_place(thread))},
                         {"wait_channel", text(thread.wait_channel)}});
    }
    Json stack = Json::array();
    for (const std::string& frame : stack_of(trace)) stack.push_back(text(frame));
    Json sockets = Json::array();
    for (const std::string& peer : process.sockets) sockets.push_back(text(peer));
    ranks.push_back({{"rank", trace.rank.value()},
                     {"host", text(trace.host)},
                     {"pid", process.pid},
                     {"state", state_word(main_thread(trace).state)},
                     {"quiet_seconds", in_seconds(trace.quiet)},
                     {"cpu_seconds", static_cast<double>(process.cpu_ms) / 1000},
                     {"where", text(stack.empty() ? kernel_place(main_thread(trace)) : stack_of(trace).front())},
                     {"tool", text(process.tool)},
                     {"stack", stack},
                     {"fault", text(process.fault)},
                     {"connections", process.socket_count},
                     {"peers", sockets},
                     {"thread_count", process.thread_count},
                     {"threads", threads}});
  }
  Json places = Json::array();
  for (const Place& place : places_of(traces)) {
    places.push_back({{"ranks", place.ranks.text()}, {"where", text(place.where)}});
  }
  Json silent = Json::array();
  for (const std::string& host : traces.silent) silent.push_back(text(host));
  return Json{{"job", text(job_id)}, {"places", places}, {"ranks", ranks}, {"no_answer", silent}}.dump(2);
}

}  // namespace sml::report

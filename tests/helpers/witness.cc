// A worker that writes down what its launcher gave it, as JSON in the folder "seen" beside this program, one file for
// each process: host, arguments, environment, working directory, processors, rank. Then it does what arguments of the
// form
// @WORD[:VALUE[:RANK]] tell it, in their order; RANK limits that to one rank. It counts on nothing but the standard C
// library, so that it starts in a millisecond under every launcher.
//
//   @out:TEXT @err:TEXT   writes "TEXT RANK~" and a newline; "~" marks what workers wrote
//   @part:TEXT            writes "TEXT~" without an end of line on stdout
//   @stdin[:RANK]         reads standard input to its end, and writes down its bytes
//   @all:N                until N processes have written down what they saw
//   @exit:N @kill:N       ends with status N, by signal N
//   @wait                 until somebody ends it
//
// No time limit ends it: lines.py ends a line that hangs, and what a line leaves.
#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

// JSON wants UTF-8, and bytes are what is seen: all but printable ASCII is escaped as the code point of the byte.
std::string in_json(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 32 || byte > 126 || c == '"' || c == '\\') {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(byte));
      out += escape.data();
    } else {
      out += c;
    }
  }
  return out + "\"";
}

template <class Words>
std::string list(const Words& words) {
  std::string out = "[";
  for (const auto& word : words) out += (out.size() > 1 ? "," : "") + in_json(word);
  return out + "]";
}

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

std::string read_all(int fd) {
  std::string out;
  std::array<char, 4096> piece{};
  for (ssize_t n = 0; (n = ::read(fd, piece.data(), piece.size())) > 0;) {
    out.append(piece.data(), static_cast<std::size_t>(n));
  }
  return out;
}

std::string rank_of_launcher() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "HOROVOD_RANK", "RANK", "SLURM_PROCID"}) {
    if (const char* value = std::getenv(name)) return value;
  }
  return "";
}

std::vector<std::string> processors() {
  std::vector<std::string> out;
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return out;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) out.push_back(std::to_string(cpu));
  }
  return out;
}

std::string folder_of_this_program() {
  std::array<char, PATH_MAX> path{};
  const ssize_t n = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
  const std::string_view whole(path.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  return std::string(whole.substr(0, whole.rfind('/')));
}

void await_others(std::size_t wanted) {
  const auto seen = [] {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_of_this_program() + "/seen")) {
      count += entry.path().extension() == ".json" ? 1 : 0;
    }
    return count;
  };
  while (seen() < wanted) ::usleep(10'000);
}

struct Order {
  std::string_view word;
  std::string value;
  std::string rank;
};

Order order_of(std::string_view word) {
  Order out;
  const auto cut = [&word] {
    const std::string_view part = word.substr(0, word.find(':'));
    word.remove_prefix(std::min(word.size(), part.size() + 1));
    return part;
  };
  out.word = cut();
  out.value = cut();
  out.rank = cut();
  return out;
}

void obey(const Order& order, const std::string& rank) {
  if (!order.rank.empty() && order.rank != rank) return;
  if (order.word == "@out") write_all(1, order.value + " " + rank + "~\n");
  if (order.word == "@err") write_all(2, order.value + " " + rank + "~\n");
  if (order.word == "@part") write_all(1, order.value + "~");
  if (order.word == "@all") await_others(static_cast<std::size_t>(std::atoi(order.value.c_str())));
  if (order.word == "@exit") ::_exit(std::atoi(order.value.c_str()));
  if (order.word == "@kill") {
    ::prctl(PR_SET_DUMPABLE, 0);  // no core file
    ::signal(std::atoi(order.value.c_str()), SIG_DFL);
    ::raise(std::atoi(order.value.c_str()));
  }
  if (order.word == "@wait") ::pause();
}

}  // namespace

int main(int argc, char** argv, char** environment) {
  const std::vector<std::string> arguments(argv, argv + argc);
  std::vector<std::string> variables;
  for (char** entry = environment; *entry != nullptr; ++entry) variables.emplace_back(*entry);
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  std::array<char, PATH_MAX> cwd{};
  if (::getcwd(cwd.data(), cwd.size()) == nullptr) cwd[0] = 0;
  const std::string rank = rank_of_launcher();

  std::string told = "{\"host\":" + in_json(host.data()) + ",\"rank\":" + in_json(rank) +
                     ",\"argv\":" + list(arguments) + ",\"env\":" + list(variables) +
                     ",\"cwd\":" + in_json(cwd.data()) + ",\"cpus\":" + list(processors());
  const auto reads_input = [&rank](const std::string& word) { return word == "@stdin" || word == "@stdin:" + rank; };
  const bool reads = std::any_of(arguments.begin(), arguments.end(), reads_input);
  if (reads) told += ",\"stdin\":" + in_json(read_all(0));
  told += "}\n";

  const std::string name = folder_of_this_program() + "/seen/" + host.data() + "." + std::to_string(::getpid());
  const int file = ::open((name + ".new").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  write_all(file, told);
  ::close(file);
  if (std::rename((name + ".new").c_str(), (name + ".json").c_str()) != 0) return 99;
  for (const std::string& word : arguments) {
    if (word.starts_with('@')) obey(order_of(word), rank);
  }
  return 0;
}

// A worker that tests start: tells what it was given, and misbehaves when asked to.
//
//   probe show WHAT[,WHAT...] [ARGS...]   argv env cwd fds signals session umask host, as "NAME" and "  HEX" lines
//   probe ignore-term [SIGNAL...]         says "ready", then only SIGKILL ends it
//   probe daemon closed|holding [STATUS]  leaves a process behind that has left session and parent; exits with STATUS
//   probe signal N                        dies of signal N
//   probe stop                            says "ready" and stops itself
//   probe flood                           writes until it cannot
//   probe lines COUNT LONGEST             COUNT lines on each stream, lengths and bytes made from RANK
//   probe check RANKS COUNT LONGEST out|err   reads merged "[RANK] " lines of the above; exits 0 when each line is
//   there
//                                             once, unbroken, and behind the earlier ones of its rank
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using Words = std::vector<std::string>;

[[noreturn]] void die(const std::string& why) {
  std::cerr << "probe: " << why << std::endl;
  std::exit(99);
}

std::uint64_t number(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) die("'" + text + "' is no number");
  return value;
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

// ---- show

std::string hex(std::string_view bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    out += digits[static_cast<unsigned char>(c) >> 4];
    out += digits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

// No line is longer than what a launcher must keep whole.
void tell(std::string& out, const std::string& name, std::string_view value) {
  constexpr std::size_t kPiece = 16000;
  out += name + "\n";
  for (; !value.empty(); value.remove_prefix(std::min(kPiece, value.size()))) {
    out += "  " + hex(value.substr(0, kPiece)) + "\n";
  }
}

void show_descriptors(std::string& out) {
  namespace fs = std::filesystem;
  for (int fd = 0; fd < 4096; ++fd) {
    std::error_code error;
    const fs::path target = fs::read_symlink("/proc/self/fd/" + std::to_string(fd), error);
    if (!error) tell(out, "fd " + std::to_string(fd), target.native());
  }
}

void show_signals(std::string& out) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("SigBlk") || line.starts_with("SigIgn")) tell(out, line.substr(0, 6), line.substr(8));
  }
}

void show_session(std::string& out) {
  tell(out, "pid", std::to_string(::getpid()));
  tell(out, "ppid", std::to_string(::getppid()));
  tell(out, "pgid", std::to_string(::getpgrp()));
  tell(out, "sid", std::to_string(::getsid(0)));
  const int tty = ::access("/dev/tty", R_OK) == 0 ? (std::fopen("/dev/tty", "r") != nullptr) : 0;
  tell(out, "tty", tty != 0 ? "yes" : "no");
}

int show(const Words& words, char** environment) {
  if (words.empty()) die("show what?");
  std::string out;
  const std::string what = "," + words[0] + ",";
  const auto wanted = [&](const char* name) { return what.find("," + std::string(name) + ",") != std::string::npos; };
  if (wanted("fds")) show_descriptors(out);  // first, before anything is opened
  if (wanted("argv")) {
    tell(out, "args", std::to_string(words.size() - 1));
    for (std::size_t i = 1; i < words.size(); ++i) tell(out, "arg", words[i]);
  }
  if (wanted("env")) {
    for (char** entry = environment; *entry != nullptr; ++entry) tell(out, "env", *entry);
  }
  if (wanted("cwd")) {
    std::array<char, PATH_MAX> cwd{};
    tell(out, "cwd", ::getcwd(cwd.data(), cwd.size()) != nullptr ? cwd.data() : std::strerror(errno));
  }
  if (wanted("signals")) show_signals(out);
  if (wanted("session")) show_session(out);
  if (wanted("umask")) {
    const mode_t mask = ::umask(0);
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), "%03o", static_cast<unsigned>(mask));
    tell(out, "umask", text.data());
  }
  if (wanted("host")) {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    tell(out, "host", name.data());
  }
  return write_all(1, out) ? 0 : 1;
}

// ---- misbehaving

[[noreturn]] void sleep_for_ever() {
  for (;;) ::pause();
}

int ignore_term(const Words& words) {
  ::signal(SIGTERM, SIG_IGN);
  for (const std::string& word : words) ::signal(static_cast<int>(number(word)), SIG_IGN);
  write_all(1, "ready\n");
  sleep_for_ever();
}

int leave_daemon(const Words& words) {
  if (words.empty()) die("daemon closed|holding [STATUS]");
  std::array<int, 2> ready{};
  if (::pipe(ready.data()) != 0) die("pipe");
  if (::fork() == 0) {
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    if (words[0] == "closed") {
      for (int fd = 0; fd < 3; ++fd) ::close(fd);
    }
    ::close(ready[0]);
    ::close(ready[1]);  // says that all is done
    sleep_for_ever();
  }
  ::close(ready[1]);
  char byte = 0;
  while (::read(ready[0], &byte, 1) < 0 && errno == EINTR) {
  }
  write_all(1, "daemon runs\n");
  return words.size() > 1 ? static_cast<int>(number(words[1])) : 0;
}

int die_of(const Words& words) {
  const int signo = static_cast<int>(number(words.at(0)));
  ::prctl(PR_SET_DUMPABLE, 0);  // no core file
  ::signal(signo, SIG_DFL);
  ::raise(signo);
  sleep_for_ever();
}

int stop() {
  write_all(1, "ready\n");
  ::raise(SIGSTOP);
  sleep_for_ever();
}

int flood() {
  std::string lines;
  for (int i = 0; i < 640; ++i)
    lines += "a line of a hundred bytes or so, of which there are many, one like the other, without any end to them\n";
  while (write_all(1, lines)) {
  }
  return 1;
}

// ---- lines and check

class Random {
 public:
  Random(std::uint64_t rank, std::uint64_t stream, std::uint64_t index)
      : state_((rank + 1) * 0x9E3779B97F4A7C15U ^ (stream + 1) * 0xBF58476D1CE4E5B9U ^
               (index + 1) * 0x94D049BB133111EBU) {
    for (int i = 0; i < 4; ++i) next();
  }
  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }

 private:
  std::uint64_t state_;
};

// Any byte but newline; in most lines no carriage return either, which would make short lines of all long ones.
std::string make_line(std::uint64_t rank, std::uint64_t stream, std::uint64_t index, std::uint64_t longest) {
  Random random(rank, stream, index);
  const std::uint64_t length = random.next() % 16 == 0 ? random.next() % longest : random.next() % 160;
  const bool with_returns = random.next() % 8 == 0;
  std::string line = std::to_string(index) + " ";
  std::size_t at = line.size();
  line.resize(std::max<std::size_t>(at, length));
  while (at < line.size()) {  // many bytes at once: there are gigabytes of them
    const std::uint64_t bytes = random.next();
    const std::size_t size = std::min(sizeof bytes, line.size() - at);
    std::memcpy(line.data() + at, &bytes, size);
    at += size;
  }
  const char unwanted = with_returns ? '\n' : '\r';
  for (char& c : line) c = c == '\n' || c == unwanted ? ' ' : c;
  return line + "\n";
}

int lines(const Words& words) {
  const char* rank_text = std::getenv("RANK");
  if (words.size() != 2 || rank_text == nullptr) die("lines COUNT LONGEST, with RANK in the environment");
  const std::uint64_t rank = number(rank_text);
  std::array<std::string, 2> unsent;
  Random random(rank, 7, 7);
  for (std::uint64_t i = 0; i < number(words[0]); ++i) {
    for (std::uint64_t stream = 0; stream < 2; ++stream) {
      std::string& buffer = unsent[stream];
      buffer += make_line(rank, stream, i, number(words[1]));
      if (random.next() % 4 != 0) continue;
      const std::size_t piece = random.next() % (buffer.size() + 1);  // ends anywhere within a line
      if (!write_all(static_cast<int>(stream) + 1, std::string_view(buffer).substr(0, piece))) return 1;
      buffer.erase(0, piece);
    }
  }
  return write_all(1, unsent[0]) && write_all(2, unsent[1]) ? 0 : 1;
}

// What one rank wrote on a stream, held against what is read of it.
class Expected {
 public:
  Expected(std::uint64_t rank, std::uint64_t stream, std::uint64_t longest)
      : rank_(rank), stream_(stream), longest_(longest), line_(make_line(rank, stream, 0, longest)) {}

  // `text` was read behind a tag, up to the end of a line; false when the rank has not written that there.
  bool take(std::string_view text) {
    constexpr std::string_view kContinues = "[...]";
    constexpr std::size_t kMaxLine = 65536;
    if (continued_) {
      if (!text.starts_with(kContinues)) return false;
      text.remove_prefix(kContinues.size());
    }
    const std::string_view rest = std::string_view(line_).substr(at_);
    continued_ = !rest.starts_with(text);
    if (continued_) {  // then it is a piece of a line that is too long to be whole
      if (!text.ends_with("[...]\n")) return false;
      text.remove_suffix(kContinues.size() + 1);
      if (text.size() <= kMaxLine || !rest.starts_with(text)) return false;
    }
    at_ += text.size();
    if (at_ < line_.size()) return true;
    line_ = make_line(rank_, stream_, ++lines_, longest_);
    at_ = 0;
    return true;
  }
  std::uint64_t lines() const { return lines_; }
  bool between_lines() const { return at_ == 0; }

 private:
  std::uint64_t rank_;
  std::uint64_t stream_;
  std::uint64_t longest_;
  std::uint64_t lines_ = 0;
  std::string line_;  // the present one, with its end
  std::size_t at_ = 0;
  bool continued_ = false;
};

// One tagged line, or piece of one, with its end.
void check_line(std::string_view text, std::vector<Expected>& ranks, std::uint64_t at) {
  const std::string where = "line " + std::to_string(at);
  const std::size_t close = text.find("] ");
  if (!text.starts_with("[") || close == std::string_view::npos || close > 6) die(where + " has no tag");
  const std::uint64_t rank = number(std::string(text.substr(1, close - 1)));
  if (rank >= ranks.size()) die(where + " is of no rank");
  if (ranks[rank].take(text.substr(close + 2))) return;
  die(where + " is not line " + std::to_string(ranks[rank].lines()) + " of rank " + std::to_string(rank));
}

int check(const Words& words) {
  if (words.size() != 4) die("check RANKS COUNT LONGEST out|err");
  const std::uint64_t stream = words[3] == "err" ? 1 : 0;
  std::vector<Expected> ranks;
  for (std::uint64_t rank = 0; rank < number(words[0]); ++rank) ranks.emplace_back(rank, stream, number(words[2]));
  std::ios::sync_with_stdio(false);
  std::uint64_t at = 0;
  for (std::string line; std::getline(std::cin, line);) {
    ++at;
    if (stream == 1 && line.starts_with("sml-run: ")) continue;
    line += '\n';
    for (std::string_view rest = line; !rest.empty();) {
      std::size_t end = std::min(rest.find('\r'), rest.size() - 1);
      if (rest.substr(end) == "\r\n") ++end;
      check_line(rest.substr(0, end + 1), ranks, at);
      rest.remove_prefix(end + 1);
    }
  }
  for (std::uint64_t rank = 0; rank < ranks.size(); ++rank) {
    if (ranks[rank].lines() != number(words[1]) || !ranks[rank].between_lines())
      die("rank " + std::to_string(rank) + " has " + std::to_string(ranks[rank].lines()) + " lines");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv, char** environment) {
  const Words words(argv + std::min(argc, 2), argv + argc);
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "show") return show(words, environment);
  if (command == "ignore-term") return ignore_term(words);
  if (command == "daemon") return leave_daemon(words);
  if (command == "signal") return die_of(words);
  if (command == "stop") return stop();
  if (command == "flood") return flood();
  if (command == "lines") return lines(words);
  if (command == "check") return check(words);
  die("unknown command");
}

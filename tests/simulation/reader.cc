#include "tests/simulation/reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "tests/simulation/host.h"

namespace sml::sim {

namespace {

int become(int fd) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0 || ::dup2(ends[1], fd) < 0) throw Broken{"no pipe can be made"};
  ::close(ends[1]);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return ends[0];
}

}  // namespace

Reader::Reader(Pace pace) : pace_(pace), wait_(pace.every) {
  out_.fd = become(STDOUT_FILENO);
  err_.fd = become(STDERR_FILENO);
}

Reader::~Reader() {
  close();
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  ::close(nowhere);
}

// Looks more and more seldom while nothing comes.
void Reader::begin() {
  static constexpr Duration kSeldom = std::chrono::milliseconds(500);
  world->after(wait_, [this, here = std::weak_ptr<bool>(here_)] {
    if (here.expired() || closed_) return;
    if (world->now() >= resumes_) wait_ = turn() ? pace_.every : std::min(wait_ * 2, kSeldom);
    begin();
  });
}

void Reader::close() {
  if (std::exchange(closed_, true)) return;
  ::close(out_.fd);
  ::close(err_.fd);
}

bool Reader::read(Pipe& pipe, std::size_t most) {
  static std::array<char, std::size_t{64} << 10> buffer;
  const ssize_t n = ::read(pipe.fd, buffer.data(), std::min(most, buffer.size()));
  if (n <= 0) return false;
  pipe.text.append(buffer.data(), static_cast<std::size_t>(n));
  take_lines(pipe);
  return true;
}

bool Reader::turn() {
  const bool out = read(out_, pace_.bytes);
  const bool err = read(err_, pace_.bytes);
  return out || err;
}

void Reader::read_rest() {
  if (closed_) return;
  for (Pipe* pipe : {&out_, &err_}) {
    while (read(*pipe, SIZE_MAX)) {
    }
    if (!pipe->text.empty()) take(std::exchange(pipe->text, {}));  // of a worker that was killed
  }
}

void Reader::take_lines(Pipe& pipe) {
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = pipe.text.find('\n', begin);
    if (end == std::string::npos) break;
    take(std::string_view(pipe.text).substr(begin, end - begin));
    begin = end + 1;
  }
  pipe.text.erase(0, begin);
}

void Reader::take(std::string_view line) {
  if (line.starts_with("sml-run: ")) {
    world->note(std::string(line));
    own_.emplace_back(line);
    return;
  }
  std::uint32_t rank = 0;
  std::uint64_t number = 0;
  const char* end = line.data() + line.size();
  const auto read_rank = std::from_chars(line.data(), end, rank);
  if (read_rank.ec != std::errc() || end - read_rank.ptr < 4) {
    ++ragged_;
    return;
  }
  const bool errors = read_rank.ptr[1] == 'e';
  const auto read_number = std::from_chars(read_rank.ptr + 3, end, number);
  std::uint64_t& expected = expected_[{Rank(rank), errors}];
  const bool next_attempt = number > expected && number % kLinesOfAttempt == 0;
  if (read_number.ec == std::errc() && (number == expected || next_attempt) &&
      (line_of(Rank(rank), errors, number, line.size() + 1) == std::string(line) + "\n" ||
       (errors && loss_line_of(Rank(rank), number) == std::string(line) + "\n"))) {
    expected = number + 1;
    ++lines_[{Rank(rank), errors}];
    return;
  }
  if (read_number.ptr == end) {  // cut within the number
    ++ragged_;
    return;
  }
  world->broken("line " + std::to_string(expected) + (errors ? " of errors" : "") + " of rank " + std::to_string(rank) +
                " was to come, and this did: " + std::string(line.substr(0, 60)));
}

std::uint64_t Reader::lines(Rank rank, bool errors) const {
  const auto found = lines_.find({rank, errors});
  return found == lines_.end() ? 0 : found->second;
}

}  // namespace sml::sim

// Who reads what sml-run prints: at a pace, and perhaps not to the end. Reads each line by what its rank must have
// said.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/core/strong.h"
#include "tests/simulation/world.h"

namespace sml::sim {

class Reader {
 public:
  struct Pace {
    Duration every = std::chrono::milliseconds(5);
    std::size_t bytes = std::size_t{64} << 10;
  };
  // Makes the two pipes our standard output and error.
  explicit Reader(Pace pace);
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  void begin();
  void pause(Duration time) { resumes_ = world->now() + time; }
  void close();  // both
  bool closed() const { return closed_; }
  void read_rest();  // nobody writes any more

  std::uint64_t lines(Rank rank, bool errors) const;
  const std::vector<std::string>& own_lines() const { return own_; }
  std::size_t ragged() const { return ragged_; }  // lines that were cut off

 private:
  struct Pipe {
    int fd = -1;
    std::string text;
  };
  bool turn();  // there was something
  bool read(Pipe& pipe, std::size_t most);
  void take_lines(Pipe& pipe);
  void take(std::string_view line);

  Pace pace_;
  Duration wait_;
  TimePoint resumes_;
  bool closed_ = false;
  Pipe out_;
  Pipe err_;
  std::map<std::pair<Rank, bool>, std::uint64_t> expected_;  // the number of the next
  std::map<std::pair<Rank, bool>, std::uint64_t> lines_;
  std::vector<std::string> own_;
  std::size_t ragged_ = 0;
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);
};

}  // namespace sml::sim

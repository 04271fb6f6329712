// Where the output of each rank lies below the folder of logs: a template such as "rank.{rank}/{stream}". Pure.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/core/stream.h"
#include "common/core/strong.h"

namespace sml::output {

class LogLayout {
 public:
  static constexpr std::string_view kDefault = "rank.{rank}/{stream}";
  // Open MPI 4.1, orte/mca/iof/base/iof_base_setup.c: FOLDER/<job>/rank.<rank>/stdout, the job's number being 1.
  static constexpr std::string_view kOpenMpi = "1/rank.{rank}/{stream}";

  // The words {rank}, {local_rank}, {host}, {stream}, {job} and {restart}; "{{" and "}}" stand for braces. Error
  // (Usage): another word, a brace that is alone, an absolute path, "." or ".." or nothing between slashes, a NUL.
  static Result<LogLayout> parse(std::string_view text);

  struct Place {
    Rank rank;
    LocalRank local_rank;
    std::string_view host;
    std::string_view job;
    std::uint32_t restart = 0;  // how many there were before
    Stream stream = Stream::Stdout;
    std::uint32_t world_size = 1;
  };
  // Relative to the folder of logs, and never out of it: "/" and control characters in names become "_", and so do
  // components that are dots alone or empty. {rank} has as many digits as the world size,
  // {rank:0} as many as the largest rank. What restarted workers print goes to a folder of its own, restart.N, unless
  // the template has the word.
  std::string path(const Place& place) const;

 private:
  enum class Word : std::uint8_t { Literal, Rank, LocalRank, Host, Stream, Job, Restart };
  struct Part {
    Word word;
    std::string text;  // of a literal
  };
  Result<std::size_t> add_word(std::string_view text, std::size_t at);
  void add_literal(std::string_view text);
  std::vector<Part> parts_;
};

// Error (Usage) naming two that are equal, or that rotation (file, file.1, ...) could make equal. Sorts `paths`.
Result<void> check_distinct(std::vector<std::string> paths);

}  // namespace sml::output

// Makes the paths of the ranks' log files below the log folder, from a template such as "rank.{rank}/{stream}". Pure.
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
  static constexpr std::string_view kMatched =
      "matched.{stream}";  // for lines that --log-match-stdout or -stderr selects
  // Open MPI 4.1, orte/mca/iof/base/iof_base_setup.c: FOLDER/<job>/rank.<rank>/stdout, where the job's number is 1.
  static constexpr std::string_view kOpenMpi = "1/rank.{rank}/{stream}";

  // Parses a template. Its placeholders: {rank}, {rank:0}, {local_rank}, {host}, {stream}, {job} and {restart}; "{{"
  // and "}}" are braces. Error (Usage): another placeholder, a single brace, an absolute path, "." or ".." or nothing
  // between slashes, a NUL.
  static Result<LogLayout> parse(std::string_view text);

  // The facts that replace the placeholders.
  struct Place {
    Rank rank;
    LocalRank local_rank;
    std::string_view host;
    std::string_view job;
    std::uint32_t restart = 0;  // JobIdentity::attempt: 0 for the first attempt
    Stream stream = Stream::Stdout;
    std::uint32_t world_size = 1;
  };
  // Returns a path below the log folder that never leaves it: "/" and control characters in names become "_", and so do
  // the dots of components "." and "..", and empty components. Leading zeros make {rank} as long as the
  // world size, {rank:0} as long as the largest rank (of 10 ranks: "07" and "7"). From the second attempt on the whole
  // path begins with the folder restart.N, unless the template contains {restart}.
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

// Error (Usage) if two paths are equal, or could become equal by rotation (file, file.1, ...); it names them.
Result<void> check_distinct(std::vector<std::string> paths);

}  // namespace sml::output

// Determines which streams of the workers go to log files, to the launcher's output, or to both, as with torchrun's
// --redirects and --tee. Pure.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "common/core/error.h"
#include "common/core/stream.h"
#include "common/core/strong.h"

namespace sml::output {

// A choice of streams: "3" for all workers, or "0:3,1:1" by local rank, where all other local ranks have no stream. The
// numbers are those of torch's Std: 0 no stream, 1 stdout, 2 stderr, 3 both.
class StreamChoice {
 public:
  // An error (kind Usage) quotes the text and describes what was expected.
  static Result<StreamChoice> parse(std::string_view text);

  bool has(LocalRank local_rank, Stream stream) const;
  bool operator==(const StreamChoice&) const = default;

 private:
  std::uint32_t of_all_ = 0;
  std::map<std::uint32_t, std::uint32_t> by_local_rank_;
};

// The routes of the streams. If neither choice is given, each stream goes both to its file and to the output; otherwise
// a stream in no choice goes to the output alone. StreamRoutes does not decide whether there are log files at all.
struct StreamRoutes {
  std::optional<StreamChoice> redirected;  // only to the file, unless it is teed too
  std::optional<StreamChoice> teed;        // to the file and to the launcher's output

  bool teed_is(LocalRank local_rank, Stream stream) const { return teed && teed->has(local_rank, stream); }
  bool to_output(LocalRank local_rank, Stream stream) const;
  bool to_file(LocalRank local_rank, Stream stream) const;
};

}  // namespace sml::output

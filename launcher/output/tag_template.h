// The tag before each line of a worker, from the user's template: "{rank}@{host}: ". Pure.
//
// Words: {rank}, {local_rank}, {role}, {host}, {stream} (stdout or stderr) and {time}: the time at which the worker's
// host read the line, in ISO 8601, UTC, with milliseconds. {rank:WIDTH} and {local_rank:WIDTH} are padded with zeros to
// WIDTH digits; a WIDTH of 0 is that of the largest number in the job. "{{" and "}}" are braces. All other text is
// literal.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/core/rank_set.h"
#include "common/core/stream.h"
#include "launcher/output/moment.h"

namespace sml::output {

// The workers whose lines are tagged: one, or several with equal lines.
struct TagSubject {
  RankSet ranks;
  RankSet local_ranks;
  std::vector<std::string> hosts;    // without duplicates, in the order of the job
  std::vector<std::string> roles{};  // likewise
  Stream stream = Stream::Stdout;
  enum class Tagged : std::uint8_t { AsAll, AsTeed } tagged = Tagged::AsAll;  // AsTeed: with the tag of --tee
};

// The largest numbers of the job, for {rank:0} and {local_rank:0}.
struct TagLimits {
  std::uint32_t rank = 0;
  std::uint32_t local_rank = 0;
};

// A template in which everything but the time is filled in.
class Tag {
 public:
  explicit Tag(std::vector<std::string> pieces) : pieces_(std::move(pieces)) {}
  bool has_time() const { return pieces_.size() > 1; }
  // The text of the tag at this time.
  std::string at(WallTime time) const;
  // Makes the tag appear in this colour, a parameter of SGR (ECMA-48), and resets it after the tag.
  void colour(int sgr);

 private:
  std::vector<std::string> pieces_;  // never empty; the time is inserted between them
};

class TagTemplate {
 public:
  TagTemplate() = default;  // no tag
  // An error (kind Usage) names the column and what was expected there.
  static Result<TagTemplate> parse(std::string_view text);

  bool empty() const { return parts_.empty(); }
  bool has_time() const;
  // Fills in everything but the time.
  Tag fill(const TagSubject& subject, const TagLimits& limits) const;
  bool operator==(const TagTemplate&) const = default;

 private:
  enum class Word : std::uint8_t { Text, Rank, LocalRank, Role, Host, Stream, Time };
  struct Part {
    Word word = Word::Text;
    std::string text;       // of Word::Text
    std::size_t width = 1;  // of a number; 0: as wide as the largest
    bool operator==(const Part&) const = default;
  };
  static Result<Part> parse_word(std::string_view inside);
  void add_text(std::string_view text);

  std::vector<Part> parts_;
};

}  // namespace sml::output

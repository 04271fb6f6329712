#include "launcher/output/tag_template.h"

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::output;

namespace {

TagSubject one() {
  TagSubject subject{
      .ranks = {}, .local_ranks = {}, .hosts = {"algo-2"}, .roles = {"trainer"}, .stream = Stream::Stderr};
  subject.ranks.add(7);
  subject.local_ranks.add(3);
  return subject;
}

constexpr WallTime kTime{std::chrono::milliseconds(1'795'276'407'089)};

std::string filled(std::string_view text, const TagSubject& subject = one()) {
  const Result<TagTemplate> parsed = TagTemplate::parse(text);
  if (!parsed) return parsed.error().message();
  return parsed->fill(subject, {.rank = 1023, .local_rank = 15}).at(kTime);
}

}  // namespace

TEST_CASE("the words of a tag") {
  CHECK(filled("[{rank}] ") == "[7] ");
  CHECK(filled("[1,{rank}]<{stream}>:") == "[1,7]<stderr>:");
  CHECK(filled("{rank}@{host}/{local_rank}: ") == "7@algo-2/3: ");
  CHECK(filled("{time} {rank}|{time}") == "2026-11-21T15:53:27.089Z 7|2026-11-21T15:53:27.089Z");
  CHECK(filled("{role}{local_rank}") == "trainer3");
  CHECK(filled("").empty());
  CHECK(filled("plain\t") == "plain\t");
}

TEST_CASE("widths of a tag's numbers") {
  CHECK(filled("{rank:4}") == "0007");
  CHECK(filled("{rank:04}") == "0007");
  CHECK(filled("{rank:1}") == "7");
  CHECK(filled("{rank:0}") == "0007");
  CHECK(filled("{local_rank:0}") == "03");
  CHECK(filled("{rank:20}") == "00000000000000000007");
}

TEST_CASE("braces in a tag") {
  CHECK(filled("{{{rank}}} ") == "{7} ");
  CHECK(filled("{{rank}}") == "{rank}");
  CHECK(filled("}}{{") == "}{");
}

TEST_CASE("a template that cannot be is refused with its column") {
  CHECK(filled("{rnk}") == "column 1: {rnk} is none of {rank} {local_rank} {role} {host} {stream} {time}");
  CHECK(filled("a {rank") == "column 3: a { without its }; write {{ for a brace");
  CHECK(filled("a {rank{host}") == "column 3: a { without its }; write {{ for a brace");
  CHECK(filled("{rank}} ") == "column 7: a } without its {; write }} for a brace");
  CHECK(filled("x{rank:}") == "column 2: \"\" is not a width from 0 to 20, as in {rank:4}");
  CHECK(filled("{rank:21}") == "column 1: \"21\" is not a width from 0 to 20, as in {rank:4}");
  CHECK(filled("{rank:-1}") == "column 1: \"-1\" is not a width from 0 to 20, as in {rank:4}");
  CHECK(filled("{host:3}") == "column 1: {host:3} takes no width; write {host}");
  CHECK(filled("{}") == "column 1: {} is none of {rank} {local_rank} {role} {host} {stream} {time}");
  CHECK(filled("{\n}") == "column 1: {\\n} is none of {rank} {local_rank} {role} {host} {stream} {time}");
}

TEST_CASE("a tag of several workers") {
  TagSubject subject{.ranks = {}, .local_ranks = {}, .hosts = {"algo-1", "algo-2"}};
  for (const std::uint32_t rank : {0U, 1U, 2U, 5U}) subject.ranks.add(rank);
  for (const std::uint32_t rank : {0U, 1U}) subject.local_ranks.add(rank);
  CHECK(filled("[{rank}] ", subject) == "[0-2,5] ");
  CHECK(filled("{rank:0}@{host} {local_rank} {stream}", subject) == "0000-0002,0005@algo-[1-2] 0-1 stdout");
}

TEST_CASE("a coloured tag ends its colour") {
  Tag tag = TagTemplate::parse("{time} [{rank}] ")->fill(one(), {});
  tag.colour(36);
  CHECK(tag.at(kTime) == "\x1b[36m2026-11-21T15:53:27.089Z [7] \x1b[0m");
}

#include "launcher/output/chain.h"

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::output;
using namespace std::chrono_literals;

namespace {

TagSubject subject(std::uint32_t rank, Stream stream = Stream::Stdout) {
  TagSubject out{.ranks = {}, .local_ranks = {}, .hosts = {"algo-" + std::to_string(rank / 2 + 1)}, .stream = stream};
  out.ranks.add(rank);
  out.local_ranks.add(rank % 2);
  return out;
}

// A chain of `ranks` workers, two on each host.
struct Stage {
  explicit Stage(std::string_view tag, Chain::Settings settings = {}, std::uint32_t ranks = 4)
      : chain([&] {
          settings.tag = *TagTemplate::parse(tag);
          settings.limits = {ranks - 1, 1};
          return settings;
        }()) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) chain.add_source(subject(rank));
  }
  void add(Chain::Source source, std::string_view bytes) { chain.add(source, bytes, moment); }
  std::string take() { return std::exchange(chain.output(), {}); }
  Chain chain;
  Moment moment{TimePoint(1h), WallTime(0ms)};
};

}  // namespace

TEST_CASE("a chain tags the lines of its sources") {
  Stage s("{rank}@{host} ");
  s.add(0, "a\nb\n");
  s.add(3, "c\n");
  CHECK(s.take() == "0@algo-1 a\n0@algo-1 b\n3@algo-2 c\n");
}

TEST_CASE("the only worker's bytes pass at once unless it has a tag") {
  Stage untagged("", {}, 1);
  untagged.add(0, "half");
  CHECK(untagged.take() == "half");
  Stage tagged("[{rank}] ", {}, 1);
  tagged.add(0, "half");
  CHECK(tagged.take().empty());
  tagged.add(0, "\n");
  CHECK(tagged.take() == "[0] half\n");
  Stage several("");
  several.add(0, "half");
  CHECK(several.take().empty());
}

TEST_CASE("lines have the time at which their end was read, and it never goes back") {
  Stage s("{time} ");
  s.moment.read_at = WallTime(1500ms);
  s.add(0, "a\nhalf");
  s.moment.read_at = WallTime(1600ms);
  s.add(0, " b\n");
  s.moment.read_at = WallTime(1550ms);
  s.add(0, "c\n");
  s.add(1, "d\n");
  CHECK(s.take() ==
        "1970-01-01T00:00:01.500Z a\n1970-01-01T00:00:01.600Z half b\n"
        "1970-01-01T00:00:01.600Z c\n1970-01-01T00:00:01.550Z d\n");
}

TEST_CASE("only the tag is coloured, each rank in its own way") {
  Stage s("[{rank}] ", {.colours = Chain::Colours::PerRank});
  s.add(0, "a\n");
  s.add(1, "b\n");
  CHECK(s.take() == "\x1b[36m[0] \x1b[0ma\n\x1b[32m[1] \x1b[0mb\n");
  Stage untagged("", {.colours = Chain::Colours::PerRank});
  untagged.add(0, "a\n");
  CHECK(untagged.take() == "a\n");
}

TEST_CASE("equal lines have a tag of all that wrote them") {
  Stage s("[{rank}] {host}: ", {.equal = Chain::Equal::Fold});
  for (Chain::Source source = 0; source < 4; ++source) s.add(source, "ready\n");
  CHECK(s.take() == "[0-3] algo-[1-2]: ready\n");
  s.add(0, "begun ");
  for (const Chain::Source source : {3U, 1U}) s.add(source, "only two\n");
  CHECK(s.chain.deadline() == s.moment.now + Dedup::kWindow);
  s.chain.on_time(s.moment.now + Dedup::kWindow);
  CHECK(s.take() == "[1,3] algo-[1-2]: only two\n");
  CHECK_FALSE(s.chain.deadline());
  s.chain.finish_all();
  CHECK(s.take() == "[0] algo-1: begun ");
}

TEST_CASE("equal lines of different streams are not the same") {
  Chain::Settings settings{.limits = {1, 1}, .equal = Chain::Equal::Fold};
  settings.tag = *TagTemplate::parse("[{rank}]<{stream}>:");
  Chain chain(settings);
  const Chain::Source out = chain.add_source(subject(0, Stream::Stdout));
  chain.add_source(subject(1, Stream::Stdout));
  chain.add_source(subject(0, Stream::Stderr));
  const Chain::Source err = chain.add_source(subject(1, Stream::Stderr));
  chain.add(out, "x\n", {});
  chain.add(err, "x\n", {});
  chain.finish_all();
  CHECK(chain.output() == "[0]<stdout>:x\n[1]<stderr>:x\n");
}

TEST_CASE("progress of a worker waits its second, and comes at the end in any case") {
  Stage s("[{rank}] ", {.progress = Chain::Progress::Collapse});
  s.add(0, "1%\r2%\r");
  s.add(1, "line\n");
  CHECK(s.take() == "[1] line\n");
  CHECK(s.chain.deadline() == s.moment.now + Collapse::kPeriod);
  s.chain.on_time(s.moment.now + Collapse::kPeriod);
  CHECK(s.take() == "[0] 2%\r");
  s.add(0, "3%\r");
  s.chain.finish(0);
  s.chain.finish(0);
  CHECK(s.take() == "[0] 3%\r");
}

TEST_CASE("all at once: made safe, collapsed, folded") {
  Stage s("[{rank}] ",
          {.control = Chain::Control::Show, .progress = Chain::Progress::Collapse, .equal = Chain::Equal::Fold});
  for (Chain::Source source = 0; source < 4; ++source)
    s.add(source,
          "1%\r2%\r\x07"
          "done\n");
  CHECK(s.take() == "[0-3] \\x07done\n");
}

TEST_CASE("a prompt of a worker that has our input is shown when nothing more has come for a while") {
  Chain::Settings settings;
  SECTION("lines of all") {}
  SECTION("where equal lines are folded") { settings.equal = Chain::Equal::Fold; }
  SECTION("where progress bars are thinned out") { settings.progress = Chain::Progress::Collapse; }
  Stage s("[{rank}] ", settings);
  s.chain.set_prompts(0, Chain::Prompts::AreShown);
  s.add(0, "na");
  s.moment.now += Chain::kQuiet / 2;
  s.add(0, "me? ");
  s.add(1, "half");
  CHECK(s.chain.deadline() == s.moment.now + Chain::kQuiet);
  s.chain.on_time(s.moment.now + Chain::kQuiet / 2);
  CHECK(s.take().empty());
  s.chain.on_time(s.moment.now + Chain::kQuiet);
  CHECK(s.take() == "[0] name? ");
  CHECK_FALSE(s.chain.deadline());
  s.add(0, "you\n");
  s.chain.on_time(s.moment.now + Dedup::kWindow);
  CHECK(s.take() == "you\n");
}

TEST_CASE("no prompt is what a progress bar, a whole line or a worker without input prints") {
  Stage s("[{rank}] ");
  s.add(0, "half");
  CHECK_FALSE(s.chain.deadline());
  s.chain.set_prompts(1, Chain::Prompts::AreShown);
  s.add(1, "\r10%");
  CHECK_FALSE(s.chain.deadline());
  s.add(1, "\nline\n");
  CHECK_FALSE(s.chain.deadline());
  s.add(1, "name? ");
  CHECK(s.chain.deadline());
  s.chain.set_prompts(1, Chain::Prompts::Wait);
  CHECK_FALSE(s.chain.deadline());
}

TEST_CASE("a prompt on a terminal comes back below the lines of others when these are quiet") {
  Stage s("[{rank}] ", {.control = Chain::Control::Show});
  s.chain.set_prompts(0, Chain::Prompts::AreShown);
  s.add(0, "name? ");
  s.chain.on_time(s.moment.now + Chain::kQuiet);
  CHECK(s.take() == "[0] name? ");
  s.moment.now += 1h;
  s.add(1, "other\n");
  CHECK(s.take() == "\x1b[0m\n[1] other\n");
  CHECK(s.chain.deadline() == s.moment.now + Chain::kQuiet);
  s.chain.on_time(s.moment.now + Chain::kQuiet);
  CHECK(s.take() == "[0] name? ");
  CHECK_FALSE(s.chain.deadline());
}

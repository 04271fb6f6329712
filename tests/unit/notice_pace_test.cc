#include "launcher/output/notice_pace.h"

#include <vector>

#include "tests/support/catch.h"

using namespace std::chrono_literals;

TEST_CASE("lines about a wait come with growing gaps") {
  const sml::TimePoint begin{};
  sml::NoticePace pace(begin);
  std::vector<sml::Duration> moments;
  for (int i = 0; i < 6; ++i) {
    moments.push_back(pace.waited(pace.due()));
    pace.printed(pace.due());
  }
  CHECK(moments == std::vector<sml::Duration>{5s, 15s, 45s, 105s, 165s, 225s});
}

TEST_CASE("a line that comes late delays those after it") {
  const sml::TimePoint begin{};
  sml::NoticePace pace(begin);
  pace.printed(begin + 8s);
  CHECK(pace.due() == begin + 18s);
}

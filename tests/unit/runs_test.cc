#include "common/core/runs.h"

#include "common/wire/bytes.h"
#include "tests/support/catch.h"

using namespace sml;

namespace {

using Names = std::vector<std::string>;

NameRuns runs_of(const Names& names) {
  NameRuns out;
  for (const std::string& name : names) out.push_back(name);
  return out;
}

template <class Runs>
std::string sent(const Runs& runs) {
  std::string out;
  wire::Writer{out}(runs);
  return out;
}

template <class Runs>
Runs received(const std::string& bytes) {
  Runs out;
  wire::Reader reader(bytes);
  reader(out);
  CHECK(reader.ok());
  CHECK(reader.at_end());
  return out;
}

}  // namespace

TEST_CASE("names come out of runs as they went in") {
  for (const Names& names :
       {Names{}, Names{"a"}, Names{"a", "b"}, Names{"algo-1", "algo-2", "algo-3"},
        Names{"node008", "node009", "node010", "node011"}, Names{"n9", "n10", "n11"}, Names{"n09", "n10", "n100"},
        Names{"10.0.0.9", "10.0.0.10", "10.0.1.1"}, Names{"ip-10-0-3-7.ec2.internal", "ip-10-0-3-8.ec2.internal"},
        Names{"r1-n1", "r2-n1", "r3-n1"}, Names{"x1", "x1", "x2", "x4"}, Names{"", "1", "2"}, Names{"a00", "a01", "a1"},
        Names{"a99999999999999999998", "a99999999999999999999"}}) {
    const NameRuns runs = runs_of(names);
    CAPTURE(names);
    CHECK(runs.size() == names.size());
    CHECK(runs.all() == names);
    for (std::size_t i = 0; i < names.size(); ++i) CHECK(runs[i] == names[i]);
    CHECK(runs[names.size()].empty());
    CHECK(received<NameRuns>(sent(runs)) == runs);
  }
}

TEST_CASE("the names and ids of 4,096 hosts take a few bytes") {
  NameRuns names;
  HostIdRuns ids;
  for (std::uint32_t i = 0; i < 4096; ++i) {
    names.push_back("algo-" + std::to_string(i + 1));
    ids.push_back(HostId(i));
  }
  CHECK(sent(names).size() < 40);
  CHECK(sent(ids).size() < 40);
  CHECK(names[4095] == "algo-4096");
  CHECK(ids.all().back() == HostId(4095));
}

TEST_CASE("ids come out of runs as they went in") {
  const std::vector<HostId> ids{HostId(3), HostId(4), HostId(0), HostId(7), HostId(6), HostId(6)};
  HostIdRuns runs;
  for (const HostId id : ids) runs.push_back(id);
  CHECK(runs.all() == ids);
  CHECK(runs.size() == ids.size());
  CHECK(received<HostIdRuns>(sent(runs)) == runs);
}

TEST_CASE("runs that claim more than anybody has are cut") {
  std::string bytes;
  wire::Writer{bytes}(std::uint32_t{2}, std::uint32_t{0}, ~std::uint32_t{0}, std::uint32_t{5}, ~std::uint32_t{0});
  const auto runs = received<HostIdRuns>(bytes);
  CHECK(runs.size() == kMostInRuns);
  CHECK(runs.all().size() == kMostInRuns);
}

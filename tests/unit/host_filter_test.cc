#include "launcher/hosts/host_filter.h"

#include "launcher/hosts/host_list.h"
#include "launcher/hosts/host_order.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::hosts;

namespace {
// "name:slots[numbers] ...", or the error.
std::string filtered(std::string_view list, std::string_view filter, Filter what) {
  auto all = parse_host_list(list);
  REQUIRE(all.has_value());
  const auto done = filter_hosts(*all, filter, what);
  if (!done) return done.error().message();
  std::string out;
  for (const plan::Host& host : *all) {
    out += (out.empty() ? "" : " ") + host.name + ":" + std::to_string(*host.slots);
    std::string numbers;
    for (const std::uint32_t n : host.slot_numbers) numbers += (numbers.empty() ? "" : ",") + std::to_string(n);
    if (!numbers.empty()) out += "[" + numbers + "]";
  }
  return out;
}
}  // namespace

TEST_CASE("hosts and slots are included and excluded as DeepSpeed does it") {
  struct Row {
    const char* filter;
    const char* included;
    const char* excluded;
  };
  const Row rows[] = {
      {"worker-1", "worker-1:4", "worker-0:4 worker-2:4"},
      {"worker-2@worker-0", "worker-0:4 worker-2:4", "worker-1:4"},
      {"worker-1:0,2", "worker-1:2[0,2]", "worker-0:4 worker-1:2[1,3] worker-2:4"},
      {"worker-0@worker-1:0,2", "worker-0:4 worker-1:2[0,2]", "worker-1:2[1,3] worker-2:4"},
      {"worker-1:2,0,2", "worker-1:2[0,2]", "worker-0:4 worker-1:2[1,3] worker-2:4"},
      {"worker-1:0@worker-1:3", "worker-1:2[0,3]", "worker-0:4 worker-1:2[1,2] worker-2:4"},
      {"worker-1:0@worker-1", "worker-1:4", "worker-0:4 worker-2:4"},
      {"worker-1:0,1,2,3", "worker-1:4[0,1,2,3]", "worker-0:4 worker-2:4"},
      {"WORKER-1", "worker-1:4", "worker-0:4 worker-2:4"},
      {"worker-[0-1]:3", "worker-0:1[3] worker-1:1[3]", "worker-0:3[0,1,2] worker-1:3[0,1,2] worker-2:4"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.filter);
    CHECK(filtered("worker-[0-2]:4", row.filter, Filter::Include) == row.included);
    CHECK(filtered("worker-[0-2]:4", row.filter, Filter::Exclude) == row.excluded);
  }
}

TEST_CASE("a bad filter is refused with one sentence") {
  struct Row {
    const char* filter;
    const char* message;
  };
  const Row rows[] = {
      {"x", "no host x in this job; its hosts are a,b"},
      {"a@x[1-2]", "no host x1 in this job; its hosts are a,b"},
      {"a:4", "\"a:4\" names slot 4, but a has 4"},
      {"a:", "\"a:\" has no slot after \":\"; expected numbers from 0"},
      {"a:x", "\"a:x\" has the bad slot \"x\"; expected numbers from 0, as in algo-1:0,2"},
      {"a:1,,2", "\"a:1,,2\" has the bad slot \"\"; expected numbers from 0, as in algo-1:0,2"},
      {"a:-1", "\"a:-1\" has the bad slot \"-1\"; expected numbers from 0, as in algo-1:0,2"},
      {"a:99999999999999999999",
       "\"a:99999999999999999999\" has the bad slot \"99999999999999999999\"; expected numbers from 0, as in "
       "algo-1:0,2"},
      {"a@@b", "\"\" has no host name; expected NAME or NAME:SLOT,SLOT,..."},
      {":1", "\":1\" has no host name; expected NAME or NAME:SLOT,SLOT,..."},
      {"a[1-", "\"a[1-\" has brackets that do not match; expected a range such as algo-[1-4]"},
      {"a[1-9999999]", "\"a[1-9999999]\" names 9999999 hosts; a job has at most 100000"},
      {"a@b", "\"a@b\" leaves no host"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.filter);
    CHECK(filtered("a:4,b:2", row.filter, Filter::Exclude) == row.message);
  }
}

TEST_CASE("names are ordered by the value of their numbers") {
  const char* ordered[] = {"",
                           "a",
                           "algo-1",
                           "algo-1-ib0",
                           "algo-2",
                           "algo-02x",
                           "algo-10",
                           "algo-10.b",
                           "b",
                           "n001",
                           "n01",
                           "n1",
                           "n1a",
                           "n99999999999999999998",
                           "n99999999999999999999"};
  for (std::size_t i = 0; i < std::size(ordered); ++i) {
    for (std::size_t j = 0; j < std::size(ordered); ++j) {
      CAPTURE(ordered[i], ordered[j]);
      CHECK(natural_less(ordered[i], ordered[j]) == (i < j));
    }
  }
}

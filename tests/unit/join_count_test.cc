#include "launcher/attempt/rendezvous/join_count.h"

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::attempt;

TEST_CASE("join count: the first host counts all of torch's store, of MPI each counts its own") {
  for (const auto& [first, second] : {std::pair(4, 0), std::pair(2, 2)}) {
    JoinCount count;
    count.ask(HostId(0));
    count.ask(HostId(1));
    count.add_reply(HostId(0), static_cast<std::uint64_t>(first));
    CHECK_FALSE(count.complete());
    count.add_reply(HostId(1), static_cast<std::uint64_t>(second));
    CHECK(count.complete());
    CHECK(count.all_of(4));
    CHECK_FALSE(count.all_of(5));
  }
}

TEST_CASE("join count: hosts that have gone are not waited for, and what nobody asked does not count") {
  JoinCount count;
  count.ask(HostId(0));
  count.ask(HostId(1));
  count.add_reply(HostId(2), 8);
  count.gone(HostId(1));
  CHECK_FALSE(count.complete());
  count.add_reply(HostId(0), 3);
  count.add_reply(HostId(0), 3);
  CHECK(count.complete());
  CHECK_FALSE(count.all_of(4));
  count.ask(HostId(3));
  count.give_up();
  CHECK(count.complete());
}

#include "launcher/agent/pipes/channel_machine.h"

#include "tests/support/catch.h"

using namespace sml::agent;

namespace {
constexpr Step kOpen{Act::OpenSource};
constexpr Step kClose{Act::CloseSource};
Step offer(std::uint32_t reader) { return {Act::Offer, reader}; }
Step finish(std::uint32_t reader) { return {Act::Finish, reader}; }
Step discard(std::uint32_t reader) { return {Act::Discard, reader}; }
}  // namespace

TEST_CASE("an epoch ends for all before the next begins") {
  ChannelMachine machine(2, 0);
  CHECK(machine.begin() == Steps{offer(0), offer(1)});
  CHECK(machine.came(1) == Steps{kOpen});
  CHECK(machine.came(0).empty());
  CHECK(machine.source_ended() == Steps{kClose, finish(0), finish(1)});
  CHECK(machine.finished(0).empty());
  CHECK(machine.epoch() == 0);
  CHECK(machine.finished(1) == Steps{offer(0), offer(1)});
  CHECK(machine.epoch() == 1);
  CHECK_FALSE(machine.source_open());
  CHECK(machine.came(0) == Steps{kOpen});
}

TEST_CASE("the share of a reader that has not come is kept, and it ends for it too") {
  ChannelMachine machine(2, 1);
  static_cast<void>(machine.begin());
  static_cast<void>(machine.came(0));
  CHECK(machine.takes(1));
  CHECK(machine.source_ended() == Steps{kClose, finish(0)});
  CHECK(machine.finished(0).empty());
  CHECK(machine.came(1) == Steps{finish(1)});
  CHECK(machine.finished(1).empty());
  CHECK(machine.over());
}

TEST_CASE("a reader that leaves early loses its share, and nobody else does") {
  ChannelMachine machine(2, 0);
  static_cast<void>(machine.begin());
  static_cast<void>(machine.came(0));
  static_cast<void>(machine.came(1));
  CHECK(machine.left(0) == Steps{discard(0)});
  CHECK_FALSE(machine.takes(0));
  CHECK(machine.takes(1));
  CHECK(machine.source_open());
  CHECK(machine.came(0).empty());
  CHECK(machine.source_ended() == Steps{kClose, finish(1)});
  CHECK(machine.finished(1) == Steps{offer(0), offer(1)});
  CHECK(machine.takes(0));
}

TEST_CASE("when all have left the rest is not read") {
  ChannelMachine machine(2, 0);
  static_cast<void>(machine.begin());
  static_cast<void>(machine.came(0));
  static_cast<void>(machine.came(1));
  static_cast<void>(machine.left(1));
  CHECK(machine.left(0) == Steps{discard(0), kClose, offer(0), offer(1)});
  CHECK(machine.epoch() == 1);
}

TEST_CASE("a reader that leaves while its last bytes are written has ended the epoch") {
  ChannelMachine machine(1, 0);
  static_cast<void>(machine.begin());
  static_cast<void>(machine.came(0));
  static_cast<void>(machine.source_ended());
  CHECK(machine.left(0) == Steps{discard(0), offer(0)});
}

TEST_CASE("nobody waits for a reader that has died") {
  ChannelMachine machine(3, 0);
  static_cast<void>(machine.begin());
  CHECK(machine.died(2) == Steps{discard(2)});
  CHECK(machine.died(2).empty());
  static_cast<void>(machine.came(0));
  static_cast<void>(machine.came(1));
  static_cast<void>(machine.source_ended());
  CHECK(machine.finished(0).empty());
  CHECK(machine.died(1) == Steps{discard(1), offer(0)});
  CHECK(machine.epoch() == 1);
  static_cast<void>(machine.came(0));
  CHECK(machine.died(0) == Steps{discard(0), kClose});
  CHECK(machine.over());
}

TEST_CASE("so many epochs, and no more") {
  ChannelMachine machine(1, 2);
  static_cast<void>(machine.begin());
  CHECK_FALSE(machine.last_epoch());
  for (int epoch = 0; epoch < 2; ++epoch) {
    CHECK_FALSE(machine.over());
    static_cast<void>(machine.came(0));
    static_cast<void>(machine.source_ended());
    static_cast<void>(machine.finished(0));
  }
  CHECK(machine.over());
  CHECK(machine.came(0).empty());
  CHECK(machine.died(0).empty());
}

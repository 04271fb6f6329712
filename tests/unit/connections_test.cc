#include "common/os/connections.h"

#include "tests/support/catch.h"

using sml::os::sockets_connected_to;

TEST_CASE("connections of a port are read from the kernel's table") {
  const char* table =
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
      "   0: 00000000:733C 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 100 1 0 100 0 0 10 "
      "0\n"
      "   1: 0100007F:9C40 0100007F:733C 01 00000000:00000000 00:00000000 00000000     0        0 101 1 0 20 4 30 10 "
      "-1\n"
      "   2: 0100007F:733C 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 102 1 0 20 4 30 10 "
      "-1\n"
      "   3: 0100007F:9C42 0100007F:733C 06 00000000:00000000 00:00000000 00000000     0        0 103 1 0 20 4 30 10 "
      "-1\n"
      "   4: 0100007F:9C44 0100007F:733C 01 00000000:00000000 00:00000000 00000000     0        0 0 1 0 20 4 30 10 -1\n"
      "   5: 0000000000000000FFFF00000100007F:9C46 0000000000000000FFFF00000100007F:733C 01 00000000:00000000 "
      "00:00000000 00000000  1000        0 105 1 0000000000000000 20 4 30 10 -1\n"
      "   6: short\n";
  CHECK(sockets_connected_to(0x733C, table) == std::set<ino_t>{101, 105});
  CHECK(sockets_connected_to(1, table).empty());
  CHECK(sockets_connected_to(0x733C, "").empty());
  REQUIRE(sml::os::listener_on(0x733C, table));
  CHECK(sml::os::listener_on(0x733C, table)->socket == 100);
  CHECK(sml::os::listener_on(0x733C, table)->user == 0);
  CHECK_FALSE(sml::os::listener_on(0x9C46, table));
}

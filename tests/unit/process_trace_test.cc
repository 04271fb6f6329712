#include "launcher/agent/os/process_trace.h"

#include "tests/support/catch.h"

using namespace sml::os;

TEST_CASE("process trace: whom established sockets are connected to") {
  SocketPeers peers;
  add_peers(peers,
            "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
            "   0: 0100007F:733C 0200000A:D204 01 00000000:00000000 00:00000000 00000000     0        0 11 1 0000\n"
            "   1: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 12 1 0000\n");
  add_peers(peers,
            "   0: 0000000000000000FFFF00000100007F:0050 0000000000000000FFFF00000100007F:1F90 01 0:0 00:0 0 0 0 13 1\n"
            "   1: 00000000000000000000000001000000:0050 00000000000000000000000001000000:1F91 01 0:0 00:0 0 0 0 14 1\n"
            "   2: rubbish\n");
  CHECK(peers == SocketPeers{{11, "10.0.0.2:53764"}, {13, "127.0.0.1:8080"}, {14, "[::1]:8081"}});
}

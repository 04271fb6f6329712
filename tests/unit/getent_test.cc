#include <catch2/catch.hpp>

#include <optional>
#include <string>
#include <vector>

#include "launcher/transport/names/getent.h"

using namespace sml;
using names::Address;

namespace {

std::vector<std::string> texts(const std::vector<Address>& addresses) {
  std::vector<std::string> out;
  for (const Address& address : addresses) out.push_back(names::numeric(address.any(), address.size));
  return out;
}

}  // namespace

TEST_CASE("getent's addresses of a host are taken once each, in their order") {
  const std::string lines =
      "fd00::7         STREAM algo-7.example\n"
      "fd00::7         DGRAM  \n"
      "10.0.0.7        STREAM \n"
      "10.0.0.7        RAW    \n";
  CHECK(texts(names::parse_hosts(lines, 22, AF_UNSPEC)) == std::vector<std::string>{"fd00::7", "10.0.0.7"});
  CHECK(texts(names::parse_hosts(lines, 22, AF_INET)) == std::vector<std::string>{"10.0.0.7"});
  CHECK(texts(names::parse_hosts(lines, 22, AF_INET6)) == std::vector<std::string>{"fd00::7"});
}

TEST_CASE("an address of getent has the port that was asked for") {
  const std::vector<Address> found = names::parse_hosts("10.0.0.7 STREAM a", 2222, AF_UNSPEC);
  REQUIRE(found.size() == 1);
  CHECK(reinterpret_cast<const sockaddr_in&>(found[0].storage).sin_port == htons(2222));
}

TEST_CASE("what is no address in getent's answer is passed over") {
  CHECK(names::parse_hosts("", 1, AF_UNSPEC).empty());
  CHECK(names::parse_hosts("\n\n", 1, AF_UNSPEC).empty());
  CHECK(names::parse_hosts("usage: getent ...\n10.0.0 STREAM x\n10.0.0.256 STREAM\n", 1, AF_UNSPEC).empty());
  CHECK(texts(names::parse_hosts("nonsense\n10.1.2.3\n", 1, AF_UNSPEC)) == std::vector<std::string>{"10.1.2.3"});
}

TEST_CASE("a line of getent passwd gives name and home") {
  const std::optional<names::Account> account =
      names::parse_account("ada:x:1815:1815:Ada,,,:/net/home/ada:/bin/bash\n");
  REQUIRE(account);
  CHECK(account->name == "ada");
  CHECK(account->home == "/net/home/ada");
  CHECK(names::parse_account("ada:x:1815:1815::/net/home/ada:")->home == "/net/home/ada");
  for (const char* bad :
       {"", "\n", "ada", "ada:x:1815:1815:Ada:/home/ada", ":x:1:1::/:/bin/sh", "a:x:1:1::/:/bin/sh:more"}) {
    INFO(bad);
    CHECK_FALSE(names::parse_account(bad));
  }
}

#include "launcher/transport/ssh/algorithms.h"

#include "tests/support/catch.h"

using namespace sml::ssh;

namespace {

constexpr Algorithms kFew{"Ciphers", "a1,a2,b1", "a1,a2,a3,b1,b2"};

std::string chosen(std::string_view list) {
  const auto names = choose_algorithms(list, kFew);
  return names ? *names : names.error().message();
}

}  // namespace

// What `ssh -G` of OpenSSH 9.2 prints for the same lists, with its own names in the place of these.
TEST_CASE("lists of algorithms mean what they mean to ssh", "[ssh]") {
  CHECK(chosen("") == "a1,a2,b1");
  CHECK(chosen("b2,a1,b2") == "b2,a1");
  CHECK(chosen("+b2") == "a1,a2,b1,b2");
  CHECK(chosen("+a1") == "a1,a2,b1");
  CHECK(chosen("+*") == "a1,a2,b1,a3,b2");
  CHECK(chosen("-a2") == "a1,b1");
  CHECK(chosen("-a*,b2") == "b1");
  CHECK(chosen("^b2,a2") == "b2,a2,a1,b1");
  CHECK(chosen("^b?") == "b1,b2,a1,a2");
  CHECK(chosen("a?") == "a1,a2,a3");
}

TEST_CASE("names that libssh has not are left out of a list of algorithms", "[ssh]") {
  CHECK(chosen("+c9,b2") == "a1,a2,b1,b2");
  CHECK(chosen("^c9") == "a1,a2,b1");
  CHECK(chosen("c9,a3") == "a3");
  for (const char* list : {"c9", "c*", "-*"}) {
    const auto none = choose_algorithms(list, kFew);
    REQUIRE_FALSE(none.has_value());
    CHECK(none.error().kind() == sml::ErrorKind::Config);
    CHECK(none.error().message().find("none of the Ciphers of the ssh config: " + std::string(list)) !=
          std::string::npos);
    CHECK(none.error().hint().find("--ssh-command ssh") != std::string::npos);
  }
}

#include "launcher/ssh/known_hosts.h"

#include <random>

#include "tests/support/catch.h"

using namespace sml::ssh;

namespace {

const HostKey kEd{"ssh-ed25519", "AAAAed"};
const HostKey kOtherEd{"ssh-ed25519", "AAAAother"};
const HostKey kRsa{"ssh-rsa", "AAAArsa"};

bool never(const std::string&, const std::string&) { return false; }

std::vector<KnownKey> keys_for(const std::string& name, const std::string& text) {
  return keys_in(text, "/kh", name, never);
}

KeyVerdict verdict(const std::string& text, const HostKey& shown) { return judge(keys_for("a", text), shown).verdict; }

}  // namespace

TEST_CASE("a line is found by name, list, pattern and port form", "[ssh]") {
  CHECK(keys_for("a", "a ssh-ed25519 AAAA\n").size() == 1);
  CHECK(keys_for("a", "b,a ssh-ed25519 AAAA comment words\n").size() == 1);
  CHECK(keys_for("a.example", "*.example ssh-ed25519 AAAA\n").size() == 1);
  CHECK(keys_for("bad.example", "*.example,!bad.example ssh-ed25519 AAAA\n").empty());
  CHECK(keys_for("[a]:2222", "a ssh-ed25519 AAAA\n[a]:2222 ssh-ed25519 AAAA\n").size() == 1);
  CHECK(keys_for("a", "[a]:2222 ssh-ed25519 AAAA\n").empty());
  CHECK(keys_for("a", "# a ssh-ed25519 AAAA\n\n  \n").empty());
  CHECK(keys_for("a", "@cert-authority a ssh-ed25519 AAAA\n").empty());
  CHECK(keys_for("a", "\n\na ssh-ed25519 AAAA").front().line == 3);
}

TEST_CASE("hashed names are asked of the hash", "[ssh]") {
  std::string asked;
  const auto hashed = [&](const std::string& name, const std::string& field) {
    asked = name + " " + field;
    return true;
  };
  CHECK(keys_in("|1|s|h ssh-ed25519 AAAA\n", "/kh", "a", hashed).size() == 1);
  CHECK(asked == "a |1|s|h");
}

TEST_CASE("what the known keys say of the shown one", "[ssh]") {
  CHECK(verdict("", kEd) == KeyVerdict::Unknown);
  CHECK(verdict("a ssh-ed25519 AAAAed\n", kEd) == KeyVerdict::Known);
  CHECK(verdict("a ssh-ed25519 AAAAother\n", kEd) == KeyVerdict::Changed);
  CHECK(verdict("a ssh-ed25519 AAAAother\na ssh-ed25519 AAAAed\n", kEd) == KeyVerdict::Known);
  CHECK(verdict("a ssh-rsa AAAArsa\n", kEd) == KeyVerdict::OtherType);
  CHECK(verdict("a ssh-ed25519 AAAAed\n@revoked * ssh-ed25519 AAAAed\n", kEd) == KeyVerdict::Revoked);
  CHECK(verdict("@revoked a ssh-ed25519 AAAAother\n", kEd) == KeyVerdict::Unknown);
}

TEST_CASE("types that are known are asked for first", "[ssh]") {
  const auto known = keys_for("a", "a ssh-rsa AAAArsa\n");
  CHECK(preferred_algorithms(known).starts_with("rsa-sha2-512,rsa-sha2-256,ssh-ed25519,"));
  CHECK(preferred_algorithms({}).starts_with("ssh-ed25519,ecdsa-sha2-nistp256,"));
}

TEST_CASE("any bytes in known_hosts are survived", "[ssh]") {
  std::mt19937 random(7);
  static constexpr char kAlphabet[] = "a,*!|1 \t\n\r@#=AB\0\xff[]:";
  const std::string alphabet(kAlphabet, sizeof kAlphabet);  // the closing NUL is one more byte to survive
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (int i = 0; i < 400; ++i) text += alphabet[random() % alphabet.size()];
    for (const auto& key : keys_in(text, "/kh", "a", hashed_name_matches)) CHECK_FALSE(key.key.base64.empty());
  }
  CHECK(keys_for("a", "a ssh-ed25519 " + std::string(1'000'000, 'A')).empty());
}

TEST_CASE("fingerprints of nonsense are empty", "[ssh]") {
  CHECK(fingerprint(kEd).empty());
  CHECK(fingerprint({"", ""}).empty());
  CHECK(fingerprint({"ssh-ed25519", "AAAAC3NzaC1lZDI1NTE5AAAAIGZEnqoVVCwKSLfI0aXcLrhZ6ZqmfRoHfyNOxnk9YBU5"})
            .starts_with("SHA256:"));
}

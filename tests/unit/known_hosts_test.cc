#include "launcher/transport/ssh/host_keys/known_hosts.h"

#include <algorithm>
#include <array>
#include <random>

#include "launcher/transport/ssh/host_keys/hashed_name.h"
#include "tests/support/catch.h"

using namespace sml::ssh;

namespace {

const HostKey kEd{"ssh-ed25519", "AAAAed"};
const HostKey kOtherEd{"ssh-ed25519", "AAAAother"};
const HostKey kRsa{"ssh-rsa", "AAAArsa"};

bool never(const std::string&, const std::string&) { return false; }

std::vector<KnownKey> keys_in(std::string_view text, const std::string& name, const HashedMatch& hashed) {
  KeyScan scan(KeyFile::KnownHosts, "/kh", name, hashed);
  REQUIRE(scan.take(text).has_value());
  auto keys = scan.finish();
  REQUIRE(keys.has_value());
  return *keys;
}

std::vector<KnownKey> keys_for(const std::string& name, const std::string& text) { return keys_in(text, name, never); }

KeyVerdict verdict(const std::string& text, const HostKey& shown) {
  return compare(keys_for("a", text), shown).verdict;
}

}  // namespace

TEST_CASE("a line is found by name, list, pattern and port form", "[ssh]") {
  CHECK(keys_for("a", "a ssh-ed25519 AAAA\n").size() == 1);
  CHECK(keys_for("a", "b,a ssh-ed25519 AAAA comment words\n").size() == 1);
  CHECK(keys_for("a.example", "*.example ssh-ed25519 AAAA\n").size() == 1);
  CHECK(keys_for("bad.example", "*.example,!bad.example ssh-ed25519 AAAA\n").empty());
  CHECK(keys_for("[a]:2222", "a ssh-ed25519 AAAA\n[a]:2222 ssh-ed25519 AAAA\n").size() == 1);
  CHECK(keys_for("a", "[a]:2222 ssh-ed25519 AAAA\n").empty());
  CHECK(keys_for("a", "# a ssh-ed25519 AAAA\n\n  \n").empty());
  CHECK(keys_for("a", "\n\na ssh-ed25519 AAAA").front().line == 3);
}

TEST_CASE("hashed names are asked of the hash", "[ssh]") {
  std::string asked;
  const auto hashed = [&](const std::string& name, const std::string& field) {
    asked = name + " " + field;
    return true;
  };
  CHECK(keys_in("|1|s|h ssh-ed25519 AAAA\n", "a", hashed).size() == 1);
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

TEST_CASE("a file of any length is read whole, in pieces of any length", "[ssh]") {
  std::string text;
  while (text.size() < 5 * 1024 * 1024) text += "other.example ssh-ed25519 AAAAother\n";
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  text +=
      "x" + std::string(100'000, ',') + "a ssh-ed25519 AAAAother\na ssh-ed25519 AAAAed\n@revoked * ssh-ed25519 AAAAed";
  for (const std::size_t piece : {std::size_t{7}, std::size_t{64 * 1024}, text.size()}) {
    KeyScan scan(KeyFile::KnownHosts, "/kh", "a", never);
    for (std::size_t at = 0; at < text.size(); at += piece)
      REQUIRE(scan.take(std::string_view(text).substr(at, piece)).has_value());
    const auto keys = scan.finish();
    REQUIRE(keys.has_value());
    REQUIRE(keys->size() == 3);
    CHECK((*keys)[0].line == lines + 1);
    CHECK((*keys)[2].line == lines + 3);
    CHECK(compare(*keys, kEd).verdict == KeyVerdict::Revoked);
  }
}

TEST_CASE("a line that is too long to be held is refused, whoever it is of", "[ssh]") {
  const auto refused = [](const std::string& text, std::size_t piece) {
    KeyScan scan(KeyFile::KnownHosts, "/kh", "a", never);
    for (std::size_t at = 0; at < text.size(); at += piece) {
      if (const auto taken = scan.take(std::string_view(text).substr(at, piece)); !taken)
        return taken.error().message();
    }
    const auto keys = scan.finish();
    return keys ? std::string() : keys.error().message();
  };
  const std::string line = "b ssh-ed25519 " + std::string(KeyScan::kMaxLine, 'A');
  CHECK(refused("\n" + line + "\na ssh-ed25519 AAAAed\n", 64 * 1024).starts_with("/kh line 2 has more than 1 MiB"));
  CHECK(refused("\n" + line + "\na ssh-ed25519 AAAAed\n", line.size() + 100).starts_with("/kh line 2 has more"));
  CHECK(refused(line, 4096).starts_with("/kh line 1 has more"));
  CHECK(refused(line.substr(0, KeyScan::kMaxLine) + "\n", 4096).empty());
}

TEST_CASE("an authority makes no key known, and is named where none is", "[ssh]") {
  const std::string authority = "\n@cert-authority *.example,a ssh-ed25519 AAAAca\n";
  const auto comparison = compare(keys_for("a", authority), kEd);
  CHECK(comparison.verdict == KeyVerdict::Unknown);
  REQUIRE(comparison.against.has_value());
  CHECK(comparison.against->line == 2);
  CHECK(compare(keys_for("a", authority), {"ssh-ed25519", "AAAAca"}).verdict == KeyVerdict::Unknown);
  CHECK_FALSE(compare(keys_for("b", authority), kEd).against.has_value());
  CHECK(verdict(authority + "a ssh-ed25519 AAAAed\n", kEd) == KeyVerdict::Known);
  CHECK(known_first("rsa-sha2-512,ssh-ed25519", keys_for("a", authority)) == "rsa-sha2-512,ssh-ed25519");
}

TEST_CASE("a list of revoked keys is of all hosts", "[ssh]") {
  KeyScan scan(KeyFile::RevokedKeys, "/revoked", "", never);
  REQUIRE(scan.take("# old ones\nssh-rsa AAAArsa me@there\n ssh-ed25519 AAAAed\nnonsense\n").has_value());
  const auto keys = scan.finish();
  REQUIRE(keys.has_value());
  CHECK(keys->size() == 2);
  CHECK(compare(*keys, kEd).verdict == KeyVerdict::Revoked);
  CHECK(compare(*keys, kEd).against->line == 3);
  CHECK(compare(*keys, kOtherEd).verdict == KeyVerdict::Unknown);
  KeyScan binary(KeyFile::RevokedKeys, "/revoked", "", never);
  CHECK(binary.take(std::string_view("SSHKRL\n\0\0\0\1", 11)).error().message().find("(KRL)") != std::string::npos);
}

TEST_CASE("hashed names are those that ssh-keygen -H writes", "[ssh]") {
  // of "algo-2" and "[algo-2]:2222"
  const std::array<std::string, 2> fields{"|1|f5gDwZpDafEGH0K1S+ZSN55uESY=|4hdXgSC+vfdOBzC6M4hFfqFWxE0=",
                                          "|1|oTTHe3xWn+BCZzDkk7Q9kRWb69o=|WVMdWmWMvEi0nBKyuxuBquxIDAs="};
  CHECK(hashed_name_matches("algo-2", fields[0]));
  CHECK(hashed_name_matches("[algo-2]:2222", fields[1]));
  CHECK_FALSE(hashed_name_matches("algo-3", fields[0]));
  CHECK_FALSE(hashed_name_matches("algo-2", fields[1]));
  const std::string& field = fields[0];
  for (std::size_t i = 0; i < field.size(); ++i) CHECK_FALSE(hashed_name_matches("algo-2", field.substr(0, i)));
  for (const std::string& bad : {field + "=", field + "|", "|2" + field.substr(2), field.substr(1), std::string("|1||"),
                                 "|1|" + std::string(27, '\xff') + "=|" + std::string(28, '=')}) {
    CHECK_FALSE(hashed_name_matches("algo-2", bad));
  }
}

TEST_CASE("types that are known are asked for first", "[ssh]") {
  const auto known = keys_for("a", "a ssh-rsa AAAArsa\n");
  CHECK(known_first("ssh-ed25519,rsa-sha2-512,rsa-sha2-256,ssh-rsa", known) ==
        "rsa-sha2-512,rsa-sha2-256,ssh-rsa,ssh-ed25519");
  CHECK(known_first("ssh-ed25519,rsa-sha2-512", {}) == "ssh-ed25519,rsa-sha2-512");
}

TEST_CASE("any bytes in known_hosts are survived", "[ssh]") {
  std::mt19937 random(7);
  static constexpr char kAlphabet[] = "a,*!|1 \t\n\r@#=AB\0\xff[]:";
  const std::string alphabet(kAlphabet, sizeof kAlphabet);  // the closing NUL is one more byte to survive
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (int i = 0; i < 400; ++i) text += alphabet[random() % alphabet.size()];
    for (const auto& key : keys_in(text, "a", hashed_name_matches)) CHECK_FALSE(key.key.base64.empty());
  }
}

TEST_CASE("fingerprints of nonsense are empty", "[ssh]") {
  CHECK(fingerprint(kEd).empty());
  CHECK(fingerprint({"", ""}).empty());
  CHECK(fingerprint({"ssh-ed25519", "AAAAC3NzaC1lZDI1NTE5AAAAIGZEnqoVVCwKSLfI0aXcLrhZ6ZqmfRoHfyNOxnk9YBU5"})
            .starts_with("SHA256:"));
}

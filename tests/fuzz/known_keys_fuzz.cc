// Any text of known_hosts, in pieces of any size: the keys found are the same, each from a line that has it, and a
// refusal names the file. A key that a line revokes is never known.
#include "launcher/transport/ssh/host_keys/known_keys.h"

#include <algorithm>
#include <cstdint>

#include "launcher/transport/ssh/host_keys/hashed_name.h"
#include "tests/fuzz/require.h"

using namespace sml;
using namespace sml::ssh;
using sml::fuzz::require;

namespace {

Result<std::vector<KnownKey>> scan(KeyFile kind, std::string_view text, std::size_t piece) {
  KeyScan scan(kind, "/kh", "[h-1]:2222", hashed_name_matches);
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
    if (const auto taken = scan.take(text.substr(0, piece)); !taken) return taken.error();
  }
  return scan.finish();
}

void check(KeyFile kind, std::string_view text, std::size_t piece) {
  const auto keys = scan(kind, text, std::max<std::size_t>(text.size(), 1));
  const auto again = scan(kind, text, piece);
  require(keys.has_value() == again.has_value());
  if (!keys) {
    require(keys.error().kind() == ErrorKind::HostKey && keys.error().message().starts_with("/kh"));
    return;
  }
  require(keys->size() == again->size());
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  for (std::size_t i = 0; i < keys->size(); ++i) {
    const KnownKey& key = (*keys)[i];
    require(key.line == (*again)[i].line && key.line >= 1 && key.line <= lines);
    require(!key.key.base64.empty() && text.find(key.key.base64) != std::string_view::npos);
    require(kind == KeyFile::KnownHosts || key.mark == KeyMark::Revoked);
    const KeyVerdict verdict = compare(*keys, key.key).verdict;
    require(key.mark != KeyMark::Revoked || verdict == KeyVerdict::Revoked);
    require(verdict != KeyVerdict::Unknown || key.mark == KeyMark::Authority);
  }
  require(known_first("ssh-ed25519,rsa-sha2-512", *keys).size() == std::string_view("ssh-ed25519,rsa-sha2-512").size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  check(KeyFile::KnownHosts, text, data[0] % 64U + 1);
  check(KeyFile::RevokedKeys, text, data[0] % 64U + 1);
  return 0;
}

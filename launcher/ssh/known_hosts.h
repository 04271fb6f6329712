// known_hosts: which keys are known for a name, what that says of the key that a host showed, and adding a new one.
//
// Read here rather than by libssh, which skips @revoked lines and "!pattern", reads one file only, and does not say
// where the key that differs is written. @cert-authority lines are skipped: libssh knows no host certificates.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "launcher/ssh/ssh_session.h"

namespace sml::ssh {

enum class KeyMark : std::uint8_t { None, Revoked };

struct KnownKey {
  HostKey key;
  std::string file;
  std::size_t line = 0;
  KeyMark mark = KeyMark::None;
};

// Does a hashed name field stand for the name? Injected, as it takes cryptography.
using HashedMatch = std::function<bool(const std::string& name, const std::string& field)>;

// The keys that the text of one file has for `name` ("host" or "[host]:port", lower case). Any bytes may come: lines
// that are not understood are skipped. Pure.
std::vector<KnownKey> keys_in(std::string_view text, const std::string& file, const std::string& name,
                              const HashedMatch& hashed);

// The same of all files that exist and can be read.
std::vector<KnownKey> known_keys(std::span<const std::string> files, const std::string& name);

enum class KeyVerdict : std::uint8_t { Known, Unknown, Changed, OtherType, Revoked };
struct KeyJudgement {
  KeyVerdict verdict = KeyVerdict::Unknown;
  std::optional<KnownKey> against;  // the line that decided
};
KeyJudgement judge(std::span<const KnownKey> known, const HostKey& shown);

// Host key algorithms to ask for, best first: those of the known keys before all others, so that a host that has
// several keys shows one that is known. Comma separated.
std::string preferred_algorithms(std::span<const KnownKey> known);

// Adds a line for the key unless one is there by now; the file and its folder are created for their owner only. Safe
// against other threads and processes that do the same (lock, one appending write). Error: HostKey when a different key
// was added meanwhile, Io when the file cannot be written.
Result<void> add_known_host(const std::string& file, const std::string& name, const HostKey& key);

}  // namespace sml::ssh

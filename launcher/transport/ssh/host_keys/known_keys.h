// The known keys of a host, parsed from the lines of known_hosts. Pure.
//
// Parsed here rather than by libssh, which skips @revoked lines and "!pattern", reads one file only, and does not
// report where the differing key is written. libssh supports no host certificates: @cert-authority lines are found, so
// that a refusal can name them as the reason, but make no key known.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "launcher/transport/ssh/ssh_session.h"

namespace sml::ssh {

enum class KeyMark : std::uint8_t { None, Revoked, Authority };  // @revoked, @cert-authority

struct KnownKey {
  HostKey key;
  std::string file;      // that contains it
  std::size_t line = 0;  // from 1
  KeyMark mark = KeyMark::None;
};

// Whether a hashed name field stands for the name, see hashed_name_matches(). Passed in, as it needs cryptography.
using HashedMatch = std::function<bool(const std::string& name, const std::string& field)>;

// RevokedKeys: the text form of RevokedHostKeys, one key on each line, for all hosts.
enum class KeyFile : std::uint8_t { KnownHosts, RevokedKeys };

// Finds the keys of `name` ("host" or "[host]:port", lower case) in one file, whose bytes come in pieces. Any bytes are
// accepted: lines that cannot be parsed are skipped, as ssh does. Buffers a line, not the file.
class KeyScan {
 public:
  static constexpr std::size_t kMaxLine = 1024 * 1024;

  KeyScan(KeyFile kind, std::string file, std::string name, HashedMatch hashed);

  // Takes the next bytes of the file. Error: HostKey, with file and line, for a line of more than kMaxLine, and for a
  // list of revoked keys in the binary form: its contents are unknown, so no host can be trusted. Do not call again
  // after an error.
  Result<void> take(std::string_view bytes);
  // Call once, after the last bytes: returns the keys in the order of the file. Error: as of take().
  Result<std::vector<KnownKey>> finish();

 private:
  Result<void> take_line(std::string_view line);

  KeyFile kind_;
  std::string file_;
  std::string name_;
  HashedMatch hashed_;
  std::string begun_;       // the beginning of a line, the rest of which has not been taken
  std::size_t number_ = 0;  // of the last line
  std::vector<KnownKey> keys_;
};

// Changed: the known keys have another key of this type. OtherType: they have only keys of other types.
enum class KeyVerdict : std::uint8_t { Known, Unknown, Changed, OtherType, Revoked };
struct KeyComparison {
  KeyVerdict verdict = KeyVerdict::Unknown;
  std::optional<KnownKey> against;  // the line that decided; for an unknown key: an authority's line, if any
};
// Compares the key that a host has sent with the keys of its name. If several lines apply, the first of these decides:
// Revoked, Known, Changed, OtherType.
KeyComparison compare(std::span<const KnownKey> known, const HostKey& shown);

// Returns the host key algorithms, comma separated, with those of the known keys before all others, so that a host with
// several keys sends one that is known.
std::string known_first(std::string_view algorithms, std::span<const KnownKey> known);

}  // namespace sml::ssh

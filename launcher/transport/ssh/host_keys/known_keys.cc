#include "launcher/transport/ssh/host_keys/known_keys.h"

#include <algorithm>
#include <array>
#include <utility>

#include "common/core/letters.h"
#include "common/core/text.h"
#include "common/core/text_cursor.h"
#include "launcher/transport/ssh/ssh_config.h"

namespace sml::ssh {
namespace {

constexpr std::string_view kBinaryList = "SSHKRL";  // the first bytes of a list of revoked keys in the binary form

bool names_match(const std::string& name, std::string_view field, const HashedMatch& hashed) {
  if (!field.starts_with('|')) return matches_pattern_list(name, split_list(field, ','));
  return field.find('\0') == std::string_view::npos && hashed(name, std::string(field));
}

bool is_base64(std::string_view text) {
  const auto allowed = [](char c) { return is_letter_or_digit(c) || c == '+' || c == '/' || c == '='; };
  return !text.empty() && std::all_of(text.begin(), text.end(), allowed);
}

// "[@mark] names type key". Compares the names first, since most lines need no further parsing.
std::optional<KnownKey> parse_known_host(std::string_view line, const std::string& name, const HashedMatch& hashed) {
  KnownKey result;
  std::string_view names = take_word(line);
  if (names.starts_with('@')) {
    if (names != "@revoked" && names != "@cert-authority") return std::nullopt;
    result.mark = names == "@revoked" ? KeyMark::Revoked : KeyMark::Authority;
    names = take_word(line);
  }
  if (names.empty() || names.front() == '#' || !names_match(name, names, hashed)) return std::nullopt;
  result.key.type = take_word(line);
  result.key.base64 = take_word(line);
  if (!is_base64(result.key.base64)) return std::nullopt;
  return result;
}

std::optional<KnownKey> parse_revoked_key(std::string_view line) {
  KnownKey result;
  result.key.type = take_word(line);
  result.key.base64 = take_word(line);
  result.mark = KeyMark::Revoked;
  if (result.key.type.starts_with('#') || !is_base64(result.key.base64)) return std::nullopt;
  return result;
}

}  // namespace

KeyScan::KeyScan(KeyFile kind, std::string file, std::string name, HashedMatch hashed)
    : kind_(kind), file_(std::move(file)), name_(std::move(name)), hashed_(std::move(hashed)) {}

Result<void> KeyScan::take(std::string_view bytes) {
  for (auto end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
    std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
    if (!begun_.empty()) line = begun_.append(line);
    if (auto taken = take_line(line); !taken) return taken;
    begun_.clear();
  }
  begun_.append(bytes);
  return begun_.size() > kMaxLine ? take_line(begun_) : Result<void>();
}

Result<std::vector<KnownKey>> KeyScan::finish() {
  if (!begun_.empty()) {
    if (auto taken = take_line(begun_); !taken) return taken.error();
  }
  begun_.clear();
  return std::move(keys_);
}

Result<void> KeyScan::take_line(std::string_view line) {
  ++number_;
  if (line.size() > kMaxLine) {
    return Error(ErrorKind::HostKey, show(file_) + " line " + std::to_string(number_) +
                                         " has more than 1 MiB: it cannot be read which host keys it makes known or "
                                         "revokes")
        .with_hint("mend the file; ssh-keygen -lf FILE shows what is in it");
  }
  std::optional<KnownKey> key;
  if (kind_ == KeyFile::RevokedKeys) {
    if (number_ == 1 && line.starts_with(kBinaryList)) {
      return Error(ErrorKind::HostKey, show(file_) +
                                           " is a list of revoked keys in the binary form (KRL), which "
                                           "sml-run cannot read")
          .with_hint("name a file with a public key in each line in RevokedHostKeys, or use --ssh-command ssh");
    }
    key = parse_revoked_key(line);
  } else {
    key = parse_known_host(line, name_, hashed_);
  }
  if (!key) return {};
  key->file = file_;
  key->line = number_;
  keys_.push_back(std::move(*key));
  return {};
}

KeyComparison compare(std::span<const KnownKey> known, const HostKey& shown) {
  const auto weigh = [&](const KnownKey& key) {
    const bool same = key.key.base64 == shown.base64;
    if (key.mark == KeyMark::Revoked) return same ? KeyVerdict::Revoked : KeyVerdict::Unknown;
    if (key.mark == KeyMark::Authority) return KeyVerdict::Unknown;
    if (same) return KeyVerdict::Known;
    return key.key.type == shown.type ? KeyVerdict::Changed : KeyVerdict::OtherType;
  };
  constexpr std::array kWorstFirst{KeyVerdict::Revoked, KeyVerdict::Known, KeyVerdict::Changed, KeyVerdict::OtherType};
  for (const KeyVerdict verdict : kWorstFirst) {
    const auto found = std::find_if(known.begin(), known.end(), [&](const KnownKey& k) { return weigh(k) == verdict; });
    if (found != known.end()) return {verdict, *found};
  }
  const auto authority =
      std::find_if(known.begin(), known.end(), [](const KnownKey& k) { return k.mark == KeyMark::Authority; });
  if (authority != known.end()) return {KeyVerdict::Unknown, *authority};
  return {};
}

std::string known_first(std::string_view algorithms, std::span<const KnownKey> known) {
  const auto is_known = [&](std::string_view algorithm) {
    const std::string_view type = algorithm.starts_with("rsa-sha2-") ? "ssh-rsa" : algorithm;
    return std::any_of(known.begin(), known.end(),
                       [&](const KnownKey& k) { return k.mark == KeyMark::None && k.key.type == type; });
  };
  auto names = split_list(algorithms, ',');
  std::stable_partition(names.begin(), names.end(), is_known);
  std::string list;
  for (const std::string& name : names) list.append(list.empty() ? "" : ",").append(name);
  return list;
}

}  // namespace sml::ssh

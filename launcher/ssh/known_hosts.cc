#include "launcher/ssh/known_hosts.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/core/clock.h"
#include "common/os/fd.h"
#include "launcher/ssh/local_identity.h"
#include "launcher/ssh/ssh_config.h"

namespace sml::ssh {
namespace {

constexpr std::size_t kMaxLine = 16 * 1024;
constexpr auto kLockTimeout = std::chrono::seconds(2);

std::string_view next_field(std::string_view& line) {
  const auto begin = std::min(line.find_first_not_of(" \t\r"), line.size());
  line.remove_prefix(begin);
  const auto field = line.substr(0, line.find_first_of(" \t\r"));
  line.remove_prefix(field.size());
  return field;
}

bool names_match(const std::string& name, std::string_view field, const HashedMatch& hashed) {
  if (!field.starts_with('|')) return matches_pattern_list(name, split_list(field, ','));
  return field.find('\0') == std::string_view::npos && hashed(name, std::string(field));
}

bool is_base64(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '/' ||
           c == '=';
  });
}

std::optional<KnownKey> parse_line(std::string_view line, const std::string& name, const HashedMatch& hashed) {
  if (line.size() > kMaxLine) return std::nullopt;
  KnownKey result;
  std::string_view field = next_field(line);
  if (field.empty() || field.front() == '#') return std::nullopt;
  if (field.front() == '@') {
    if (field != "@revoked") return std::nullopt;
    result.mark = KeyMark::Revoked;
    field = next_field(line);
  }
  const std::string_view names = field;
  result.key.type = next_field(line);
  result.key.base64 = next_field(line);
  if (!is_base64(result.key.base64) || !names_match(name, names, hashed)) return std::nullopt;
  return result;
}

bool lock_in_time(int fd) {
  const TimePoint deadline = Clock::now() + kLockTimeout;
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

bool ends_within_line(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) return false;
  char last = '\n';
  return ::pread(fd, &last, 1, info.st_size - 1) == 1 && last != '\n';
}

}  // namespace

std::vector<KnownKey> keys_in(std::string_view text, const std::string& file, const std::string& name,
                              const HashedMatch& hashed) {
  std::vector<KnownKey> keys;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    if (auto key = parse_line(text.substr(0, end), name, hashed)) {
      key->file = file;
      key->line = number;
      keys.push_back(std::move(*key));
    }
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return keys;
}

std::vector<KnownKey> known_keys(std::span<const std::string> files, const std::string& name) {
  std::vector<KnownKey> all;
  for (const std::string& file : files) {
    const auto text = read_small_file(file);
    if (!text) continue;
    auto keys = keys_in(*text, file, name, hashed_name_matches);
    std::move(keys.begin(), keys.end(), std::back_inserter(all));
  }
  return all;
}

KeyJudgement judge(std::span<const KnownKey> known, const HostKey& shown) {
  KeyJudgement result;
  const auto weigh = [&](const KnownKey& key) {
    const bool same = key.key.base64 == shown.base64;
    if (key.mark == KeyMark::Revoked) return same ? KeyVerdict::Revoked : KeyVerdict::Unknown;
    if (same) return KeyVerdict::Known;
    return key.key.type == shown.type ? KeyVerdict::Changed : KeyVerdict::OtherType;
  };
  constexpr std::array kWorstFirst{KeyVerdict::Revoked, KeyVerdict::Known, KeyVerdict::Changed, KeyVerdict::OtherType};
  for (const KeyVerdict verdict : kWorstFirst) {
    const auto found = std::find_if(known.begin(), known.end(), [&](const KnownKey& k) { return weigh(k) == verdict; });
    if (found != known.end()) return {verdict, *found};
  }
  return result;
}

std::string preferred_algorithms(std::span<const KnownKey> known) {
  struct Row {
    std::string_view type;
    std::string_view algorithms;
  };
  constexpr std::array<Row, 7> kRows{{{"ssh-ed25519", "ssh-ed25519"},
                                      {"ecdsa-sha2-nistp256", "ecdsa-sha2-nistp256"},
                                      {"ecdsa-sha2-nistp384", "ecdsa-sha2-nistp384"},
                                      {"ecdsa-sha2-nistp521", "ecdsa-sha2-nistp521"},
                                      {"sk-ssh-ed25519@openssh.com", "sk-ssh-ed25519@openssh.com"},
                                      {"sk-ecdsa-sha2-nistp256@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com"},
                                      {"ssh-rsa", "rsa-sha2-512,rsa-sha2-256"}}};
  const auto is_known = [&](const Row& row) {
    return std::any_of(known.begin(), known.end(),
                       [&](const KnownKey& k) { return k.mark == KeyMark::None && k.key.type == row.type; });
  };
  std::string first, rest;
  for (const Row& row : kRows) {
    std::string& list = is_known(row) ? first : rest;
    list.append(list.empty() ? "" : ",").append(row.algorithms);
  }
  return first.empty() || rest.empty() ? first + rest : first + "," + rest;
}

Result<void> add_known_host(const std::string& file, const std::string& name, const HostKey& key) {
  if (const auto slash = file.rfind('/'); slash != std::string::npos) ::mkdir(file.substr(0, slash).c_str(), 0700);
  const os::UniqueFd fd(::open(file.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  if (!fd) return sys_error(ErrorKind::Io, "cannot write " + file, errno);
  if (!lock_in_time(fd.get())) return Error(ErrorKind::Io, "cannot lock " + file);
  const auto verdict = judge(known_keys(std::span(&file, 1), name), key).verdict;
  if (verdict == KeyVerdict::Known) return {};
  if (verdict == KeyVerdict::Changed || verdict == KeyVerdict::Revoked) {
    return Error(ErrorKind::HostKey, "another key of the host was added to " + file + " meanwhile");
  }
  const std::string line = (ends_within_line(fd.get()) ? "\n" : "") + name + " " + key.type + " " + key.base64 + "\n";
  const auto n = ::write(fd.get(), line.data(), line.size());
  if (n != static_cast<ssize_t>(line.size()))
    return sys_error(ErrorKind::Io, "cannot write " + file, n < 0 ? errno : ENOSPC);
  return {};
}

}  // namespace sml::ssh

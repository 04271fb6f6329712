// The ssh configuration for one host. Pure: files are read, and commands of Match exec are run, through functions.
//
// The reader of libssh 0.10 is not used, because it matches later Host blocks against the substituted HostName, cannot
// express StrictHostKeyChecking=accept-new, knows one known_hosts file only, and neither IdentitiesOnly nor
// HostKeyAlias.
//
// This reader understands Host, Match (all, host, originalhost, user, localuser, exec, final, and canonical, which
// never applies), Include, and any "Keyword value" line. The first value of a keyword counts; IdentityFile and
// CertificateFile accumulate.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"

namespace sml::ssh {

// OwnersOnly: the file must belong to this user or root, and no one else may be able to write to it, since an ssh
// configuration names programs to run. FoldersToo: os::check_trust() accepts the path, or it is that of /dev/null.
enum class FileTrust : std::uint8_t { Any, OwnersOnly, FoldersToo };

// How files are read and commands are run.
struct ConfigFiles {
  // The content of a file. nullopt: it does not exist (a folder counts as none). Error: Io if it cannot be read, Config
  // if it is not trusted, is no regular file or is too large.
  std::function<Result<std::optional<std::string>>(const std::string& path, FileTrust trust)> read;
  std::function<std::vector<std::string>(const std::string& pattern)> glob;  // paths in order; for Include
  // For Match exec: whether a line of shell ends with status 0. Error: that could not be found out. Empty: Match exec
  // is an error.
  std::function<Result<bool>(const std::string& command)> run{};
};

// The host and user for which patterns and Match are evaluated.
struct ConfigSubject {
  std::string name;  // of the host, as the user wrote it
  std::string user;  // from the host list or an option; empty: the config decides
  std::string local_user;
  std::string home;                            // of the local user; "" when unknown
  std::string port{};                          // from the host list or an option; empty: the config decides
  std::map<char, std::string> local_tokens{};  // what %d, %i, %l, %L and %u stand for
};

// The role of a file determines how it is checked, as with ssh. Named (--ssh-config, like -F of ssh): must exist and be
// readable; FileTrust::FoldersToo. Users (~/.ssh/config): FileTrust::OwnersOnly. Systems (/etc/ssh/ssh_config): its
// owner is not checked. A file of Users or Systems may be missing or unreadable. Files that any of them includes must
// be readable and OwnersOnly.
enum class ConfigRole : std::uint8_t { Named, Users, Systems };

class SshConfig {
 public:
  SshConfig(ConfigSubject subject, ConfigFiles files);

  // Reads one file; call for each file, in order of precedence: values of an earlier file count. Relative Includes are
  // looked up in `include_folder`. Error: Config, with file and line.
  Result<void> read_file(const std::string& path, ConfigRole role, const std::string& include_folder);

  // The words of the first line that set `keyword` (lower case); empty if none did. The value of ProxyCommand is one
  // word: the rest of the line.
  const std::vector<std::string>& words(std::string_view keyword) const;
  // The first word, or "".
  const std::string& value(std::string_view keyword) const;
  // The first words of all IdentityFile lines, and of all CertificateFile lines.
  const std::vector<std::string>& identity_files() const { return identity_files_; }
  const std::vector<std::string>& certificate_files() const { return certificate_files_; }

 private:
  struct Line;
  Result<void> read_text(std::string_view text, const std::string& path, const std::string& folder, std::size_t depth);
  Result<void> take_line(const Line& line, const std::string& folder, std::size_t depth);
  Result<void> include(const std::vector<std::string>& patterns, const std::string& folder, std::size_t depth);
  Result<bool> match(const std::vector<std::string>& criteria) const;
  // The text that a criterion of Match is compared with; nullopt: this reader does not know the criterion.
  std::optional<std::string> subject_of(std::string_view criterion) const;
  Result<bool> exec_holds(const std::string& command) const;
  std::string current_host() const;
  std::string current_user() const;

  ConfigSubject subject_;
  ConfigFiles files_;
  bool active_ = true;  // the Host or Match block being read applies to this host
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> identity_files_;
  std::vector<std::string> certificate_files_;
};

// OpenSSH patterns: '*' and '?', ignoring case. A list matches if one pattern does and no "!pattern" does.
bool matches_pattern(std::string_view text, std::string_view pattern);
bool matches_pattern_list(std::string_view text, const std::vector<std::string>& patterns);
// The non-empty parts of the text between separators.
std::vector<std::string> split_list(std::string_view text, char separator);

// Replaces %x by the value of x in `tokens`, and %% by %. Error: Config, naming an unknown token.
Result<std::string> expand_tokens(std::string_view text, const std::map<char, std::string>& tokens);

// Whether the text is safe as a part of a shell command: 1 to 255 letters, digits and ._:-@+% only, not starting with
// '-'.
bool is_plain_word(const std::string& text);

}  // namespace sml::ssh

// Files with the secret of a job whose hosts call: checks whether such a file can be trusted, and creates the user's
// own.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

#include "common/core/clock.h"
#include "common/core/error.h"

namespace sml {

// Sizes of a secret, in bytes.
inline constexpr std::size_t kLeastSecret = 16;
inline constexpr std::size_t kMostSecret = 65536;

enum class SecretKind : std::uint8_t {
  Named,   // of --secret-file: may be a link, as in Kubernetes, or the FIFO of a shell's <(command)
  Default  // the user's own: must be a regular file that belongs to the user
};

struct SecretFileFacts {
  mode_t mode = 0;  // including the file type
  uid_t owner = 0;
  // The file is on an in-memory file system that is mounted read-only. Platforms mount secrets into a container this
  // way, readable by all users in it.
  bool is_mounted_secret = false;
};

// The reason why the user `self` cannot trust a secret's file; nullopt: it can be trusted. Pure. Refuses files that
// others can write, that belong to another user than `self` or (if named) root, or that others can read, unless it is a
// named file that is a mounted secret.
std::optional<Error> refuse_secret_file(const SecretFileFacts& facts, SecretKind kind, uid_t self);

// Checks the file, and returns its contents without trailing newlines. Error (Config): the message has no path.
Result<std::string> read_secret_file(const std::string& path, SecretKind kind);

// The path of the user's own secret below `config_folder`.
std::string default_secret_file(const std::string& config_folder);

// Creates the user's secret file with 32 random bytes, written in hexadecimal, and mode 0600, in folders of mode 0700.
// The file appears under its name only when it is complete. Error (Config): the file exists already, and is left as it
// is, or it cannot be created.
Result<void> make_secret_file(const std::string& path);

// Which host makes the secret of a job whose hosts share a home.
enum class SecretMaker : std::uint8_t { ThisHost, Another };

// Makes sure that the user's secret is there. ThisHost: makes the file, unless it exists. Another: waits for another
// host to make it, and looks five times a second until `timeout` has passed; blocks. No host ever sees an incomplete
// file. Error (Config or Timeout): names the path.
Result<void> share_secret_file(const std::string& path, SecretMaker maker, Duration timeout);

// Overwrites a variable in the memory that the kernel shows in /proc/PID/environ, and removes it from the environment
// of child processes. Call at the start of main(): no other thread may read the environment.
void forget_variable(char* const* environment, const std::string& name);

}  // namespace sml

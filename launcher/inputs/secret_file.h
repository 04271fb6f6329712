// Files with the secret of a job whose hosts call each other: checks whether one can be trusted, and creates the
// user's.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

#include "common/core/clock.h"
#include "common/core/error.h"

namespace sml {

inline constexpr std::size_t kLeastSecret = 16;
inline constexpr std::size_t kMostSecret = 65536;

enum class SecretKind : std::uint8_t {
  Named,   // of --secret-file: may be a link, as Kubernetes makes them, or what a shell's <(command) opens
  Default  // the user's own: no link, and owned by nobody else
};

struct SecretFileFacts {
  mode_t mode = 0;  // including the file type
  uid_t owner = 0;
  // On an in-memory file system that is mounted read-only: platforms mount secrets into a container this way, readable
  // by all users in it.
  bool is_mounted_secret = false;
};

// Why a secret's file cannot be trusted by the user `self`; nullopt: it can. Pure. Always refuses files that others can
// write, that belong to another user than `self` or (if named) root, or that others can read and that are no mounted
// secret.
std::optional<Error> refuse_secret_file(const SecretFileFacts& facts, SecretKind kind, uid_t self);

// The contents without trailing newlines. Error (Config): the message has no path.
Result<std::string> read_secret_file(const std::string& path, SecretKind kind);

// The path of the user's secret, below the folder for configurations.
std::string default_secret_file(const std::string& config_folder);

// Creates it, whole at once, with 32 random bytes and mode 0600, in folders of mode 0700. Error (Config): it exists
// already, or cannot be created; nothing has changed.
Result<void> make_secret_file(const std::string& path);

// Which host makes the secret of a job whose hosts share a home.
enum class SecretMaker : std::uint8_t { ThisHost, Another };

// Waits until the user's secret is there: makes it, unless it is, or waits for another host to make it, until
// `patience` has passed. Nobody ever sees a part of it. Error (Config or Timeout): names the path.
Result<void> share_secret_file(const std::string& path, SecretMaker maker, Duration patience);

// Overwrites a variable in the memory that the kernel shows in /proc/PID/environ, and removes it from the environment
// of child processes. Call at the start of main(): no other thread may read the environment.
void forget_variable(char* const* environment, const std::string& name);

}  // namespace sml

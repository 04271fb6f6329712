// Files that hold the secret of a job whose hosts call each other: whether one can be believed, and making the user's.
#pragma once
#include <optional>
#include <string>

#include <sys/types.h>

#include "common/core/error.h"

namespace sml {

inline constexpr std::size_t kLeastSecret = 16;
inline constexpr std::size_t kMostSecret = 65536;

enum class SecretKind : std::uint8_t {
  Named,   // of --secret-file: perhaps a link, as Kubernetes makes them, or what a shell's <(command) opens
  Default  // the user's own: no link, and of nobody else
};

struct SecretFileFacts {
  mode_t mode = 0;  // with its type
  uid_t owner = 0;
  // Of a file system in memory that is mounted read-only: so platforms mount secrets into a container, readable by all
  // users in it.
  bool is_mounted_secret = false;
};

// What is wrong with a secret's file, for the user `self`; nothing: it can be believed. Pure. Never what others can
// write to, of another user than `self` or (if named) root, or what others can read and is no mounted secret.
std::optional<Error> refuse_secret_file(const SecretFileFacts& facts, SecretKind kind, uid_t self);

// Its contents without the last newline. Error (Config): no path in the message.
Result<std::string> read_secret_file(const std::string& path, SecretKind kind);

// Where the user's is, below the folder of configurations.
std::string default_secret_file(const std::string& config_folder);

// Makes it, of 32 random bytes, with mode 0600, in folders of mode 0700. Error (Config): it is there already, or cannot
// be made; nothing has changed.
Result<void> make_secret_file(const std::string& path);

// Overwrites a variable in the memory that the kernel shows in /proc/PID/environ, and takes it from the environment of
// the processes that we start. For the beginning of main(): no other thread reads the environment.
void forget_variable(char* const* environment, const std::string& name);

}  // namespace sml

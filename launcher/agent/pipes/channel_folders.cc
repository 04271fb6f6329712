#include "launcher/agent/pipes/channel_folders.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sml::agent {

namespace {

constexpr std::size_t kMostKeys = 10'000'000;
constexpr std::size_t kDeepest = 100;

enum class Entry : std::uint8_t { File, Folder, Self };

Entry kind_of(DIR* folder, const dirent& entry) {
  const std::string_view name = entry.d_name;
  if (name == "." || name == "..") return Entry::Self;
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR ? Entry::Folder : Entry::File;
  struct stat status {};
  const bool known = ::fstatat(::dirfd(folder), entry.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0;
  return known && S_ISDIR(status.st_mode) ? Entry::Folder : Entry::File;
}

// Reads one folder: appends its files to `keys` and its subfolders, which are still to be read, to `folders`. `prefix`
// ends with '/', or is empty.
Result<void> read_one(const std::string& top, const std::string& prefix, std::vector<std::string>& keys,
                      std::vector<std::string>& folders) {
  const std::string path = top + "/" + prefix;
  DIR* folder = ::opendir(path.c_str());
  if (folder == nullptr) return sys_error(ErrorKind::Config, prefix.empty() ? top : path, errno);
  while (const dirent* entry = ::readdir(folder)) {
    const Entry kind = kind_of(folder, *entry);
    if (kind == Entry::File) keys.push_back(prefix + entry->d_name);
    if (kind == Entry::Folder) folders.push_back(prefix + entry->d_name + "/");
  }
  ::closedir(folder);
  return {};
}

bool make_folder(const std::string& path) { return ::mkdir(path.c_str(), 0777) == 0 || errno == EEXIST; }

// Makes the parent folders of a key. `made` caches the last parent folder that was made.
bool make_parents(const std::string& top, const std::string& key, std::string& made) {
  const std::size_t end = key.rfind('/');
  if (end == std::string::npos || made == key.substr(0, end)) return true;
  for (std::size_t at = key.find('/'); at != std::string::npos; at = key.find('/', at + 1)) {
    if (!make_folder(top + "/" + key.substr(0, at))) return false;
  }
  made = key.substr(0, end);
  return true;
}

Result<void> make_links(const plan::HostChannel& channel, const std::vector<std::string>& keys, plan::Share share,
                        const std::string& folder) {
  const auto failed = [&folder] { return sys_error(ErrorKind::Config, folder, errno); };
  if (!make_folder(folder)) return failed();
  std::string made;
  for (const std::size_t i : plan::keys_of(share, channel.order, keys.size())) {
    if (!make_parents(folder, keys[i], made)) return failed();
    const std::string target = channel.folder + "/" + keys[i];
    if (::symlink(target.c_str(), (folder + "/" + keys[i]).c_str()) != 0) return failed();
  }
  return {};
}

// Makes the folder of each share that a worker on this host has.
Result<std::map<std::uint32_t, std::string>> make_shares(const plan::HostChannel& channel, const std::string& top,
                                                         std::vector<std::string>& warnings) {
  std::map<std::uint32_t, std::string> out;
  const Result<std::vector<std::string>> keys = keys_below(channel.folder);
  if (!keys) return keys.error();
  if (top.empty()) {
    return Error(ErrorKind::Config, "no folder for its links can be made in $TMPDIR or /tmp");
  }
  const std::string parent = top + "/channel-" + channel.name;
  if (!make_folder(parent)) return sys_error(ErrorKind::Config, parent, errno);
  for (const plan::Share& share : channel.shares) {
    if (share.count < 2 || out.contains(share.index)) continue;
    const std::string folder = parent + "/" + std::to_string(share.index);
    if (Result<void> made = make_links(channel, *keys, share, folder); !made) return made.error();
    out[share.index] = folder;
    if (share.index > 0) continue;  // warn only once
    if (std::string text = plan::unequal_shares(channel.name, share.count, keys->size()); !text.empty()) {
      warnings.push_back(std::move(text));
    }
  }
  return out;
}

Error about(const plan::HostChannel& channel, const Error& why) {
  return Error(ErrorKind::Config, "channel " + channel.name + ": " + why.message())
      .with_hint("--channel NAME=DIR names a folder that every host with workers has");
}

// Adds the variables of one channel to those of each worker.
Result<void> add_channel(const plan::HostChannel& channel, const std::string& top, ChannelFolders& out) {
  const auto is_dealt = [](const plan::Share& share) { return share.count > 1; };
  std::map<std::uint32_t, std::string> folders;
  if (std::any_of(channel.shares.begin(), channel.shares.end(), is_dealt)) {
    Result<std::map<std::uint32_t, std::string>> made = make_shares(channel, top, out.warnings);
    if (!made) return made.error();
    folders = std::move(*made);
  }
  const std::vector<std::string> names = plan::channel_variables(channel.name);
  for (std::size_t i = 0; i < std::min(out.variables.size(), channel.shares.size()); ++i) {
    const plan::Share& share = channel.shares[i];
    const std::string& folder = is_dealt(share) ? folders[share.index] : channel.folder;
    for (const std::string& name : names) out.variables[i].push_back(name + "=" + folder);
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> keys_below(const std::string& folder) {
  std::vector<std::string> keys;
  std::vector<std::string> folders{""};
  while (!folders.empty()) {
    const std::string next = std::exchange(folders.back(), {});
    folders.pop_back();
    if (Result<void> read = read_one(folder, next, keys, folders); !read) return read.error();
    const auto depth = static_cast<std::size_t>(std::count(next.begin(), next.end(), '/'));
    if (keys.size() > kMostKeys || depth > kDeepest) {
      return Error(ErrorKind::Config, folder + " has more than " + std::to_string(kMostKeys) + " files, or folders " +
                                          std::to_string(kDeepest) + " deep");
    }
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

Result<ChannelFolders> make_channel_folders(std::span<const plan::HostChannel> channels, std::size_t workers,
                                            const std::string& top) {
  ChannelFolders out;
  out.variables.resize(workers);
  for (const plan::HostChannel& channel : channels) {
    if (Result<void> added = add_channel(channel, top, out); !added) return about(channel, added.error());
  }
  return out;
}

}  // namespace sml::agent

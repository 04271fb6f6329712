#include "launcher/agent/pipes/fifo_source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/core/text.h"
#include "common/os/fd.h"
#include "launcher/agent/pipes/gunzip.h"
#include "launcher/agent/pipes/objects.h"
#include "launcher/agent/pipes/record_splitter.h"

namespace sml::agent {

namespace {

constexpr int kSourcePipe = 1 << 20;
constexpr std::size_t kSourceRead = std::size_t{128} << 10;
constexpr int kDeepestFolder = 64;  // symbolic links may form a cycle

Error broken(const std::string& what, const std::string& path, int sys_errno, ErrorKind kind = ErrorKind::Io) {
  return sys_error(kind, what + " " + show(path), sys_errno);
}

class PlatformSource final : public FifoSource {
 public:
  PlatformSource(std::string folder, std::string channel) : base_(std::move(folder) + "/" + std::move(channel) + "_") {}

  Result<Opened> open(std::uint32_t epoch) override {
    path_ = base_ + std::to_string(epoch);
    fd_.reset(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (fd_) {
      os::widen_pipe(fd_.get(), kSourcePipe);
      return Opened::Yes;
    }
    if (errno == ENOENT) return Opened::NotYet;
    return broken("cannot open", path_, errno);
  }
  int wait_fd() const override { return fd_.get(); }
  Result<std::optional<std::size_t>> read(std::span<char> out) override {
    const ssize_t n = ::read(fd_.get(), out.data(), out.size());
    if (n >= 0) return std::optional(static_cast<std::size_t>(n));
    if (errno == EAGAIN || errno == EINTR) return std::optional<std::size_t>();
    return broken("cannot read", path_, errno);
  }
  void close() override { fd_.reset(); }
  std::string place() const override { return path_; }

 private:
  std::string base_;
  std::string path_;
  os::UniqueFd fd_;
};

// One file, read as it is or decompressed.
class ObjectReader {
 public:
  ObjectReader(std::string path, plan::FifoCompression compression)
      : path_(std::move(path)), gzip_(compression == plan::FifoCompression::Gzip) {}

  Result<void> open() {
    fd_.reset(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    if (!fd_) return broken("cannot open", path_, errno);
    struct stat status {};
    if (::fstat(fd_.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
      return Error(ErrorKind::Io, show(path_) + " is no file");
    }
    ::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
    if (gzip_) gunzip_ = std::make_unique<Gunzip>();
    in_ = {};
    return {};
  }
  // 0 at the end.
  Result<std::size_t> read(std::span<char> out) { return gzip_ ? read_gzip(out) : read_plain(out); }
  // The total number of bytes that read() returns.
  Result<std::uint64_t> size() {
    struct stat status {};
    if (::fstat(fd_.get(), &status) != 0) return broken("cannot look at", path_, errno);
    if (!gzip_) return static_cast<std::uint64_t>(status.st_size);
    std::uint64_t size = 0;
    std::vector<char> buffer(kSourceRead);
    for (;;) {
      const Result<std::size_t> n = read(buffer);
      if (!n) return n.error();
      if (*n == 0) break;
      size += *n;
    }
    if (Result<void> again = open(); !again) return again.error();
    return size;
  }
  const std::string& path() const { return path_; }

 private:
  Result<std::size_t> read_plain(std::span<char> out) {
    for (;;) {
      const ssize_t n = ::read(fd_.get(), out.data(), out.size());
      if (n >= 0) return static_cast<std::size_t>(n);
      if (errno != EINTR) return broken("cannot read", path_, errno);
    }
  }
  Result<std::size_t> read_gzip(std::span<char> out) {
    for (;;) {
      const Result<std::size_t> n = gunzip_->inflate(in_, out);
      if (!n) return Error(ErrorKind::Io, show(path_) + ": " + n.error().message());
      if (*n > 0) return *n;
      if (!in_.empty()) continue;
      buffer_.resize(kSourceRead);
      const Result<std::size_t> more = read_plain(buffer_);
      if (!more) return more.error();
      in_ = std::string_view(buffer_.data(), *more);
      if (*more > 0) continue;
      if (gunzip_->at_end()) return std::size_t{0};
      return Error(ErrorKind::Io, show(path_) + ": the file ends before its gzip stream");
    }
  }

  std::string path_;
  bool gzip_;
  os::UniqueFd fd_;
  std::unique_ptr<Gunzip> gunzip_;
  std::vector<char> buffer_;
  std::string_view in_;  // the rest of buffer_
};

class FileSource final : public FifoSource {
 public:
  explicit FileSource(const plan::FifoChannel& channel) : channel_(channel) {}

  Result<Opened> open(std::uint32_t epoch) override {
    Result<std::vector<std::string>> objects = list_objects(channel_.path);
    if (!objects) return objects.error();
    objects_ = std::move(*objects);
    next_ = 0;
    order_.clear();
    if (channel_.order == plan::FifoOrder::Shuffled) {
      order_ = fifos::shuffled(static_cast<std::uint32_t>(objects_.size()), channel_.seed, epoch);
    }
    return Opened::Yes;
  }
  int wait_fd() const override { return -1; }
  Result<std::optional<std::size_t>> read(std::span<char> out) override {
    for (;;) {
      if (!frame_.empty()) return std::optional(take_frame(out));
      if (!object_ && next_ == objects_.size()) return std::optional(std::size_t{0});
      if (!object_) {
        if (Result<void> begun = begin_object(); !begun) return begun.error();
        continue;
      }
      const Result<std::size_t> n = object_->read(out);
      if (!n) return n.error();
      taken_ += *n;
      if (*n > 0 && (!wraps() || taken_ <= size_)) return std::optional(*n);
      if (Result<void> ended = end_object(); !ended) return ended.error();
    }
  }
  void close() override {
    object_.reset();
    frame_.clear();
    next_ = objects_.size();
  }
  std::string place() const override { return object_ ? object_->path() : channel_.path; }

 private:
  bool wraps() const { return channel_.wrap == plan::FifoWrap::RecordIo; }

  std::size_t take_frame(std::span<char> out) {
    const std::size_t size = std::min(out.size(), frame_.size());
    std::memcpy(out.data(), frame_.data(), size);
    frame_.erase(0, size);
    return size;
  }
  Result<void> begin_object() {
    const std::size_t index = order_.empty() ? next_ : order_[next_];
    ++next_;
    object_.emplace(objects_[index], channel_.compression);
    taken_ = 0;
    if (Result<void> opened = object_->open(); !opened) return opened;
    if (!wraps()) return {};
    const Result<std::uint64_t> size = object_->size();
    if (!size) return size.error();
    if (*size > fifos::kLongestPayload) {
      return Error(ErrorKind::Io, show(object_->path()) + " has " + std::to_string(*size) +
                                      " bytes, and a RecordIO record at most " +
                                      std::to_string(fifos::kLongestPayload));
    }
    size_ = *size;
    const auto header = fifos::record_header(static_cast<std::uint32_t>(size_));
    frame_.assign(header.data(), header.size());
    return {};
  }
  Result<void> end_object() {
    const bool changed = wraps() && taken_ != size_;
    if (changed) {
      return Error(ErrorKind::Io, show(object_->path()) + " has changed while it was read: " + std::to_string(size_) +
                                      " bytes before, now " + std::to_string(taken_));
    }
    if (wraps()) frame_.assign(fifos::record_padding(size_), '\0');
    object_.reset();
    return {};
  }

  plan::FifoChannel channel_;
  std::vector<std::string> objects_;
  std::vector<std::uint32_t> order_;  // empty: as listed
  std::size_t next_ = 0;
  std::optional<ObjectReader> object_;
  std::uint64_t taken_ = 0;  // bytes read of the current object
  std::uint64_t size_ = 0;   // of the current object, if it is wrapped
  std::string frame_;        // the header or padding to return next
};

Result<void> list_folder_below(const std::string& folder, const std::string& prefix, int depth,
                               std::vector<std::string>& out) {
  if (depth > kDeepestFolder) return broken("cannot read the folder", folder, ELOOP, ErrorKind::Config);
  DIR* entries = ::opendir(folder.c_str());
  if (entries == nullptr) return broken("cannot read the folder", folder, errno, ErrorKind::Config);
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(entries)) names.emplace_back(entry->d_name);
  ::closedir(entries);
  for (const std::string& name : names) {
    if (name == "." || name == "..") continue;
    const std::string path = folder + "/" + name;
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return broken("cannot look at", path, errno, ErrorKind::Config);
    if (S_ISREG(status.st_mode)) out.push_back(prefix + name);
    if (!S_ISDIR(status.st_mode)) continue;
    if (Result<void> listed = list_folder_below(path, prefix + name + "/", depth + 1, out); !listed) return listed;
  }
  return {};
}

Result<std::vector<std::string>> read_manifest(const std::string& path) {
  const os::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd) return broken("cannot open the manifest", path, errno, ErrorKind::Config);
  std::string text;
  std::vector<char> buffer(kSourceRead);
  for (;;) {
    const ssize_t n = ::read(fd.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return broken("cannot read the manifest", path, errno, ErrorKind::Config);
    if (n == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(n));
    if (text.size() > fifos::kLargestManifest) return broken("too large a manifest:", path, EFBIG, ErrorKind::Config);
  }
  const std::size_t slash = path.rfind('/');
  Result<std::vector<std::string>> objects =
      fifos::parse_manifest(text, slash == std::string::npos ? "." : path.substr(0, slash));
  if (!objects) return Error(objects.error()).in(show(path));
  return objects;
}

Result<bool> is_folder(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return broken("cannot find", path, errno, ErrorKind::Config);
  if (S_ISDIR(status.st_mode)) return true;
  if (S_ISREG(status.st_mode)) return false;
  return Error(ErrorKind::Config, show(path) + " is neither a folder nor a manifest");
}

}  // namespace

std::unique_ptr<FifoSource> platform_source(std::string folder, std::string channel) {
  return std::make_unique<PlatformSource>(std::move(folder), std::move(channel));
}

std::unique_ptr<FifoSource> file_source(const plan::FifoChannel& channel) {
  return std::make_unique<FileSource>(channel);
}

Result<std::vector<std::string>> list_objects(const std::string& path) {
  const Result<bool> folder = is_folder(path);
  if (!folder) return folder.error();
  if (!*folder) return read_manifest(path);
  std::vector<std::string> out;
  if (Result<void> listed = list_folder_below(path, "", 0, out); !listed) return listed.error();
  if (out.empty()) return Error(ErrorKind::Config, "there is no file in " + show(path));
  std::sort(out.begin(), out.end());  // char_traits compares as unsigned bytes
  for (std::string& name : out) name.insert(0, path + "/");
  return out;
}

Result<void> check_objects(const std::string& path) {
  const Result<bool> folder = is_folder(path);
  if (!folder) return folder.error();
  if (*folder) {
    if (::access(path.c_str(), R_OK | X_OK) == 0) return {};
    return broken("cannot read the folder", path, errno, ErrorKind::Config);
  }
  const Result<std::vector<std::string>> objects = read_manifest(path);
  return objects ? Result<void>() : objects.error();
}

}  // namespace sml::agent

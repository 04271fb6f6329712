#include "launcher/transport/agent_image.h"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "common/os/nameless_file.h"
#include "common/os/trust.h"

extern "C" {
extern const char sml_agent_image_begin[];
extern const char sml_agent_image_end[];
extern const char sml_agent_image_id[];
extern const char sml_agent_image_cksum[];
}

namespace sml::transport {

namespace {

// FNV-1a, 64 bits: only distinguishes builds.
std::string id_of(std::string_view bytes) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

// CRC-32 as in cksum: highest bit first, followed by the length, lowest byte first.
std::string cksum_of(std::string_view bytes) {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t crc = i << 24;
    for (int bit = 0; bit < 8; ++bit) crc = (crc << 1) ^ ((crc >> 31) * 0x04c11db7U);
    table[i] = crc;
  }
  std::uint32_t crc = 0;
  const auto add = [&](std::size_t byte) { crc = (crc << 8) ^ table[(crc >> 24 ^ byte) & 0xff]; };
  for (const char c : bytes) add(static_cast<unsigned char>(c));
  for (std::size_t length = bytes.size(); length != 0; length >>= 8) add(length & 0xff);
  return std::to_string(~crc) + " " + std::to_string(bytes.size());
}

// Opens the file if it may be executed in place of the image.
os::UniqueFd open_if_it_is(const AgentImage& image, const std::string& path) {
  os::UniqueFd file(path.empty() ? -1 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat found {};
  if (!file || ::fstat(file.get(), &found) != 0 || !os::check_trust(path)) return {};
  if (!S_ISREG(found.st_mode) || (found.st_mode & S_IXUSR) == 0) return {};
  if (static_cast<std::size_t>(found.st_size) != image.bytes().size()) return {};
  std::array<char, 4096> head;
  const ssize_t read = ::pread(file.get(), head.data(), head.size(), 0);
  if (read <= 0 || !image.bytes().starts_with(std::string_view(head.data(), static_cast<std::size_t>(read)))) return {};
  return file;
}

Error unusable(const std::string& path, const std::string& why) {
  return Error(ErrorKind::Usage, "--agent-path " + path + ": " + why)
      .with_hint("name a file made by building sml-run-agent");
}

}  // namespace

AgentImage AgentImage::embedded() {
  AgentImage image;
  image.bytes_ =
      std::string_view(sml_agent_image_begin, static_cast<std::size_t>(sml_agent_image_end - sml_agent_image_begin));
  image.id_ = sml_agent_image_id;
  image.cksum_ = sml_agent_image_cksum;
  return image;
}

Result<AgentImage> AgentImage::load(const std::string& path) {
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) {
    return unusable(path, "is not a file");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return unusable(path, errno_text(errno));
  if (const Result<void> trusted = os::check_trust(path); !trusted) {
    return Error(ErrorKind::Usage, "--agent-path " + path + ": is not sent to hosts, as " + trusted.error().message())
        .with_hint("copy it to a folder that nobody else can write");
  }
  AgentImage image;
  image.owned_ = std::make_shared<std::string>(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  image.bytes_ = *image.owned_;
  if (!image.bytes_.starts_with(ELFMAG)) return unusable(path, "is not an executable file");
  image.id_ = id_of(image.bytes_);
  image.cksum_ = cksum_of(image.bytes_);
  return image;
}

std::string_view AgentImage::architecture() const {
  if (bytes_.size() < sizeof(Elf64_Ehdr)) return "";
  const auto at = offsetof(Elf64_Ehdr, e_machine);
  const unsigned code =
      static_cast<unsigned char>(bytes_[at]) | static_cast<unsigned>(static_cast<unsigned char>(bytes_[at + 1])) << 8;
  switch (code) {
    case EM_X86_64: return "x86_64";
    case EM_AARCH64: return "aarch64";
    case EM_PPC64: return "ppc64le";
    default: return "";
  }
}

std::string AgentImage::file_name() const { return "agent-" SML_VERSION "-" + id_; }

std::string installed_agent() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "" : program.parent_path() / "sml-run-agent";
}

Result<os::UniqueFd> executable_descriptor(const AgentImage& image, const std::string& installed) {
  if (os::UniqueFd file = open_if_it_is(image, installed); file) return file;
  return os::nameless_file("sml-run-agent", image.bytes(), os::FileUse::Execute);
}

}  // namespace sml::transport

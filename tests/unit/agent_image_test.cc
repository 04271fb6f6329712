#include "launcher/transport/agent_image.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/catch.h"

using namespace sml;
using transport::AgentImage;
using namespace std::string_literals;

namespace {

// A file that is gone with the test.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& bytes) {
    const int fd = ::mkstemp(path_.data());
    REQUIRE(fd >= 0);
    REQUIRE(::write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    ::close(fd);
  }
  ~TemporaryFile() { ::unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/agent_image_test-XXXXXX";
};

std::string elf_of(unsigned machine) {
  std::string bytes(sizeof(Elf64_Ehdr), '\0');
  bytes.replace(0, 4, ELFMAG);
  bytes[offsetof(Elf64_Ehdr, e_machine)] = static_cast<char>(machine & 0xff);
  bytes[offsetof(Elf64_Ehdr, e_machine) + 1] = static_cast<char>(machine >> 8 & 0xff);
  return bytes;
}

bool is_id(const std::string& id) {
  return id.size() == 16 && id.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace

TEST_CASE("the agent that we carry is an executable for this machine, under 2.4 MB") {
  const AgentImage image = AgentImage::embedded();
  CHECK(image.bytes().starts_with(ELFMAG));
  CHECK((kSanitized || image.bytes().size() < 2'400'000));
  CHECK(is_id(image.id()));
  CHECK(image.file_name() == "agent-" SML_VERSION "-" + image.id());
#if defined(__x86_64__)
  CHECK(image.architecture() == "x86_64");
#elif defined(__aarch64__)
  CHECK(image.architecture() == "aarch64");
#endif
}

namespace {

// What a descriptor is open on: a path, or "memory".
std::string what_is_executed(const AgentImage& image, const std::string& installed) {
  const auto fd = transport::executable_descriptor(image, installed);
  REQUIRE(fd.has_value());
  const std::string path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd->get())).string();
  return path.starts_with("/memfd:") ? "memory" : path;
}

}  // namespace

TEST_CASE("an installed agent is executed where it is, if it is the one that is carried and nobody else can write it") {
  const AgentImage image = AgentImage::embedded();
  const std::string bytes(image.bytes());
  const TemporaryFile same(bytes);
  ::chmod(same.path().c_str(), 0755);
  CHECK(what_is_executed(image, same.path()) == same.path());
  ::chmod(same.path().c_str(), 0757);
  CHECK(what_is_executed(image, same.path()) == "memory");
  ::chmod(same.path().c_str(), 0644);
  CHECK(what_is_executed(image, same.path()) == "memory");

  std::string changed = bytes;
  changed[0x310] = static_cast<char>(changed[0x310] ^ 1);
  for (const std::string& other : {bytes + "x", bytes.substr(0, bytes.size() - 1), changed, std::string()}) {
    const TemporaryFile file(other);
    ::chmod(file.path().c_str(), 0755);
    CHECK(what_is_executed(image, file.path()) == "memory");
  }

  ::chmod(same.path().c_str(), 0755);
  const std::string link = same.path() + ".link";
  REQUIRE(::symlink(same.path().c_str(), link.c_str()) == 0);
  CHECK(what_is_executed(image, link) == "memory");
  ::unlink(link.c_str());
  CHECK(what_is_executed(image, "") == "memory");
  CHECK(what_is_executed(image, "/nonexistent/sml-run-agent") == "memory");
}

TEST_CASE("a file is taken as it is, and its id is that of its bytes") {
  const TemporaryFile one(elf_of(EM_AARCH64) + "one");
  const TemporaryFile same(elf_of(EM_AARCH64) + "one");
  const TemporaryFile other(elf_of(EM_AARCH64) + "two");
  const auto first = AgentImage::load(one.path());
  const auto second = AgentImage::load(same.path());
  const auto third = AgentImage::load(other.path());
  REQUIRE((first.has_value() && second.has_value() && third.has_value()));
  CHECK(first->bytes() == elf_of(EM_AARCH64) + "one");
  CHECK(is_id(first->id()));
  CHECK(first->id() == second->id());
  CHECK(first->id() != third->id());
}

TEST_CASE("what cksum says of it is known without asking cksum") {
  const TemporaryFile small("\177ELF and more\n");
  const TemporaryFile large(elf_of(EM_X86_64) + std::string(100'000, '\xff'));
  for (const TemporaryFile* file : {&small, &large}) {
    const auto image = AgentImage::load(file->path());
    REQUIRE(image.has_value());
    CHECK(image->cksum() == (file == &small ? "2168263744 14" : "7905005 100064"));
  }
}

TEST_CASE("the cksum that was put in at build time is that of the bytes") {
  const AgentImage built = AgentImage::embedded();
  const TemporaryFile file{std::string(built.bytes())};
  const auto loaded = AgentImage::load(file.path());
  REQUIRE(loaded.has_value());
  CHECK(loaded->cksum() == built.cksum());
}

TEST_CASE("a copy of an image does not depend on the first") {
  const TemporaryFile file(elf_of(EM_X86_64) + std::string(1000, 'x'));
  AgentImage copy = AgentImage::embedded();
  {
    const auto loaded = AgentImage::load(file.path());
    REQUIRE(loaded.has_value());
    copy = *loaded;
  }
  CHECK(copy.bytes() == elf_of(EM_X86_64) + std::string(1000, 'x'));
}

TEST_CASE("machines are named as uname names them") {
  const std::pair<unsigned, const char*> rows[] = {
      {EM_X86_64, "x86_64"}, {EM_AARCH64, "aarch64"}, {EM_PPC64, "ppc64le"}, {EM_386, ""}, {0xffff, ""}};
  for (const auto& [code, name] : rows) {
    const TemporaryFile file(elf_of(code));
    const auto image = AgentImage::load(file.path());
    REQUIRE(image.has_value());
    CHECK(image->architecture() == name);
  }
  const TemporaryFile stub(ELFMAG);
  const auto image = AgentImage::load(stub.path());
  REQUIRE(image.has_value());
  CHECK(image->architecture() == "");
}

TEST_CASE("an agent that others can write is refused") {
  const TemporaryFile file(elf_of(EM_X86_64));
  ::chmod(file.path().c_str(), 0666);
  const auto image = AgentImage::load(file.path());
  REQUIRE(image.has_error());
  CHECK(image.error().kind() == ErrorKind::Usage);
  CHECK(image.error().message() == "--agent-path " + file.path() + ": is not sent to hosts, as " + file.path() +
                                       " can be written by every user of this machine");
}

TEST_CASE("what is no agent is refused, and named") {
  const TemporaryFile script("#!/bin/sh\n");
  const TemporaryFile empty("");
  for (const std::string& path : {script.path(), empty.path(), "/nonexistent/agent"s, "/tmp"s}) {
    CAPTURE(path);
    const auto image = AgentImage::load(path);
    REQUIRE(image.has_error());
    CHECK(image.error().kind() == ErrorKind::Usage);
    CHECK(image.error().message().starts_with("--agent-path " + path + ": "));
  }
}

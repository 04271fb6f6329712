#include "common/os/logs/log_files.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <sys/resource.h>

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::os;
namespace fs = std::filesystem;

namespace {

struct Folder {
  Folder() {
    std::string name = (fs::temp_directory_path() / "sml-logs-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  std::string operator/(const std::string& name) const { return path / name; }
  fs::path path;
};

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct DescriptorLimit {
  explicit DescriptorLimit(rlim_t soft) {
    ::getrlimit(RLIMIT_NOFILE, &before);
    const rlimit lower{soft, before.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &lower);
  }
  ~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before); }
  rlimit before{};
};

}  // namespace

TEST_CASE("folders and empty files are made, and bytes stay as they are") {
  const Folder folder;
  LogFiles files({}, {folder / "a/b/one", folder / "a/two", ""});
  REQUIRE(files.check().has_value());
  REQUIRE(files.create().has_value());
  CHECK(fs::exists(folder / "a/two"));
  const std::string bytes("x\0\n\r\xff no end", 13);
  REQUIRE(files.write(0, bytes).has_value());
  REQUIRE(files.write(0, bytes).has_value());
  REQUIRE(files.write(2, bytes).has_value());
  CHECK(contents(folder / "a/b/one") == bytes + bytes);
  CHECK(contents(folder / "a/two").empty());
}

TEST_CASE("files of an earlier job are kept unless they may be overwritten") {
  const Folder folder;
  std::ofstream(folder / "one") << "old";
  std::ofstream(folder / "one.2") << "older";
  LogFiles careful({}, {folder / "one"});
  const Result<void> refused = careful.check();
  REQUIRE(!refused);
  CHECK(refused.error().kind() == ErrorKind::Config);
  CHECK(refused.error().message() == (folder / "one") + " is there already, from an earlier job");
  CHECK(!careful.create());
  CHECK(contents(folder / "one") == "old");
  LogFiles bold({.max_size = 0, .overwrite = Overwrite::Yes}, {folder / "one"});
  REQUIRE(bold.check().has_value());
  REQUIRE(bold.create().has_value());
  REQUIRE(bold.write(0, "new").has_value());
  CHECK(contents(folder / "one") == "new");
  CHECK(!fs::exists(folder / "one.2"));
}

TEST_CASE("a file that is full becomes file.1, between lines where there are any") {
  const Folder folder;
  const std::string path = folder / "log";
  LogFiles files({.max_size = 10, .overwrite = Overwrite::No}, {path});
  REQUIRE(files.create().has_value());
  REQUIRE(files.write(0, "123456\n").has_value());
  REQUIRE(files.write(0, "ab\ncdefgh\n").has_value());
  CHECK(contents(path + ".1") == "123456\nab\n");
  CHECK(contents(path) == "cdefgh\n");
  REQUIRE(files.write(0, "a line of more than ten bytes").has_value());
  CHECK(contents(path + ".3") == "cdefgh\n");
  CHECK(contents(path + ".2") == "a line of ");
  CHECK(contents(path + ".1") == "more than ");
  CHECK(contents(path) == "ten bytes");
  for (int i = 0; i < 20; ++i) REQUIRE(files.write(0, "12345678\n").has_value());
  CHECK(contents(path + ".4") == "12345678\n");
  CHECK(!fs::exists(path + ".5"));
}

TEST_CASE("more files than descriptors") {
  const Folder folder;
  const DescriptorLimit few(40);
  std::vector<std::string> paths;
  for (int i = 0; i < 500; ++i) paths.push_back(folder / std::to_string(i));
  LogFiles files({}, paths);
  REQUIRE(files.create().has_value());
  for (const char* text : {"first ", "second"}) {
    for (std::size_t i = 0; i < paths.size(); ++i) REQUIRE(files.write(i, text).has_value());
  }
  for (const std::string& path : paths) CHECK(contents(path) == "first second");
}

TEST_CASE("a file that cannot be written is an error once") {
  const Folder folder;
  std::ofstream(folder / "file") << "no folder";
  LogFiles missing({}, {folder / "file/log", folder / "other"});
  const Result<void> made = missing.create();
  REQUIRE(!made);
  CHECK(made.error().message().find("/file") != std::string::npos);
  CHECK(missing.write(0, "x").has_value());
  CHECK(missing.write(1, "x").has_value());

  LogFiles full({.max_size = 0, .overwrite = Overwrite::Yes}, {"/dev/full"});
  REQUIRE(full.create().has_value());
  const Result<void> written = full.write(0, "x");
  REQUIRE(!written);
  CHECK(written.error().message() == "cannot write /dev/full: no space left on device");
  CHECK(full.write(0, "x").has_value());
}

TEST_CASE("a symbolic link is not followed") {
  const Folder folder;
  std::ofstream(folder / "precious") << "mine";
  fs::create_symlink(folder / "precious", folder / "log");
  LogFiles files({.max_size = 0, .overwrite = Overwrite::Yes}, {folder / "log"});
  CHECK(!files.create());
  CHECK(contents(folder / "precious") == "mine");
}

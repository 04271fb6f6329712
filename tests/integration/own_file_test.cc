#include "common/os/own_file.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::os;
namespace fs = std::filesystem;

namespace {

constexpr uid_t kOther = 4242;
constexpr gid_t kTheirGroup = 100;

// In /tmp, where others can write; and another one in a folder where only we can.
struct Folder {
  explicit Folder(const std::string& parent = "/tmp") {
    std::string name = parent + "/sml-own-XXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  std::string operator/(const std::string& name) const { return path / name; }
  void let_all_write() const { REQUIRE(::chmod(path.c_str(), 01777) == 0); }
  void let_a_group_write() const {
    REQUIRE(::chown(path.c_str(), 0, kTheirGroup) == 0);
    REQUIRE(::chmod(path.c_str(), 0775) == 0);
  }
  fs::path path;
};

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
void give_away(const std::string& path) { REQUIRE(::lchown(path.c_str(), kOther, kOther) == 0); }

bool writes(const std::string& path, const WriteRules& rules = {}) {
  const Result<UniqueFd> fd = open_own_file(path, rules);
  return fd && write_all(fd->get(), "new");
}
std::string why_not(const std::string& path, const WriteRules& rules = {}) {
  const Result<UniqueFd> fd = open_own_file(path, rules);
  return fd ? "" : fd.error().message();
}

}  // namespace

TEST_CASE("own file: made, emptied, kept, refused") {
  const Folder folder;
  CHECK(writes(folder / "a"));
  CHECK(writes(folder / "a"));
  CHECK(contents(folder / "a") == "new");
  CHECK(writes(folder / "a", {.if_there = IfThere::Keep}));
  CHECK(contents(folder / "a") == "newnew");
  CHECK(why_not(folder / "a", {.if_there = IfThere::Refuse}) == "cannot open " + folder / "a" + ": file exists");
  CHECK(writes(folder / "x//y/./z", {.folders = Folders::AreMade}));
  CHECK(contents(folder / "x/y/z") == "new");
  CHECK(why_not(folder / "none/z") == "cannot open " + folder / "none/z" + ": no such file or directory");
  CHECK(why_not(folder / "a/z") == "cannot open " + folder / "a/z" + ": not a directory");
  CHECK(why_not(folder / "x") == "cannot open " + folder / "x" + ": is a directory");
}

TEST_CASE("own file: a link in its place is not followed, whoever has made it") {
  const Folder folder, elsewhere;
  put(elsewhere / "precious", "precious");
  for (const bool other : {false, true}) {
    fs::create_symlink(elsewhere / "precious", folder / "link");
    if (other) give_away(folder / "link");
    CHECK(why_not(folder / "link").ends_with("it is a link, which is not followed"));
    CHECK_FALSE(writes(folder / "link", {.if_there = IfThere::Keep}));
    fs::remove(folder / "link");
  }
  fs::create_symlink(elsewhere / "made", folder / "dangling");
  CHECK_FALSE(writes(folder / "dangling"));
  CHECK(contents(elsewhere / "precious") == "precious");
  CHECK_FALSE(fs::exists(elsewhere / "made"));
}

TEST_CASE("own file: links on the way count when they are ours, or where others cannot write") {
  const Folder folder, elsewhere, home("/root");
  fs::create_symlink(elsewhere.path, folder / "ours");
  fs::create_symlink(elsewhere.path, folder / "theirs");
  give_away(folder / "theirs");
  CHECK(writes(folder / "ours/a"));
  CHECK(contents(elsewhere / "a") == "new");
  CHECK(why_not(folder / "theirs/b").ends_with("theirs is a link of another user, where others can write"));
  CHECK_FALSE(writes(folder / "theirs/sub/b", {.folders = Folders::AreMade}));
  CHECK_FALSE(fs::exists(elsewhere / "b"));
  CHECK_FALSE(fs::exists(elsewhere / "sub"));

  fs::create_directory(home / "real");
  fs::create_symlink("real", home / "theirs");
  give_away(home / "theirs");
  CHECK(writes(home / "theirs/c"));
  CHECK(contents(home / "real/c") == "new");
  fs::create_symlink("round", home / "round");
  CHECK_FALSE(writes(home / "round/c"));
}

TEST_CASE("own file: a link of ours counts as anybody's when it has a second name where others can write") {
  const Folder folder, elsewhere;
  folder.let_all_write();
  fs::create_symlink(elsewhere.path, elsewhere / "ours");
  CHECK(writes(elsewhere / "ours/a"));
  REQUIRE(::link((elsewhere / "ours").c_str(), (folder / "second").c_str()) == 0);
  CHECK_FALSE(writes(folder / "second/b"));
  CHECK_FALSE(fs::exists(elsewhere / "b"));
}

TEST_CASE("own file: what others have put where they can write is not ours") {
  const Folder folder, elsewhere("/root");
  folder.let_all_write();
  put(folder / "theirs", "theirs");
  give_away(folder / "theirs");
  CHECK(why_not(folder / "theirs").ends_with("it belongs to another user, and others can write in its folder"));
  CHECK(contents(folder / "theirs") == "theirs");
  REQUIRE(::mkfifo((folder / "fifo").c_str(), 0666) == 0);
  const UniqueFd reader(::open((folder / "fifo").c_str(), O_RDONLY | O_NONBLOCK));
  CHECK(writes(folder / "fifo"));
  give_away(folder / "fifo");
  CHECK_FALSE(writes(folder / "fifo"));
  put(folder / "precious", "precious");
  fs::create_hard_link(folder / "precious", folder / "second");
  CHECK_FALSE(writes(folder / "second"));
  CHECK(contents(folder / "precious") == "precious");
}

TEST_CASE("own file: where a group of others can write it is as where everybody can") {
  const Folder folder("/run"), elsewhere("/run");
  put(elsewhere / "precious", "precious");
  fs::create_symlink(elsewhere.path, folder / "link");
  REQUIRE(::mkfifo((folder / "fifo").c_str(), 0666) == 0);
  const UniqueFd reader(::open((folder / "fifo").c_str(), O_RDONLY | O_NONBLOCK));
  fs::create_hard_link(elsewhere / "precious", folder / "second");
  put(folder / "theirs", "theirs");
  for (const char* name : {"link", "fifo", "theirs"}) give_away(folder / name);
  CHECK(writes(folder / "link/made"));
  CHECK(writes(folder / "fifo"));
  CHECK(writes(folder / "theirs"));
  folder.let_a_group_write();
  CHECK_FALSE(writes(folder / "link/more"));
  CHECK_FALSE(writes(folder / "fifo"));
  CHECK_FALSE(writes(folder / "theirs"));
  CHECK_FALSE(writes(folder / "second"));
  CHECK(contents(elsewhere / "precious") == "precious");
}

TEST_CASE("own file: in another user's folder files are written, and no FIFO, second name or link of theirs is used") {
  const Folder folder("/run"), elsewhere("/run");
  put(folder / "file", "theirs");
  put(elsewhere / "precious", "precious");
  REQUIRE(::mkfifo((folder / "fifo").c_str(), 0666) == 0);
  const UniqueFd reader(::open((folder / "fifo").c_str(), O_RDONLY | O_NONBLOCK));
  fs::create_symlink(elsewhere.path, folder / "link");
  fs::create_hard_link(elsewhere / "precious", folder / "second");
  fs::create_directory(folder / "below");
  fs::create_symlink(elsewhere.path, folder / "below/link");
  for (const char* name : {"file", "fifo", "link", "below/link", ""}) give_away(folder / name);
  for (const mode_t mode : {0755U, 01777U}) {
    REQUIRE(::chmod(folder.path.c_str(), mode) == 0);
    CHECK(why_not(folder / "fifo").ends_with("it belongs to another user, and others can write in its folder"));
    for (const char* name : {"link/made", "below/link/made"}) {
      CHECK(why_not(folder / name).ends_with("link is a link of another user, where others can write"));
    }
    CHECK_FALSE(writes(folder / "second"));
    for (const char* name : {"file", "own", "below/own"}) CHECK(writes(folder / name));
  }
  CHECK_FALSE(fs::exists(elsewhere / "made"));
  CHECK(contents(elsewhere / "precious") == "precious");
}

TEST_CASE("own file: open files go by their names under /dev and /proc") {
  const Folder folder;
  int pipe[2];
  REQUIRE(::pipe(pipe) == 0);
  const UniqueFd in(pipe[0]), out(pipe[1]);
  for (const std::string way : {"/dev/fd/", "/proc/self/fd/"}) CHECK(writes(way + std::to_string(out.get())));
  fs::create_symlink("/proc/self/fd/" + std::to_string(out.get()), folder / "like-stdout");
  CHECK(writes(folder / "like-stdout"));
  char buffer[16];
  CHECK(::read(in.get(), buffer, sizeof buffer) == 9);
  CHECK(writes("/dev/null"));
}

TEST_CASE("own file: folders that are made where everybody can write are their maker's alone, and no group's to fill") {
  const Folder open, shared("/run"), closed("/run");
  open.let_all_write();
  shared.let_a_group_write();
  const mode_t before = ::umask(0);
  const std::pair<const Folder*, mode_t> rows[] = {{&open, 0700}, {&shared, 0755}, {&closed, 0777}};
  for (const auto& [folder, mode] : rows) {
    REQUIRE(writes(*folder / "a/file", {.folders = Folders::AreMade}));
    struct stat info {};
    REQUIRE(::stat((*folder / "a").c_str(), &info) == 0);
    CHECK((info.st_mode & 0777U) == mode);
  }
  ::umask(022);
  REQUIRE(writes(open / "b/c/file", {.folders = Folders::AreMade}));
  struct stat info {};
  REQUIRE(::stat((open / "b/c").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777U) == 0755);
  ::umask(before);
}

TEST_CASE("own file: a link in its place counts where that is asked for, and nobody else can have put it there") {
  const Folder folder;
  folder.let_all_write();
  const Folder target("/run");
  const WriteRules follows{.if_there = IfThere::Keep, .last_link = LastLink::CountsAsOthers};
  fs::create_symlink(target / "file", folder / "mine");
  fs::create_symlink("mine", folder / "again");
  CHECK_FALSE(writes(folder / "mine"));
  CHECK(writes(folder / "mine", follows));  // which leads nowhere yet
  CHECK(writes(folder / "again", follows));
  CHECK(contents(target / "file") == "newnew");
  give_away(folder / "mine");
  CHECK(why_not(folder / "again", follows) ==
        "cannot open " + folder / "mine" + ": it is a link, which is not followed");
  fs::create_symlink("circle", folder / "circle");
  CHECK(why_not(folder / "circle", follows).ends_with("too many levels of symbolic links"));
  CHECK(contents(target / "file") == "newnew");
}

TEST_CASE("own file: for reading too") {
  const Folder folder("/run");
  put(folder / "a", "x");
  const Result<UniqueFd> fd = open_own_file(folder / "a", {.if_there = IfThere::Keep, .access = Access::ReadAndWrite});
  REQUIRE(fd.has_value());
  char byte = 0;
  CHECK(::pread(fd->get(), &byte, 1, 0) == 1);
}

#include "common/os/trust.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "common/os/fd.h"
#include "common/os/spawn.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::os;
namespace fs = std::filesystem;

namespace {

constexpr uid_t kOther = 4242;

struct Folder {
  explicit Folder(const std::string& parent = "/root") {
    std::string name = parent + "/sml-trust-XXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  std::string operator/(const std::string& name) const { return path / name; }
  fs::path path;
};

std::string make(const std::string& path, mode_t mode = 0755, uid_t owner = 0, gid_t group = 0) {
  std::ofstream(path) << "#!/bin/sh\n";
  REQUIRE(::chown(path.c_str(), owner, group) == 0);
  REQUIRE(::chmod(path.c_str(), mode) == 0);
  return path;
}
std::string make_folder(const std::string& path, mode_t mode = 0755, uid_t owner = 0, gid_t group = 0) {
  fs::create_directory(path);
  REQUIRE(::chown(path.c_str(), owner, group) == 0);
  REQUIRE(::chmod(path.c_str(), mode) == 0);
  return path;
}
std::string make_link(const std::string& to, const std::string& path, uid_t owner = 0) {
  fs::create_symlink(to, path);
  REQUIRE(::lchown(path.c_str(), owner, owner) == 0);
  return path;
}
// Lets another user write there, too. False: the file system has no lists of access.
bool list_another_user(const std::string& path) {
  constexpr auto kNobody = static_cast<__le32>(ACL_UNDEFINED_ID);
  constexpr __le16 kReadAndWrite = ACL_READ | ACL_WRITE;
  const struct {
    posix_acl_xattr_header head{POSIX_ACL_XATTR_VERSION};
    posix_acl_xattr_entry entries[5]{{ACL_USER_OBJ, kReadAndWrite, kNobody},
                                     {ACL_USER, kReadAndWrite, kOther},
                                     {ACL_GROUP_OBJ, ACL_READ, kNobody},
                                     {ACL_MASK, kReadAndWrite, kNobody},
                                     {ACL_OTHER, ACL_READ, kNobody}};
  } list{};
  return ::setxattr(path.c_str(), "system.posix_acl_access", &list, sizeof list, 0) == 0;
}
// Empty: nothing is.
std::string in_the_way(const std::string& path) {
  const Result<void> trusted = check_trust(path);
  return trusted ? "" : trusted.error().message();
}

}  // namespace

TEST_CASE("trust: files and folders are root's or ours, and closed to others") {
  const Folder f;
  CHECK(in_the_way(make(f / "own")) == "");
  CHECK(in_the_way(f.path) == "");
  CHECK(in_the_way("/") == "");
  CHECK(in_the_way("/bin/sh") == "");
  CHECK(in_the_way(make(f / "theirs", 0755, kOther)) == f / "theirs belongs to user 4242");
  CHECK(in_the_way(make(f / "open", 0666)) == f / "open can be written by every user of this machine");
  CHECK(in_the_way(make(f / "of-root's-group", 0664)) == "");
  CHECK(in_the_way(make(f / "of-a-group", 0664, 0, 100)) == f / "of-a-group can be written by others of its group 100");
  CHECK(in_the_way(make_folder(f / "folder", 0777)) == f / "folder can be written by every user of this machine");
  CHECK(in_the_way(make(f / "folder/file")) == f / "folder can be written by every user of this machine");
  make_folder(f / "shared", 0775, 0, 100);
  CHECK(in_the_way(make(f / "shared/file")) == f / "shared can be written by others of its group 100");
  make_folder(f / "away", 0755, kOther);
  CHECK(in_the_way(make(f / "away/file")) == f / "away belongs to user 4242");
  CHECK(in_the_way(f / "none") == f / "none: no such file or directory");
  CHECK(in_the_way(f / "own/none") == f / "own: not a directory");
}

TEST_CASE("trust: others can write where everybody can, a group or an owner that is not ours; by path or descriptor") {
  const Folder f;
  struct Row {
    mode_t mode;
    gid_t group;
    bool open;
    uid_t owner = 0;
  };
  for (const Row& row : {Row{0755, 100, false}, Row{0775, 0, false}, Row{0775, 100, true}, Row{01777, 0, true},
                         Row{0755, 0, true, kOther}, Row{0500, 0, true, kOther}}) {
    const std::string path = make_folder(f / "folder", row.mode, row.owner, row.group);
    const UniqueFd fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    struct stat info {};
    REQUIRE(::fstat(fd.get(), &info) == 0);
    CHECK(others_can_write(path, info) == row.open);
    CHECK(others_can_write(fd.get(), info) == row.open);
  }
}

TEST_CASE("trust: whom a list of access names may write, and so may a group of the user's with another number") {
  const Folder f;
  make(f / "of-a-group", 0664, 0, 100);
  REQUIRE(::setegid(100) == 0);
  const std::string of_group = in_the_way(f / "of-a-group");
  REQUIRE(::setegid(0) == 0);
  CHECK(of_group == f / "of-a-group can be written by others of its group 100");
  make(f / "listed", 0644);
  if (list_another_user(f / "listed")) {  // else the file system has no lists of access, and none can be in the way
    CHECK(in_the_way(f / "listed") == f / "listed can be written by others of its group 0");
  }
}

TEST_CASE("trust: in a sticky folder what is there and ours counts, and nothing that may come") {
  const Folder f;
  make_folder(f / "tmp", 01777);
  CHECK(in_the_way(f / "tmp") == f / "tmp can be written by every user of this machine");
  CHECK(in_the_way(make(f / "tmp/own")) == "");
  make_folder(f / "tmp/mine", 0700);
  CHECK(in_the_way(make(f / "tmp/mine/file")) == "");
  CHECK(in_the_way(f / "tmp/mine/../own") == "");
  CHECK(in_the_way(make(f / "tmp/theirs", 0755, kOther)) == f / "tmp/theirs belongs to user 4242");
  CHECK(in_the_way(make_link("own", f / "tmp/link")) == "");
  CHECK(in_the_way(make_link("own", f / "tmp/their-link", kOther)) != "");
  fs::create_hard_link(f / "tmp/own", f / "tmp/another-name");
  CHECK(in_the_way(f / "tmp/another-name") != "");
}

TEST_CASE("trust: links are followed, and all that is on the way counts") {
  const Folder f;
  make(f / "own");
  make_folder(f / "open", 0777);
  make(f / "open/file");
  CHECK(in_the_way(make_link(f / "own", f / "whole")) == "");
  CHECK(in_the_way(make_link("own", f / "near", kOther)) == "");  // where nobody else can have put it
  CHECK(in_the_way(make_link("../" + f.path.filename().string() + "/own", f / "far")) == "");
  CHECK(in_the_way(make_link(f / "open", f / "folder")) == f / "open can be written by every user of this machine");
  CHECK(in_the_way(f / "folder/file") == f / "open can be written by every user of this machine");
  CHECK(in_the_way(make_link("round", f / "round")) == f / "round: too many levels of symbolic links");
  CHECK(in_the_way(make_link(f / "open/file", f / "open/own-link")) != "");
  CHECK(in_the_way("/dev/stdin") == "");
  CHECK(in_the_way("/proc/self/fd/0") == "");
  fs::current_path(f.path);
  CHECK(in_the_way("own") == "");
  CHECK(in_the_way("open/file") == f / "open can be written by every user of this machine");
  fs::current_path("/");
}

TEST_CASE("trust: another user's files are passed over where programs are looked for, with the reason") {
  const Folder f;
  make_folder(f / "a", 0755, kOther);
  make_folder(f / "b");
  make_folder(f / "c");
  make(f / "a/tool");
  make(f / "b/tool", 0644);  // no program
  make(f / "c/tool");
  const std::vector<std::string> files{f / "none/tool", f / "a/tool", f / "b/tool", f / "c/tool"};
  const TrustedProgram found = find_trusted_program(files);
  CHECK(found.file == f / "c/tool");
  CHECK(found.passed_over == std::vector{f / "a/tool is not run, as " + (f / "a") + " belongs to user 4242"});
  CHECK(find_trusted_program(std::span(files).first(3)).file == "");
}

TEST_CASE("trust: of the folders for libraries those stay that nobody else can fill") {
  const Folder f;
  make_folder(f / "own");
  make_folder(f / "tmp", 01777);
  std::vector<std::string> environment{
      "A=/tmp", "LD_LIBRARY_PATH=" + (f / "tmp") + ":" + (f / "own") + "::near:/usr/lib:" + (f / "none")};
  const std::vector<std::string> left_out = keep_trusted_folders(environment);
  CHECK(left_out == std::vector<std::string>{(f / "tmp") + " can be written by every user of this machine"});
  CHECK(environment == std::vector<std::string>{"A=/tmp", "LD_LIBRARY_PATH=" + (f / "own") + ":/usr/lib"});
}

TEST_CASE("trust: a folder for libraries does not stay where the wanted one in it can be changed") {
  const Folder f;
  make_folder(f / "own");
  make_folder(f / "open", 0777);
  make_link("../open/libx.so.1", f / "own/libx.so.1");
  for (const bool there : {false, true}) {  // at first the link leads nowhere
    if (there) make(f / "open/libx.so.1");
    std::vector<std::string> environment{"LD_LIBRARY_PATH=" + (f / "own") + ":/usr/lib"};
    CHECK(keep_trusted_folders(environment, "libx.so.1").size() == 1);
    CHECK(environment == std::vector<std::string>{"LD_LIBRARY_PATH=/usr/lib"});
    CHECK(keep_trusted_folders(environment, "libx.so.1").empty());
  }
}

TEST_CASE("trust: of the folders of PATH those stay that nobody else can fill, and never none") {
  const Folder f;
  make_folder(f / "own");
  make_folder(f / "group", 0775, 0, 100);
  make(f / "group/tool");
  std::vector<std::string> environment{"PATH=:.:near:" + (f / "group") + ":" + (f / "own") + ":" + (f / "none"),
                                       "A=/tmp"};
  std::vector<std::string> same = environment;
  const std::vector<std::string> left_out = keep_trusted_path(environment, "tool");
  CHECK(left_out == std::vector<std::string>{(f / "group") + " can be written by others of its group 100"});
  CHECK(environment == std::vector<std::string>{"PATH=" + (f / "own"), "A=/tmp"});
  CHECK(keep_trusted_path(same, "other").empty());
  CHECK(same == environment);
  std::vector<std::string> nothing{"PATH=" + (f / "group")};
  CHECK(keep_trusted_path(nothing).size() == 1);
  CHECK(nothing == std::vector<std::string>{"PATH=/usr/bin:/bin"});
}

TEST_CASE("trust: a program of ours gets of each list what nobody else can change") {
  const Folder f;
  make_folder(f / "own");
  make_folder(f / "open", 0777);
  make(f / "own/libx.so");
  make(f / "theirs.so", 0755, kOther);
  const std::string folders = ":.:near:" + (f / "open") + ":" + (f / "own") + "::" + (f / "none") + ":";
  const std::string libraries =
      (f / "theirs.so") + " " + (f / "own/libx.so") + ":libname.so own/libx.so:" + (f / "none");
  std::vector<std::string> environment{"A=" + folders,
                                       "PATH=" + folders,
                                       "LD_LIBRARY_PATH=" + folders,
                                       "PYTHONPATH=" + folders,
                                       "LD_PRELOAD=" + libraries,
                                       "LD_AUDIT=" + libraries,
                                       "PATHS=."};
  keep_trusted_lists(environment);
  CHECK(environment == std::vector<std::string>{"A=" + folders, "PATH=" + (f / "own"), "LD_LIBRARY_PATH=" + (f / "own"),
                                                "PYTHONPATH=" + (f / "own"),
                                                "LD_PRELOAD=" + (f / "own/libx.so") + ":libname.so",
                                                "LD_AUDIT=" + (f / "own/libx.so") + ":libname.so", "PATHS=."});
  std::vector<std::string> nothing{"PATH=", "LD_LIBRARY_PATH=" + (f / "open"), "PYTHONPATH=", "LD_PRELOAD=./x.so",
                                   "LD_AUDIT=" + (f / "theirs.so")};
  keep_trusted_lists(nothing);
  CHECK(nothing == std::vector<std::string>{"PATH=/usr/bin:/bin"});
}

TEST_CASE("trust: a helper gets lists of what nobody else can change, and an agent those that its workers will have") {
  const Folder f;
  const std::string folders = make_folder(f / "open", 0777) + ":/usr/bin:.";
  const std::vector<std::string> given{"A=1", "PATH=" + folders, "LD_LIBRARY_PATH=" + folders, "PYTHONPATH=."};
  const auto environment_of = [&](bool as_it_is) {
    const UniqueFd out(::open((f / "out").c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    const Result<pid_t> pid = spawn_helper({.argv = {"/usr/bin/env"},
                                            .stdin_fd = 0,
                                            .stdout_fd = out.get(),
                                            .stderr_fd = 2,
                                            .environment = given,
                                            .environment_as_it_is = as_it_is});
    REQUIRE(pid.has_value());
    REQUIRE(::waitpid(*pid, nullptr, 0) == *pid);
    std::ifstream text(f / "out");
    return std::string(std::istreambuf_iterator<char>(text), {});
  };
  CHECK(environment_of(true) == "A=1\nPATH=" + folders + "\nLD_LIBRARY_PATH=" + folders + "\nPYTHONPATH=.\n");
  CHECK(environment_of(false) == "A=1\nPATH=/usr/bin\nLD_LIBRARY_PATH=/usr/bin\n");
}

TEST_CASE("trust: a line for the shell is judged by the program that it begins with") {
  const Folder f;
  make_folder(f / "theirs", 0755, kOther);
  make(f / "theirs/look");
  make(f / "look");
  const std::vector<std::string> path{"PATH=" + (f / "theirs") + ":/usr/bin:/bin"};
  const auto passes = [&](const std::string& command, const std::string& folder = "/") {
    return check_trust_of_command(command, path, folder).has_value();
  };
  CHECK(passes(f / "look"));
  CHECK(passes("./look -v", f.path));
  CHECK(passes("sh " + (f / "theirs/look")));  // named by the user's own words
  CHECK(passes("nothing-of-that-name"));
  CHECK(passes("X=1 look"));
  CHECK(passes("\"look\""));
  CHECK_FALSE(passes(f / "theirs/look"));
  CHECK_FALSE(passes("  look; true"));
  CHECK_FALSE(passes("look|cat"));
  CHECK_FALSE(passes("theirs/look --all", f.path));
  // what the shell takes as it is there
  for (const char* name : {"\xc3\xb6", "x#", "x~", "x-=", "]", "^", "x!", "{a,b}", "x%", "\x01", "\xff"}) {
    const std::string folder = f / name;
    make_folder(folder, 0777);
    CHECK_FALSE(passes(make(folder + "/look") + " -v"));
    CHECK_FALSE(passes(std::string(name) + "/look", f.path));
    CHECK(passes(make(f / "own-" + name)));
  }
  for (const char* line : {"# theirs/look", "X=1/x look", "x_1+=theirs/look", "~/look", "look() { true; }", "! true",
                           "{ look; }", "(look)", "thei*/look", "[ -e /x/y ]"}) {
    CHECK(passes(line, f.path));  // words of the shell, or what it makes another word of
  }
}

TEST_CASE("trust: what a line for the shell begins with by a path is there already") {
  const Folder f;
  make_folder(f / "open", 0777);
  make_folder(f / "own");
  make(f / "own/text", 0644);
  const auto why = [&](const std::string& command) {
    const Result<TrustedCommand> out = check_trust_of_command(command, {}, f.path);
    return out ? "" : out.error().message();
  };
  CHECK(why(f / "open/look") == f / "open/look: no such file or directory");
  CHECK(why("./open/look -v") == f / "open/look: no such file or directory");
  CHECK(why("own/look|cat") == f / "own/look: no such file or directory");
  CHECK(why("own/text") == f / "own/text may not be executed");
  CHECK(why(f / "own") == f / "own may not be executed");
  CHECK(why("nothing-of-that-name") == "");  // the shell looks for it where nobody else can put it
}

TEST_CASE("trust: the shell gets the file that was judged, and looks for others in no folder that others can fill") {
  const Folder f;
  make_folder(f / "open", 0777);  // where a name may come between the look and the run
  make_folder(f / "own tools");
  make(f / "own tools/look");
  make(f / "near");
  const std::string path = "PATH=.:" + (f / "open") + ":" + (f / "own tools") + ":/usr/bin:/bin";
  const auto ready = [&](const std::string& command) {
    const Result<TrustedCommand> out = check_trust_of_command(command, std::vector<std::string>{"B=1", path}, f.path);
    REQUIRE(out.has_value());
    CHECK(out->left_out ==
          "; PATH is used without a folder, as " + (f / "open") + " can be written by every user of this machine");
    return out->line;
  };
  CHECK(ready(" look -v; true") == "'" + (f / "own tools/look") + "' -v; true");
  CHECK(ready("near|cat") == "./near|cat");  // relative to the folder in which the line is run
  CHECK(ready("./near -v") == "./near -v");
  CHECK(ready(f / "near") == f / "near");
  make(f / "{a,b}");
  CHECK(ready("./{a,b} -v") == "'./{a,b}' -v");  // of which bash would make two words
  for (const char* line : {"\"look\"", "$X/look", "~/look", "X=1 look", "nothing-of-that-name", ""})
    CHECK(ready(line) == line);
  for (const char* line : {"true && look", "test -e /x", "echo look", "if look; then exit 1; fi", "cd /; look"}) {
    CHECK(ready(line) == line);  // the shell's own words, though some are programs, too
  }
}

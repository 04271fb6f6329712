// Transports that run a process of this machine, and the script that puts the agent on a host, through real shells.
#include "launcher/transport/process_transport.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <functional>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>

#include "common/os/fd.h"
#include "common/os/spawn.h"
#include "common/wire/codec.h"
#include "common/wire/handshake.h"
#include "launcher/os/child.h"
#include "launcher/transport/bootstrap_script.h"
#include "tests/support/catch.h"
#include "tests/support/fake_init.h"
#include "tests/support/skip.h"
#include "tests/support/watchdog.h"

using namespace sml;
using namespace sml::transport;
using namespace std::chrono_literals;
using fake::Init;
using fake::ScratchFolder;

namespace {

struct Events final : TransportEvents {
  void transport_step(std::string_view step) override { steps.emplace_back(step); }
  void transport_is_local() override { is_local = true; }
  void transport_open(std::string_view, std::string_view) override { opened = true; }
  void transport_bytes(std::span<const char> span) override { bytes.append(span.data(), span.size()); }
  void transport_closed(const Error& why) override {
    ++closes;
    error = why;
  }
  std::vector<std::string> steps;
  bool is_local = false;
  bool opened = false;
  std::string bytes;
  int closes = 0;
  Error error;
};

wire::Hello quick_hello() {
  wire::Hello hello;
  hello.heartbeat_timeout_ms = 3'600'000;
  return hello;
}

// A loop, a transport and what it told.
struct Stage {
  ~Stage() { pool.join(); }
  void command(std::vector<std::string> words, const std::string& remote_command = "true",
               const std::string& host = "nowhere") {
    transport = make_command_transport(
        loop.get_executor(), pool,
        {.command = std::move(words), .host = host, .user = "u", .remote_command = remote_command});
    transport->start(events);
  }
  // Runs the loop until the condition holds; false when that takes too long.
  bool until(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + fake::watchdog();
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      loop.restart();
      loop.run_one_for(100ms);
    }
    return true;
  }
  void until_closed() {
    REQUIRE(until([this] { return events.closes > 0; }));
  }

  boost::asio::io_context loop{1};
  boost::asio::thread_pool pool{1};
  Events events;
  std::unique_ptr<AgentTransport> transport;
};

}  // namespace

TEST_CASE("command transport: host and remote command are the last two arguments, in one word each") {
  Init init;
  Stage stage;
  stage.command({"sh", "-c", "for a; do printf '<%s>' \"$a\"; done", "fake-ssh", "-q"}, "exec sh -c 'a  b'");
  stage.until_closed();
  CHECK(stage.events.opened);
  CHECK(stage.events.steps == std::vector<std::string>{"connecting"});
  CHECK(stage.events.bytes == "<-q><u@nowhere><exec sh -c 'a  b'>");
  CHECK(stage.events.error.message() == "exited with status 0");
  CHECK(stage.events.closes == 1);
  stage.transport.reset();
  CHECK(init.nothing_left());
}

TEST_CASE("command transport: without a user the host stands alone") {
  Init init;
  Stage stage;
  stage.transport =
      make_command_transport(stage.loop.get_executor(), stage.pool,
                             {.command = {"echo"}, .host = "203.0.113.1", .user = "", .remote_command = "cmd"});
  stage.transport->start(stage.events);
  stage.until_closed();
  CHECK(stage.events.bytes == "203.0.113.1 cmd\n");
}

TEST_CASE("command transport: this machine needs no command") {
  Init init;
  Stage stage;
  stage.transport =
      make_command_transport(stage.loop.get_executor(), stage.pool,
                             {.command = {"false"}, .host = "127.0.0.1", .user = "", .remote_command = "x"});
  stage.transport->start(stage.events);
  REQUIRE(stage.until([&] { return stage.events.is_local; }));
  CHECK_FALSE(stage.events.opened);
  CHECK(stage.events.closes == 0);
}

TEST_CASE("command transport: bytes of any value go both ways, and more than any pipe holds") {
  Init init;
  Stage stage;
  stage.command({"sh", "-c", "exec cat"});
  std::string sent;
  for (int i = 0; i < 2'000'000; ++i) sent.push_back(static_cast<char>(i * 13 + i / 255));
  REQUIRE(stage.until([&] { return stage.events.opened; }));
  for (std::size_t at = 0; at < sent.size(); at += 300'000) stage.transport->send(sent.substr(at, 300'000));
  CHECK(stage.transport->unsent() > 0);
  stage.transport->finish();
  stage.until_closed();
  CHECK((stage.events.bytes == sent));
  CHECK(stage.transport->unsent() == 0);
  stage.transport->send("ignored");
}

TEST_CASE("command transport: what the command says on stderr is the reason") {
  Init init;
  Stage stage;
  stage.command({"sh", "-c", "echo 'ssh: connect to host: Connection refused' >&2; exit 255"});
  stage.until_closed();
  CHECK(stage.events.error.kind() == ErrorKind::Lost);
  CHECK(stage.events.error.message() == "ssh: connect to host: Connection refused");
}

TEST_CASE("command transport: the last words on stderr are never missed, however many came before") {
  Init init;
  for (int round = 0; round < 20; ++round) {
    Stage stage;
    stage.command(
        {"sh", "-c",
         "i=0; while [ $i -lt 300 ]; do echo \"debug1: a long line of chatter before anything of interest $i\"; "
         "i=$((i + 1)); done >&2; echo 'the real cause' >&2; exit 255"});
    stage.until_closed();
    CHECK(stage.events.error.message().ends_with("the real cause"));
    CHECK(stage.events.error.message().size() <= 8192);
  }
}

TEST_CASE("command transport: without words its end is the reason") {
  Init init;
  const std::pair<const char*, const char*> rows[] = {{"exit 3", "exited with status 3"},
                                                      {"kill -9 $$", "was killed by SIGKILL (killed)"}};
  for (const auto& [script, words] : rows) {
    Stage stage;
    stage.command({"sh", "-c", script});
    stage.until_closed();
    CHECK(stage.events.error.message() == words);
  }
}

TEST_CASE("command transport: a command that is not there") {
  Init init;
  Stage stage;
  stage.command({"/nonexistent/ssh"});
  stage.until_closed();
  CHECK_FALSE(stage.events.opened);
  CHECK(stage.events.error.message() == "cannot start /nonexistent/ssh: no such file or directory");
}

TEST_CASE("command transport: when it goes its process goes, with its group, without a word") {
  Init init;
  Stage stage;
  stage.command({"sh", "-c", "sleep 1000 & echo $! $$; wait"});
  REQUIRE(stage.until([&] { return stage.events.bytes.find('\n') != std::string::npos; }));
  const pid_t sleeper = std::stoi(stage.events.bytes);
  CHECK(fake::runs(sleeper));
  stage.transport.reset();
  CHECK(init.nothing_left());
  CHECK_FALSE(fake::runs(sleeper));
  stage.loop.restart();
  stage.loop.poll();
  CHECK(stage.events.closes == 0);
}

TEST_CASE("local transport: our agent out of memory, with the given mark") {
  Init init;
  Stage stage;
  const AgentImage image = AgentImage::embedded();
  stage.transport = make_local_transport(stage.loop.get_executor(), image, "mark0");
  stage.transport->start(stage.events);
  REQUIRE(stage.until([&] { return !stage.events.bytes.empty(); }));
  CHECK(stage.events.bytes == wire::agent_line("mark0"));
  stage.transport->send(wire::encode(wire::ToAgent(quick_hello())));
  REQUIRE(stage.until([&] { return stage.events.bytes.size() > wire::agent_line("mark0").size(); }));
  stage.transport->finish();
  stage.until_closed();
  CHECK(stage.events.error.message() == "exited with status 0");
  CHECK(init.nothing_left());
}

TEST_CASE("local transport: a file that cannot be executed here is an end with a reason") {
  Init init;
  ScratchFolder folder;
  const auto image = AgentImage::load(folder.write("broken", std::string("\x7f") + "ELF" + std::string(100, 'x')));
  REQUIRE(image.has_value());
  Stage stage;
  stage.transport = make_local_transport(stage.loop.get_executor(), *image, "m");
  stage.transport->start(stage.events);
  stage.until_closed();
  CHECK_FALSE(stage.events.error.message().empty());
}

TEST_CASE("a helper's end is told once, with its status") {
  Init init;
  boost::asio::io_context loop{1};
  const auto null = os::open_dev_null();
  const auto run = [&](const char* script) {
    const auto pid = os::spawn_helper(
        {.argv = {"sh", "-c", script}, .stdin_fd = null->get(), .stdout_fd = null->get(), .stderr_fd = null->get()});
    REQUIRE(pid.has_value());
    std::vector<ExitStatus> ends;
    const os::Child child(loop.get_executor(), *pid, [&](ExitStatus status) { ends.push_back(std::move(status)); });
    CHECK(child.pid() == *pid);
    loop.restart();
    loop.run_for(fake::watchdog());
    REQUIRE(ends.size() == 1);
    return ends[0];
  };
  CHECK(run("exit 0") == ExitStatus(Exited{0}));
  CHECK(run("exit 200") == ExitStatus(Exited{200}));
  CHECK(run("kill -TERM $$") == ExitStatus(Signaled{SIGTERM, false}));
  CHECK(run("kill -KILL $$") == ExitStatus(Signaled{SIGKILL, false}));
  CHECK(init.nothing_left());
}

// ---- the script, as a login shell is given it

namespace {

// A host: a home folder, and a login shell that is given the script with our hands at both ends.
class Host {
 public:
  explicit Host(const std::string& home) : environment_{"HOME=" + home, "PATH=/usr/local/bin:/usr/bin:/bin"} {}
  void set(const std::string& entry) { environment_.push_back(entry); }

  // `shell` is the login shell; `inner` what takes the place of /bin/sh.
  void log_in(const std::string& shell = "sh", const std::string& inner = "/bin/sh", const StartLimits& limits = {}) {
    std::string line = bootstrap_script(image_, kMark, limits);
    line.replace(line.find("/bin/sh"), 7, inner);
    std::vector<std::string> argv = {"env", "-i"};
    argv.insert(argv.end(), environment_.begin(), environment_.end());
    argv.insert(argv.end(), {shell, "-c", line});
    auto sockets = os::make_socketpair();
    auto null = os::open_dev_null();
    const auto pid = os::spawn_helper(
        {.argv = argv, .stdin_fd = (*sockets)[1].get(), .stdout_fd = (*sockets)[1].get(), .stderr_fd = null->get()});
    REQUIRE(pid.has_value());
    pid_ = *pid;
    socket_ = std::move((*sockets)[0]);
  }
  std::string line() const { return fake::read_line(socket_.get()); }
  void send(std::string_view bytes) const { REQUIRE(os::write_all(socket_.get(), bytes)); }
  void send_agent() const { send(image_.bytes()); }
  void hang_up() { socket_.reset(); }
  void end_input() const { ::shutdown(socket_.get(), SHUT_WR); }
  // The line that asks for the agent: the folder that it is for.
  std::string wanted() const {
    const std::string text = line();
    const std::string before = kMark + " NEED " + std::string(image_.architecture()) + " ";
    REQUIRE(text.starts_with(before));
    return text.substr(before.size());
  }
  void must_run() const { CHECK(line() == kMark + " AGENT " + std::to_string(wire::kProtocolVersion)); }
  // It works, and leaves when we hang up.
  void must_work_and_leave() {
    send(wire::encode(wire::ToAgent(quick_hello())));
    char first = 0;
    CHECK(::read(socket_.get(), &first, 1) == 1);
    hang_up();
    int raw = -1;
    REQUIRE(fake::eventually([&] { return ::waitpid(pid_, &raw, WNOHANG) == pid_; }));
    CHECK(raw == 0);
  }
  const AgentImage& image() const { return image_; }
  pid_t pid() const { return pid_; }

 private:
  static inline const std::string kMark = "sml0123456789abcdef";
  AgentImage image_ = AgentImage::embedded();
  std::vector<std::string> environment_;
  pid_t pid_ = -1;
  os::UniqueFd socket_;
};

// Names of files below a folder, sorted, hidden ones too.
std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error)) {
    if (entry.is_regular_file()) out.push_back(entry.path().filename());
  }
  std::sort(out.begin(), out.end());
  return out;
}

unsigned mode_of(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 07777U : 0;
}

bool installed(const std::string& shell) {
  return std::system(("command -v " + shell + " >/dev/null 2>&1").c_str()) == 0;
}

}  // namespace

TEST_CASE("script: the agent is wanted once, cached, and taken from there the next time, in any shell") {
  Init init;
  for (const std::string shell : {"sh", "dash", "bash", "zsh", "csh", "fish", "ksh"}) {
    if (!installed(shell)) continue;
    CAPTURE(shell);
    ScratchFolder home;
    Host host(home.path());
    host.log_in(shell);
    CHECK(host.wanted() == home / ".cache/sml-run");
    host.send_agent();
    host.must_run();
    host.must_work_and_leave();
    const std::string cached = home / ".cache/sml-run/" + host.image().file_name();
    CHECK((fake::read_file(cached) == host.image().bytes()));
    CHECK(mode_of(cached) == 0700);
    CHECK(mode_of(home / ".cache/sml-run") == 0700);

    host.log_in(shell);
    host.must_run();
    host.must_work_and_leave();
    CHECK(files_in(home / ".cache/sml-run") == std::vector<std::string>{host.image().file_name()});
  }
  CHECK(init.nothing_left());
}

TEST_CASE("script: it is POSIX, whatever /bin/sh is") {
  Init init;
  for (const std::string inner : {"dash", "bash --posix", "zsh --emulate sh", "ksh"}) {
    if (!installed(inner.substr(0, inner.find(' ')))) continue;
    CAPTURE(inner);
    ScratchFolder home;
    Host host(home.path());
    host.log_in("sh", inner);
    CHECK(host.wanted() == home / ".cache/sml-run");
    host.send_agent();
    host.must_run();
    host.must_work_and_leave();
  }
}

TEST_CASE("script: a shell finds nothing to complain about in it") {
  Init init;
  for (const std::string shell : {"dash", "bash"}) {
    std::string line = bootstrap_script(AgentImage::embedded(), "mark");
    line.erase(0, std::string("exec /bin/sh -c '").size());
    line.pop_back();
    ScratchFolder folder;
    CHECK(std::system((shell + " -n " + folder.write("script", line)).c_str()) == 0);
  }
}

TEST_CASE("script: XDG_CACHE_HOME is where caches are") {
  Init init;
  ScratchFolder home;
  ScratchFolder caches;
  Host host(home.path());
  host.set("XDG_CACHE_HOME=" + caches / "with blank");
  host.log_in();
  CHECK(host.wanted() == caches / "with blank/sml-run");
  host.send_agent();
  host.must_run();
  host.must_work_and_leave();
  CHECK(files_in(home.path()).empty());
}

TEST_CASE("script: an agent of another build is no agent, and stays for its own") {
  Init init;
  ScratchFolder home;
  Host host(home.path());
  REQUIRE(std::filesystem::create_directories(home / ".cache/sml-run"));
  home.write(".cache/sml-run/agent-0.0.1-0123456789abcdef", "#!/bin/sh\nexit 1\n");
  home.write(".cache/sml-run/" + host.image().file_name(), "not executable", 0600);
  host.log_in();
  CHECK(host.wanted() == home / ".cache/sml-run");
  host.send_agent();
  host.must_run();
  host.must_work_and_leave();
  CHECK(files_in(home / ".cache/sml-run").size() == 2);
}

TEST_CASE("script: a home that takes no cache: a folder for this job alone, gone as soon as the agent runs") {
  Init init;
  ScratchFolder home;
  ScratchFolder runtime;
  home.write(".cache", "a file where the folder should be");  // as root no mode would keep us out
  Host host(home.path());
  host.set("XDG_RUNTIME_DIR=" + runtime.path());
  host.log_in();
  const std::string folder = host.wanted();
  CHECK(folder.starts_with(runtime / "sml-run-"));
  CHECK(mode_of(folder) == 0700);
  host.send_agent();
  host.must_run();
  CHECK(fake::eventually([&] { return mode_of(folder) == 0; }));
  host.must_work_and_leave();
  CHECK(std::filesystem::is_empty(runtime.path()));
}

TEST_CASE("script: without HOME and without caches there is still a folder") {
  Init init;
  Host host("/nonexistent/home");
  host.set("XDG_CACHE_HOME=/proc/no-such-place");
  host.log_in();
  const std::string folder = host.wanted();
  CHECK((folder.starts_with("/dev/shm/sml-run-") || folder.starts_with("/tmp/sml-run-") ||
         folder.starts_with("/var/tmp/sml-run-")));
  host.send_agent();
  host.must_run();
  CHECK(fake::eventually([&] { return mode_of(folder) == 0; }));
  host.must_work_and_leave();
}

TEST_CASE("script: a cache of another user is not trusted") {
  Init init;
  SML_SKIP_UNLESS(::geteuid() == 0, "only root can become another user");
  ScratchFolder home;
  Host host(home.path());
  REQUIRE(std::filesystem::create_directories(home / ".cache/sml-run"));
  const std::string planted = home.write(".cache/sml-run/" + host.image().file_name(), "#!/bin/sh\necho owned\n");
  REQUIRE(::chown((home / ".cache/sml-run").c_str(), 65534, 65534) == 0);
  host.set("XDG_RUNTIME_DIR=" + home.path());
  host.log_in();
  CHECK(host.wanted().starts_with(home / "sml-run-"));
  host.send_agent();
  host.must_run();
  host.must_work_and_leave();
  CHECK(fake::read_file(planted) == "#!/bin/sh\necho owned\n");
}

TEST_CASE("script: no agent is put where a group can exchange its folder") {
  Init init;
  SML_SKIP_UNLESS(::geteuid() == 0, "only root can give a folder to any group");
  ScratchFolder home;
  ScratchFolder runtime;
  for (const std::string& folder : {home / ".cache", runtime / "open"}) {
    REQUIRE(std::filesystem::create_directories(folder));
    REQUIRE(::chown(folder.c_str(), 0, 4242) == 0);
    REQUIRE(::chmod(folder.c_str(), 0775) == 0);
  }
  Host host(home.path());
  host.set("XDG_RUNTIME_DIR=" + runtime / "open");
  host.log_in();
  const std::string folder = host.wanted();
  CHECK_FALSE(folder.starts_with(home.path()));
  CHECK_FALSE(folder.starts_with(runtime.path()));
  host.send_agent();
  host.must_run();
  host.must_work_and_leave();
  CHECK(files_in(home.path()).empty());
  CHECK(std::filesystem::is_empty(runtime / "open"));
}

TEST_CASE("script: a group of root, or of the login's number, is no other user") {
  Init init;
  SML_SKIP_UNLESS(::geteuid() == 0, "only root can give a folder to any group");
  ScratchFolder home;
  Host host(home.path());
  REQUIRE(std::filesystem::create_directories(home / ".cache"));
  REQUIRE(::chown((home / ".cache").c_str(), 0, 0) == 0);
  REQUIRE(::chmod((home / ".cache").c_str(), 0775) == 0);
  host.log_in();
  CHECK(host.wanted() == home / ".cache/sml-run");
  host.send_agent();
  host.must_run();
  host.must_work_and_leave();
}

TEST_CASE("script: an upload that breaks off leaves nothing") {
  Init init;
  ScratchFolder home;
  ScratchFolder runtime;
  Host host(home.path());
  host.set("XDG_RUNTIME_DIR=" + runtime.path());
  host.log_in();
  host.wanted();
  host.send(host.image().bytes().substr(0, 100'000));
  host.hang_up();
  CHECK(init.nothing_left());
  CHECK(files_in(home.path()).empty());
  CHECK(std::filesystem::is_empty(runtime.path()));
}

TEST_CASE("script: who is not sent the whole agent asks for it in no other folder, and leaves") {
  Init init;
  ScratchFolder home;
  Host host(home.path());
  host.log_in();
  host.wanted();
  host.send(host.image().bytes().substr(0, 1000));
  host.end_input();
  CHECK(host.line().empty());
  CHECK(init.nothing_left());
}

TEST_CASE("script: an agent that is not whole is sent again") {
  Init init;
  ScratchFolder home;
  Host host(home.path());
  host.log_in();
  host.wanted();
  host.send_agent();
  host.must_run();
  host.must_work_and_leave();
  const std::string cached = home / ".cache/sml-run/" + host.image().file_name();
  std::filesystem::resize_file(cached, 5000);
  host.log_in();
  CHECK(host.wanted() == home / ".cache/sml-run");
  host.send_agent();
  host.must_run();
  host.must_work_and_leave();
  CHECK((fake::read_file(cached) == host.image().bytes()));
}

TEST_CASE("script: whatever the login's variables are") {
  Init init;
  for (const std::string inner : {"dash", "bash --posix", "zsh --emulate sh"}) {
    if (!installed(inner.substr(0, inner.find(' ')))) continue;
    CAPTURE(inner);
    ScratchFolder home;
    const std::string trap = home.write("trap", "echo sprung > " + home / "sprung\n");
    Host host(home.path());
    for (const char* name : {"ENV", "BASH_ENV"}) host.set(name + ("=" + trap));
    for (const char* name : {"sml_path", "sml_mask", "sml_why", "sml_cache", "sml_base", "sml_dir", "sml_at", "sml_top",
                             "sml_uid", "sml_gid"}) {
      host.set(name + ("=" + home.path()));
    }
    host.set("IFS=/-0");
    host.set("CDPATH=/tmp:/");
    host.set("PS4=$(touch " + home / "sprung)");
    host.set("SHELLOPTS=allexport:errexit:noglob:nounset");
    host.set("LC_ALL=nowhere");
    host.set("TMPDIR=/nonexistent");
    host.log_in("dash", inner);
    CHECK(host.wanted() == home / ".cache/sml-run");
    host.send_agent();
    host.must_run();
    CHECK(fake::read_file("/proc/" + std::to_string(host.pid()) + "/environ").find("sml_") == std::string::npos);
    host.must_work_and_leave();
    CHECK_FALSE(std::filesystem::exists(home / "sprung"));
  }
}

TEST_CASE("script: a folder that the login's variables name is not removed when the agent does not come") {
  Init init;
  ScratchFolder home;
  ScratchFolder precious;
  Host host(home.path());
  for (const char* name : {"sml_dir", "sml_at", "sml_base", "sml_cache"}) host.set(name + ("=" + precious.path()));
  host.log_in("sh", "/bin/sh", {.start_s = 1});
  host.wanted();
  CHECK(host.line().empty());  // it waits no longer
  CHECK(init.nothing_left());
  CHECK(std::filesystem::exists(precious.path()));  // though it is empty
}

TEST_CASE("script: the next login after a broken upload works") {
  Init init;
  ScratchFolder home;
  Host host(home.path());
  host.log_in();
  host.wanted();
  host.send(host.image().bytes().substr(0, 1));
  host.hang_up();
  CHECK(init.nothing_left());
  host.log_in();
  host.wanted();
  host.send_agent();
  host.must_run();
  host.must_work_and_leave();
}

TEST_CASE("script: a file of an upload that was killed goes with an upload an hour later") {
  Init init;
  ScratchFolder home;
  Host host(home.path());
  host.log_in();
  host.wanted();
  ::kill(-host.pid(), SIGKILL);
  host.hang_up();
  CHECK(init.nothing_left());
  const std::string cache = home / ".cache/sml-run";
  const std::vector<std::string> left = files_in(cache);
  REQUIRE(left.size() == 1);

  const auto upload = [&] {
    host.log_in();
    host.wanted();
    host.send_agent();
    host.must_run();
    host.must_work_and_leave();
    std::filesystem::remove(cache + "/" + host.image().file_name());
    return files_in(cache);
  };
  CHECK(upload() == left);  // another login may be writing it
  const auto written = std::filesystem::last_write_time(cache + "/" + left.front());
  std::filesystem::last_write_time(cache + "/" + left.front(), written - 61min);
  CHECK(upload().empty());
}

TEST_CASE("script: two logins at once on one home do not disturb each other") {
  Init init;
  ScratchFolder home;
  Host one(home.path());
  Host two(home.path());
  one.log_in();
  two.log_in();
  CHECK(one.wanted() == two.wanted());
  one.send_agent();
  one.must_run();
  two.send_agent();
  two.must_run();
  one.must_work_and_leave();
  two.must_work_and_leave();
  CHECK(files_in(home / ".cache/sml-run") == std::vector<std::string>{one.image().file_name()});
}

TEST_CASE("script: the login's file mode mask and PATH are those of the agent") {
  Init init;
  ScratchFolder home;
  Host host(home.path());
  host.set("MARKER=" + home.path());
  host.log_in("sh");
  host.wanted();
  host.send_agent();
  host.must_run();
  const std::string pid = std::to_string(host.pid());
  const std::string environment = fake::read_file("/proc/" + pid + "/environ");
  CHECK(environment.find(std::string("PATH=/usr/local/bin:/usr/bin:/bin") + '\0') != std::string::npos);
  CHECK(environment.find("MARKER=" + home.path()) != std::string::npos);
  const std::string status = fake::read_file("/proc/" + pid + "/status");
  const mode_t own = ::umask(0);
  ::umask(own);
  char expected[32];
  std::snprintf(expected, sizeof expected, "Umask:\t%04o\n", static_cast<unsigned>(own));
  CHECK(status.substr(status.find("Umask:"), std::string(expected).size()) == expected);
  host.must_work_and_leave();
}

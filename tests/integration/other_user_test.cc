// What another user puts in the place of the job's files and connections. As root, who can be both.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/os/boot.h"
#include "common/os/spawn.h"
#include "common/os/trust.h"
#include "launcher/agent/core/scratch_folder.h"
#include "launcher/agent/core/worker_server.h"
#include "launcher/agent/diagnosis/flight_recorder.h"
#include "launcher/agent/pipes/fifo_sink.h"
#include "launcher/agent/pipes/fifo_source.h"
#include "launcher/agent/stores/engine.h"
#include "launcher/agent/stores/store_server.h"
#include "launcher/control/runtime_folder.h"
#include "launcher/inputs/this_host.h"
#include "launcher/metrics/endpoint.h"
#include "launcher/os/renewed_file.h"
#include "tests/support/catch.h"
#include "tests/support/skip.h"

using namespace sml;
using namespace sml::agent;
namespace fs = std::filesystem;

namespace {

constexpr uid_t kTheirs = 4242;

struct OpenFolder {
  explicit OpenFolder(const std::string& parent = "/tmp") {
    std::string name = parent + "/sml-run-XXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~OpenFolder() { fs::remove_all(path); }
  std::string path;
};

// A variable of the environment, as long as this lives.
class Setting {
 public:
  Setting(const char* name, const std::string& value) : name_(name) {
    if (const char* given = std::getenv(name)) before_ = given;
    ::setenv(name, value.c_str(), 1);
  }
  ~Setting() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

void give_away(const std::string& path) { REQUIRE(::lchown(path.c_str(), kTheirs, kTheirs) == 0); }
void take_back(const std::string& path) { REQUIRE(::lchown(path.c_str(), 0, 0) == 0); }

// Hears everybody and understands nobody.
class DeafEngine : public agent::Engine {
 public:
  void opened(agent::ClientId client, TimePoint) override { clients.insert(client); }
  void received(agent::ClientId, std::string_view, TimePoint) override {}
  void sent(agent::ClientId, std::size_t, TimePoint) override {}
  std::string closed(agent::ClientId client) override {
    clients.erase(client);
    return {};
  }
  bool proved(agent::ClientId) const override { return false; }
  bool takes_input(agent::ClientId) const override { return true; }
  std::vector<agent::Effect> take_effects() override { return {}; }
  std::optional<TimePoint> deadline() const override { return std::nullopt; }
  void pass(TimePoint) override {}
  void restart_clocks(TimePoint) override {}
  std::set<agent::ClientId> clients;
};

// A store at a port of the loopback address.
struct Store {
  static constexpr std::size_t kMostClients = 8;

  Store() {
    os::UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(listener.get(), 64) == 0);
    REQUIRE(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
    StoreServer::Settings settings{
        "a store", {}, kMostClients, [this](const std::string& what) { said.push_back(what); }};
    server.emplace(loop, std::move(listener), engine, reconnect_socket, std::move(settings));
  }
  // A socket belongs to who makes it.
  os::UniqueFd call(uid_t user) const {
    ::setfsuid(user);
    os::UniqueFd out(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ::setfsuid(0);
    REQUIRE(::connect(out.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    return out;
  }
  // What has come by now is taken.
  void turn() {
    for (int i = 0; i < 8; ++i) {
      loop.restart();
      loop.poll();
    }
  }

  boost::asio::io_context loop;
  LocalConnectionCheck local{loop};
  ConnectionAuthorizer reconnect_socket{loop, local, [] { return std::vector<std::string>(); }, 1,
                                        [](const wire::AskPeerOwnership&) {}};
  DeafEngine engine;
  sockaddr_in address{};
  std::vector<std::string> said;
  std::optional<StoreServer> server;
};

void reset(os::UniqueFd connection) {
  const linger now{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(connection.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

}  // namespace

TEST_CASE("trust: the scratch folder of another user is left alone") {
  SML_SKIP_UNLESS(::geteuid() == 0, "only root can become another user");
  for (const bool theirs : {true, false}) {
    const OpenFolder folder;
    std::ofstream(folder.path + "/precious") << "precious";
    if (theirs) give_away(folder.path);
    remove_scratch_folder(folder.path);
    CHECK(fs::exists(folder.path + "/precious") == theirs);
  }
}

TEST_CASE("trust: the scratch folder is made where no other user can exchange it") {
  SML_SKIP_UNLESS(::geteuid() == 0, "only root can become another user");
  const OpenFolder top;
  const Setting temporary("TMPDIR", top.path);
  REQUIRE(::chown(top.path.c_str(), 0, kTheirs) == 0);
  const std::pair<mode_t, bool> rows[] = {{0755, true}, {01777, true}, {0777, false}, {0775, false}};
  for (const auto& [mode, taken] : rows) {
    REQUIRE(::chmod(top.path.c_str(), mode) == 0);
    const ScratchFolder folder = ScratchFolder::make();
    CHECK(folder.path().starts_with((taken ? top.path : "/tmp") + "/sml-run-"));
    CHECK(fs::is_empty(top.path) != taken);
  }
}

TEST_CASE("trust: no folder is cleared that another user can have given the name of a scratch folder") {
  SML_SKIP_UNLESS(::geteuid() == 0, "only root can become another user");
  struct Row {
    mode_t mode;
    uid_t owner;
    bool cleared;
  };
  for (const Row& row : {Row{0755, 0, true}, Row{01777, 0, true}, Row{0777, 0, false}, Row{0775, 0, false},
                         Row{0755, kTheirs, false}, Row{01777, kTheirs, false}}) {
    const OpenFolder top;
    const Setting temporary("TMPDIR", top.path);
    REQUIRE(::chown(top.path.c_str(), row.owner, kTheirs) == 0);
    REQUIRE(::chmod(top.path.c_str(), row.mode) == 0);
    const std::string left = top.path + "/sml-run-" + os::boot_name() + "-AAAAAA";
    fs::create_directory(left);
    std::ofstream(left + "/precious") << "precious";
    const ScratchFolder folder = ScratchFolder::make();
    CHECK(fs::exists(left) != row.cleared);
    CHECK(fs::exists(left + "/precious") != row.cleared);
  }
}

TEST_CASE("trust: an error file of another user is not a worker's") {
  SML_SKIP_UNLESS(::geteuid() == 0, "only root can become another user");
  const OpenFolder top;
  const Setting temporary("TMPDIR", top.path);
  const ScratchFolder folder = ScratchFolder::make();
  const Rank rank(3);
  std::ofstream(folder.error_file(rank)) << "why";
  give_away(folder.error_file(rank));
  CHECK(folder.take_error_file(rank, 100).empty());
  take_back(folder.error_file(rank));
  CHECK(folder.take_error_file(rank, 100) == "why");
  CHECK_FALSE(fs::exists(folder.error_file(rank)));

  fs::rename(folder.path(), top.path + "/moved");
  fs::create_directory(folder.path());
  std::ofstream(folder.error_file(rank)) << "theirs";
  CHECK(folder.take_error_file(rank, 100).empty());
}

TEST_CASE("trust: the scratch folder is emptied, and not what another user puts in its place") {
  const OpenFolder top;
  const Setting temporary("TMPDIR", top.path);
  {
    const ScratchFolder folder = ScratchFolder::make();
    REQUIRE(folder.path().starts_with(top.path + "/"));
    std::ofstream(folder.path() + "/ours") << "ours";
    fs::rename(folder.path(), top.path + "/moved");
    fs::create_directory(folder.path());
    std::ofstream(folder.path() + "/precious") << "precious";
    folder.clear();
    CHECK(fs::is_empty(top.path + "/moved"));
    CHECK(fs::exists(folder.path() + "/precious"));
  }
  CHECK(std::distance(fs::recursive_directory_iterator(top.path), {}) == 3);  // both folders, and the file
}

TEST_CASE("trust: a scratch folder is closed to others, and a link in the place of one leads nowhere") {
  const OpenFolder top;
  {
    const ScratchFolder folder = ScratchFolder::make();
    struct stat about {};
    REQUIRE(::stat(folder.path().c_str(), &about) == 0);
    CHECK((about.st_mode & 07777U) == 0700U);
  }
  std::ofstream(top.path + "/precious") << "precious";
  fs::create_directory_symlink(top.path, top.path + "/sml-run-link");
  remove_scratch_folder(top.path + "/sml-run-link");
  CHECK(fs::exists(top.path + "/precious"));
}

TEST_CASE("trust: a FIFO of another user in the place of the platform's feeds nobody") {
  SML_SKIP_UNLESS(::geteuid() == 0, "only root can become another user");
  const OpenFolder folder("/run");
  const std::string fifo = folder.path + "/t_0";
  REQUIRE(::mkfifo(fifo.c_str(), 0666) == 0);
  give_away(fifo);
  FifoSource source(folder.path, "t");
  CHECK(source.open(0).has_value());  // nobody else can write in the folder, nor above
  REQUIRE(::chmod(folder.path.c_str(), 01777) == 0);
  const Result<FifoSource::Opened> opened = source.open(0);
  REQUIRE_FALSE(opened.has_value());
  CHECK(opened.error().message() == "cannot open " + fifo + ": another user made it, where others can write");
  CHECK(source.wait_fd() == -1);
  give_away(folder.path);
  CHECK_FALSE(source.open(0).has_value());
  REQUIRE(::chmod(folder.path.c_str(), 0755) == 0);
  CHECK_FALSE(source.open(0).has_value());
  take_back(folder.path);
  take_back(fifo);
  CHECK(source.open(0).has_value());
}

TEST_CASE("trust: what a group of others puts in the place of the platform's FIFO feeds nobody") {
  SML_SKIP_UNLESS(::geteuid() == 0, "only root can become another user");
  const OpenFolder folder("/run"), elsewhere;
  const std::string fifo = folder.path + "/t_0";
  const std::string own = elsewhere.path + "/own";
  REQUIRE(::mkfifo(fifo.c_str(), 0666) == 0);
  REQUIRE(::mkfifo(own.c_str(), 0600) == 0);
  REQUIRE(::chown(folder.path.c_str(), 0, kTheirs) == 0);
  REQUIRE(::chmod(folder.path.c_str(), 0775) == 0);
  FifoSource source(folder.path, "t");
  CHECK(source.open(0).has_value());
  give_away(fifo);
  CHECK_FALSE(source.open(0).has_value());
  fs::remove(fifo);
  CHECK((*source.open(0) == FifoSource::Opened::NotYet));
  fs::create_symlink(own, fifo);
  give_away(fifo);
  CHECK_FALSE(source.open(0).has_value());
  fs::remove(fifo);
  fs::create_hard_link(own, fifo);
  CHECK_FALSE(source.open(0).has_value());
}

TEST_CASE("trust: another user's pipe and dump in the place of a flight recorder's are left alone") {
  SML_SKIP_UNLESS(::geteuid() == 0, "only root can become another user");
  const OpenFolder folder;
  const std::string pipe = folder.path + "/pipe";
  const std::string dump = folder.path + "/dump";
  REQUIRE(::mkfifo(pipe.c_str(), 0666) == 0);
  const os::UniqueFd reader(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  FlightRecorder recorder(pipe, dump);
  give_away(pipe);
  CHECK_FALSE(recorder.trigger());
  take_back(pipe);
  REQUIRE(recorder.trigger());
  std::ofstream(dump) << "records";
  give_away(dump);
  for (int looks = 0; looks < 2; ++looks) CHECK_FALSE(recorder.poll(100).has_value());
  take_back(dump);
  CHECK_FALSE(recorder.poll(100).has_value());  // it may still grow
  CHECK(recorder.poll(100) == "records");
}

TEST_CASE("trust: links in the place of a flight recorder's pipe and dump are not followed") {
  const OpenFolder folder;
  REQUIRE(::mkfifo((folder.path + "/ours").c_str(), 0600) == 0);
  const os::UniqueFd reader(::open((folder.path + "/ours").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  std::ofstream(folder.path + "/secret") << "secret";
  fs::create_symlink("ours", folder.path + "/pipe");
  fs::create_symlink("secret", folder.path + "/dump");
  FlightRecorder recorder(folder.path + "/pipe", folder.path + "/dump");
  for (int looks = 0; looks < 2; ++looks) CHECK_FALSE(recorder.poll(100).has_value());
  CHECK_FALSE(recorder.trigger());
}

TEST_CASE("trust: a FIFO of another user in the place of a worker's is not kept") {
  SML_SKIP_UNLESS(::geteuid() == 0, "only root can become another user");
  const OpenFolder folder;
  REQUIRE(::mkfifo((folder.path + "/t_0").c_str(), 0666) == 0);
  const FifoSink sink(folder.path, "t");
  CHECK(sink.make(0).has_value());
  give_away(folder.path + "/t_0");
  CHECK_FALSE(sink.make(0).has_value());
}

TEST_CASE("trust: a FIFO that another user has exchanged after it was made gets nothing") {
  SML_SKIP_UNLESS(::geteuid() == 0, "only root can become another user");
  const OpenFolder folder;
  const std::string fifo = folder.path + "/t_0";
  FifoSink sink(folder.path, "t");
  REQUIRE(sink.make(0).has_value());
  fs::remove(fifo);
  REQUIRE(::mkfifo(fifo.c_str(), 0666) == 0);
  give_away(fifo);
  const os::UniqueFd reader(::open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  sink.await(0);
  const Result<bool> looked = sink.look();
  REQUIRE_FALSE(looked.has_value());
  CHECK(looked.error().message().ends_with("something of another user is in its place"));

  const OpenFolder elsewhere;
  REQUIRE(::mkfifo((elsewhere.path + "/own").c_str(), 0600) == 0);
  const os::UniqueFd own(::open((elsewhere.path + "/own").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  fs::remove(fifo);
  fs::create_symlink(elsewhere.path + "/own", fifo);
  CHECK_FALSE(sink.look().has_value());
}

TEST_CASE("trust: a flood of another user's connections takes no place from the job's own") {
  SML_SKIP_UNLESS(::geteuid() == 0, "only root can become another user");
  Store store;
  const os::UniqueFd rank = store.call(0);
  store.turn();
  REQUIRE(store.engine.clients.size() == 1);
  std::vector<os::UniqueFd> silent;
  for (std::size_t i = 0; i < 5 * Store::kMostClients; ++i) {
    reset(store.call(kTheirs));
    silent.push_back(store.call(kTheirs));
    store.turn();
  }
  CHECK(store.engine.clients.size() == 1);
  char byte = 0;
  CHECK(::recv(rank.get(), &byte, 1, MSG_DONTWAIT) < 0);
  CHECK(errno == EAGAIN);
}

TEST_CASE("trust: a rank that comes during another user's flood is served") {
  SML_SKIP_UNLESS(::geteuid() == 0, "only root can become another user");
  Store store;
  std::vector<os::UniqueFd> silent;
  const auto flood = [&] {
    for (std::size_t i = 0; i < Store::kMostClients; ++i) {
      reset(store.call(kTheirs));
      silent.push_back(store.call(kTheirs));
    }
  };
  flood();
  const os::UniqueFd rank = store.call(0);
  flood();
  store.turn();
  flood();
  store.turn();
  CHECK(store.engine.clients.size() == 1);
  char byte = 0;
  CHECK(::recv(rank.get(), &byte, 1, MSG_DONTWAIT) < 0);
  CHECK(errno == EAGAIN);
}

TEST_CASE("trust: another user's connection is reported, and none of the job's that closed at once") {
  SML_SKIP_UNLESS(::geteuid() == 0, "only root can become another user");
  for (const uid_t user : {kTheirs, uid_t{0}}) {
    Store store;
    os::UniqueFd connection = store.call(user);
    if (user == 0) reset(std::move(connection));
    store.turn();
    CHECK(store.engine.clients.empty());
    const std::string theirs = "a store refused a connection from 127.0.0.1: it is another user's than the job";
    CHECK(store.said == (user == 0 ? std::vector<std::string>() : std::vector<std::string>{theirs}));
  }
}

TEST_CASE("trust: another user who serves in the place of a worker is not asked for its stacks") {
  SML_SKIP_UNLESS(::geteuid() == 0, "only root can become another user");
  for (const uid_t user : {kTheirs, uid_t{0}}) {
    const OpenFolder folder;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, (folder.path + "/socket").c_str());
    const os::UniqueFd server(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(::bind(server.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::seteuid(user) == 0);  // who listens is whom the kernel names
    const int listens = ::listen(server.get(), 1);
    REQUIRE(::seteuid(0) == 0);
    REQUIRE(listens == 0);
    boost::asio::io_context loop;
    WorkerServer worker(loop);
    CHECK(worker.ask(address.sun_path, "dump_traceback", 100, [](std::optional<std::string>) {}) == (user == 0));
  }
}

TEST_CASE("trust: a program that another user makes while it is looked for is not run") {
  SML_SKIP_UNLESS(::geteuid() == 0, "only root can become another user");
  const OpenFolder folder;
  REQUIRE(::chmod(folder.path.c_str(), 0777) == 0);
  const std::string tool = folder.path + "/tool";
  const std::string away = folder.path + "/away";
  fs::create_symlink("/bin/true", away);
  const Setting path("PATH", folder.path);
  std::atomic<bool> done = false;
  std::thread other([&] {
    while (!done) {
      ::rename(away.c_str(), tool.c_str());
      ::rename(tool.c_str(), away.c_str());
    }
  });
  int started = 0;
  for (int i = 0; i < 3000 && started == 0; ++i) {
    const Result<pid_t> pid = os::spawn_helper({.argv = {"tool"}, .stdin_fd = 0, .stdout_fd = 1, .stderr_fd = 2});
    if (!pid) continue;
    ++started;
    ::waitpid(*pid, nullptr, 0);
  }
  done = true;
  other.join();
  CHECK(started == 0);
}

TEST_CASE("trust: a file that is obeyed is judged when it is open, whether it was there before or not") {
  SML_SKIP_UNLESS(::geteuid() == 0, "only root can become another user");
  const OpenFolder folder;
  const std::string file = folder.path + "/job.conf";
  std::ofstream(file) << "theirs";
  give_away(file);
  ThisHost here = this_host(std::span<const char* const>());
  here.files.exists = [](const std::string&) { return false; };
  Result<std::string> read = read_own_file(here, file, 100);
  REQUIRE(read.has_error());
  CHECK(read.error().message() == "is not obeyed, as " + file + " belongs to user 4242");
  here.files.check_trust = [](const std::string& path) {
    fs::remove(path);
    std::ofstream(path) << "own";
    return os::check_trust(path);
  };
  read = read_own_file(here, file, 100);
  REQUIRE(read.has_error());
  CHECK(read.error().message() == "is not obeyed, as it has just been exchanged for another");
  here.files.check_trust = os::check_trust;
  for (const mode_t mode : {0644U, 0600U}) {
    REQUIRE(::chmod(file.c_str(), mode) == 0);
    const Result<OwnText> own = read_own_text(here, file, 100);
    REQUIRE(own.has_value());
    CHECK(own->text == "own");
    CHECK(own->all_can_read == (mode == 0644));
  }
  REQUIRE(::chmod(folder.path.c_str(), 0777) == 0);
  CHECK(read_own_file(here, file, 100).has_error());
}

TEST_CASE("trust: names that other users make in /tmp hide no folder of a user's jobs") {
  SML_SKIP_UNLESS(::geteuid() == 0, "only root can become another user");
  constexpr int kNames = 5000;
  const OpenFolder top;
  const std::string base = top.path + "/tmp/sml-run-";
  fs::create_directory(top.path + "/tmp");
  const auto plant = [&](int from) {
    for (int i = from; i < from + kNames; ++i) {
      const std::string name = base + "of-others-" + std::to_string(i);
      REQUIRE(::mknod(name.c_str(), S_IFREG | 0600, 0) == 0);
      give_away(name);
    }
  };
  plant(0);
  for (int i = 0; i < 10; ++i) REQUIRE(::mkdir((base + std::to_string(i)).c_str(), 0700) == 0);
  plant(kNames);
  const os::UniqueFd root(::open(top.path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  CHECK(control::runtime_folders_in(root.get(), 0).size() == 10);
}

TEST_CASE("trust: a socket of metrics follows no link of another user, and removes no file but its own") {
  SML_SKIP_UNLESS(::geteuid() == 0, "only root can become another user");
  const OpenFolder folder, elsewhere;
  REQUIRE(::chmod(folder.path.c_str(), 0777) == 0);
  fs::create_directory_symlink(elsewhere.path, folder.path + "/way");
  give_away(folder.path + "/way");
  const auto open = [](const std::string& path) { return metrics::Endpoint::open({.host = {}, .path = path}); };
  CHECK_FALSE(open(folder.path + "/way/socket").has_value());
  CHECK(fs::is_empty(elsewhere.path));
  const std::string path = folder.path + "/socket";
  for (const bool exchanged : {false, true}) {
    Result<metrics::Endpoint> endpoint = open(path);
    REQUIRE(endpoint.has_value());
    CHECK(fs::is_socket(path));
    CHECK(endpoint->url() == "unix:" + path);
    if (exchanged) {
      fs::remove(path);
      std::ofstream(path) << "precious";
    }
    endpoint->close();
    CHECK(fs::exists(path) == exchanged);
  }
}

TEST_CASE("trust: a file that is written later has its name from the start") {
  SML_SKIP_UNLESS(::geteuid() == 0, "only root can become another user");
  const OpenFolder folder;
  REQUIRE(::chmod(folder.path.c_str(), 01777) == 0);
  const std::string path = folder.path + "/job.prom";
  const Result<os::RenewedFile> file = os::RenewedFile::open(path);
  REQUIRE(file.has_value());
  REQUIRE(::seteuid(kTheirs) == 0);
  const int removed = ::unlink(path.c_str());
  const int made = ::mkdir(path.c_str(), 0700);
  const int beside = ::mkdir((folder.path + "/.job.prom." + std::to_string(::getpid()) + ".tmp").c_str(), 0700);
  REQUIRE(::seteuid(0) == 0);
  CHECK((removed != 0 && made != 0));
  REQUIRE(beside == 0);  // what others can guess is no name of ours
  CHECK(file->renew("text").has_value());
  CHECK(fs::file_size(path) == 4);
  fs::remove(path);
  fs::create_directory(path);
  CHECK_FALSE(file->renew("text").has_value());
  CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 2);  // nothing of ours is left beside
}

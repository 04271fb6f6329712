#include "launcher/agent/diagnosis/torch_places.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/os/fd.h"
#include "launcher/agent/core/worker_server.h"
#include "launcher/agent/diagnosis/flight_recorder.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::agent;

namespace {

class Folder {
 public:
  Folder() { REQUIRE(::mkdtemp(path_) != nullptr); }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name) const { return std::string(path_) + "/" + name; }

 private:
  char path_[32] = "/tmp/sml-recorder-XXXXXX";
};

void write_file(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

}  // namespace

TEST_CASE("torch is told of places of ours, under its newer and its older names") {
  const TorchPlaces places = torch_places("/tmp/x", Rank(3), {"HOME=/root"}, ServerOffer::Yes);
  CHECK(places.socket == "/tmp/x/torch-3");
  CHECK(places.pipe == "/tmp/x/recorder-3.pipe");
  CHECK(places.dump == "/tmp/x/recorded-3");
  CHECK(places.variables == plan::Environment{"TORCH_WORKER_SERVER_SOCKET=/tmp/x/torch-3",
                                              "TORCH_NCCL_DEBUG_INFO_PIPE_FILE=/tmp/x/recorder-",
                                              "TORCH_FR_DUMP_TEMP_FILE=/tmp/x/recorded-",
                                              "TORCH_NCCL_DEBUG_INFO_TEMP_FILE=/tmp/x/recorded-",
                                              "TORCH_FR_BUFFER_SIZE=2000", "TORCH_NCCL_TRACE_BUFFER_SIZE=2000"});
}

TEST_CASE("where the user has told torch, it is looked for there") {
  const plan::Environment theirs = {"TORCH_NCCL_DEBUG_INFO_TEMP_FILE=/a/t_", "TORCH_NCCL_TRACE_BUFFER_SIZE=0",
                                    "TORCH_WORKER_SERVER_SOCKET=/a/s", "TORCH_NCCL_DEBUG_INFO_PIPE_FILE=/a/p_"};
  for (const ServerOffer offer : {ServerOffer::Yes, ServerOffer::No}) {
    const TorchPlaces places = torch_places("/tmp/x", Rank(0), theirs, offer);
    CHECK(places.socket == "/a/s");
    CHECK(places.pipe == "/a/p_0.pipe");
    CHECK(places.dump == "/a/t_0");
    CHECK(places.variables.empty());
  }
}

TEST_CASE("torch's server is offered to who runs a script, and to no launcher, whose processes would share it") {
  const auto offered = [](const std::vector<std::string>& command) {
    return server_offer(command) == ServerOffer::Yes;
  };
  CHECK(offered({"python3", "-u", "/srv/train.py", "--lr", "1"}));
  CHECK(offered({"/opt/venv/bin/python3.11", "-m", "train.main"}));
  CHECK_FALSE(offered({"torchrun", "--nproc-per-node", "2", "train.py"}));
  CHECK_FALSE(offered({"python3", "/opt/venv/bin/torchrun", "train.py"}));
  CHECK_FALSE(offered({"python3", "-m", "torch.distributed.run", "train.py"}));
  CHECK_FALSE(offered({"python3", "-m", "accelerate.commands.launch", "train.py"}));
  CHECK_FALSE(offered({"sh", "-c", "python3 train.py"}));
  CHECK_FALSE(offered({}));
  const TorchPlaces none = torch_places("/tmp/x", Rank(3), {}, ServerOffer::No);
  CHECK(none.socket.empty());
  CHECK(plan::find_variable(none.variables, "TORCH_WORKER_SERVER_SOCKET") == nullptr);
  CHECK(none.pipe == "/tmp/x/recorder-3.pipe");
  CHECK(torch_places("/tmp/" + std::string(100, 'x'), Rank(3), {}, ServerOffer::Yes).socket.empty());
}

TEST_CASE("a worker's server: what it says, if it says so well") {
  CHECK(body_of("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npong") == "pong");
  CHECK(body_of("HTTP/1.1 200 OK\r\n\r\n") == "");
  CHECK_FALSE(body_of("HTTP/1.1 404 Not Found\r\nX: 200\r\n\r\nno"));
  CHECK_FALSE(body_of("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n"));
  CHECK_FALSE(body_of("pong 200\r\n\r\n"));
  CHECK_FALSE(body_of(""));
}

TEST_CASE("a flight recorder writes when it is told to, and is read when it has written all") {
  const Folder folder;
  FlightRecorder recorder(folder.file("r.pipe"), folder.file("dump"));
  CHECK_FALSE(recorder.trigger());  // nobody records
  REQUIRE(::mkfifo(folder.file("r.pipe").c_str(), 0600) == 0);
  CHECK_FALSE(recorder.trigger());  // nobody reads it
  const os::UniqueFd reader(::open(folder.file("r.pipe").c_str(), O_RDONLY | O_NONBLOCK));
  write_file(folder.file("dump"), "of an earlier time");
  REQUIRE(recorder.trigger());
  char told[4] = {};
  CHECK(::read(reader.get(), told, sizeof told) == 2);
  CHECK_FALSE(recorder.poll(100));
  CHECK_FALSE(recorder.poll(100));
  REQUIRE(::unlink(folder.file("dump").c_str()) == 0);
  CHECK_FALSE(recorder.poll(100));
  write_file(folder.file("dump"), "ab");
  CHECK_FALSE(recorder.poll(100));
  write_file(folder.file("dump"), "abc");
  CHECK_FALSE(recorder.poll(100));  // it grows
  CHECK(recorder.awaited());
  CHECK(recorder.poll(100) == "abc");
  CHECK_FALSE(recorder.awaited());
}

TEST_CASE("a flight recorder that has too much, or is no pipe") {
  const Folder folder;
  write_file(folder.file("r.pipe"), "");
  FlightRecorder file(folder.file("r.pipe"), folder.file("dump"));
  CHECK_FALSE(file.trigger());
  CHECK(std::filesystem::file_size(folder.file("r.pipe")) == 0);
  REQUIRE(::mkfifo(folder.file("s.pipe").c_str(), 0600) == 0);
  const os::UniqueFd reader(::open(folder.file("s.pipe").c_str(), O_RDONLY | O_NONBLOCK));
  FlightRecorder recorder(folder.file("s.pipe"), folder.file("dump"));
  REQUIRE(recorder.trigger());
  write_file(folder.file("dump"), "abcd");
  CHECK_FALSE(recorder.poll(3));
  CHECK_FALSE(recorder.poll(3));
  CHECK_FALSE(recorder.awaited());
}

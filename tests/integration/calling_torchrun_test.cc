// Lines of torchrun that are the same on every host, in a few copies of sml-run over loopback: who comes first is the
// head, the others call it. tests/e2e/test_dial_in.py and test_elastic_torchrun.py have what needs hosts of their own.
#include <filesystem>

#include "tests/support/copies.h"
#include "tests/support/fake_init.h"

using namespace sml;
using namespace sml::copies;
using fake::Init;

namespace {

const Words kJoinForAnHour{"--rdzv-conf=join_timeout=3600"};

// Group rank, rank, size of the world and what the host says of itself.
const Words kShow{"sh", "-c", "echo $GROUP_RANK $RANK $WORLD_SIZE $OF_HOST"};
Words named(const std::string& name) { return Hosts::environment({"OF_HOST=" + name}); }
// In the first attempt longer than any test.
const Words kFirstWaits{"sh", "-c", "echo $GROUP_RANK $RANK $WORLD_SIZE; [ $SML_ATTEMPT != 1 ] || exec sleep 600"};

// Of torchrun's line for hosts that know their places.
std::unique_ptr<Copy> placed(const Torchrun& job, const std::string& place, const Words& options,
                             const std::string& name) {
  const Words own{job.folder() / "torchrun", "--nnodes=" + job.nnodes(), "--node-rank=" + place,
                  "--master-addr=127.0.0.1", "--master-port=" + std::to_string(job.port())};
  return std::make_unique<Copy>(own + options + kShow, named(name));
}

Words last_call(const std::string& seconds) { return {"--rdzv-conf=last_call_timeout=" + seconds}; }

}  // namespace

TEST_CASE("calling torchrun: a stop of one that waits for the others ends all") {
  Init init;
  const Torchrun job("3");  // the third never comes
  Copies both;
  both.push_back(job.start_head(kJoinForAnHour, {"true"}));
  both.push_back(job.start(kJoinForAnHour, {"true"}));
  job.hosts().until_called(1);
  both[1]->send(SIGTERM);
  check_says(finish(both, 143)[0], "has been asked to stop");
}

TEST_CASE("calling torchrun: the numbers of Slurm or Kubernetes stand") {
  Init init;
  const Torchrun job("3");
  Copies all;
  for (const std::string number : {"0", "2", "1"}) {
    const Words variables = Hosts::environment({"OF_HOST=h" + number, "SLURM_NODEID=" + number, "SLURM_NNODES=3"});
    all.push_back(number == "0" ? job.start_head({}, kShow, variables) : job.start({}, kShow, variables));
  }
  const auto done = finish(all, 0);
  CHECK(sorted_lines(done[0].out) == Words{"0 0 6 h0", "0 1 6 h0", "1 2 6 h1", "1 3 6 h1", "2 4 6 h2", "2 5 6 h2"});
  check_says(done[0], "this host is the head, as localhost is its own; 2 others are to call its port " +
                          std::to_string(job.port()));
  check_says(done[1], "this is host-2");
}

TEST_CASE("calling torchrun: a late host is waited for") {
  Init init;
  const Torchrun job("3");
  Copies all;
  all.push_back(job.start_head({}, kShow));
  all.push_back(job.start({}, kShow));
  job.hosts().until_called(1);
  all.push_back(job.start({}, kShow));
  CHECK(sorted_lines(finish(all, 0)[0].out).size() == 6);
}

TEST_CASE("calling torchrun: a host that leaves while others are waited for may come again") {
  Init init;
  const Torchrun job("3");
  Copies all;
  all.push_back(job.start_head({}, kShow));
  const auto gone = job.start({}, kShow);
  job.hosts().until_called(1);
  gone->send(SIGKILL);
  finish(*gone, 137);
  for (const std::string name : {"again", "third"}) all.push_back(job.start({}, kShow, named(name)));
  const auto lines = sorted_lines(finish(all, 0)[0].out);
  CHECK(lines.size() == 6);
  CHECK(std::count_if(lines.begin(), lines.end(), [](const auto& line) { return line.ends_with("again"); }) == 2);
}

TEST_CASE("calling torchrun: slots and roles are those of each host's own line") {
  Init init;
  const Torchrun job("3");
  const Words show{"sh", "-c",
                   "echo $RANK/$WORLD_SIZE $GROUP_RANK/$GROUP_WORLD_SIZE $LOCAL_RANK/$LOCAL_WORLD_SIZE $ROLE_NAME "
                   "$ROLE_RANK/$ROLE_WORLD_SIZE"};
  const auto line = [](const std::string& slots, const std::string& role) {
    return Words{"--nproc-per-node=" + slots, "--role=" + role};
  };
  const auto numbered = [](const std::string& number) {
    return Hosts::environment({"SLURM_NODEID=" + number, "SLURM_NNODES=3"});
  };
  Copies all;
  all.push_back(job.start_head(line("2", "trainer"), show, numbered("0")));
  all.push_back(job.start(line("3", "trainer"), show, numbered("2")));
  all.push_back(job.start(line("1", "reader"), show, numbered("1")));
  const auto done = finish(all, 0);
  CHECK(sorted_lines(done[0].out) == Words{"0/6 0/3 0/2 trainer 0/5", "1/6 0/3 1/2 trainer 1/5",
                                           "2/6 1/3 0/1 reader 0/1", "3/6 2/3 0/3 trainer 2/5",
                                           "4/6 2/3 1/3 trainer 3/5", "5/6 2/3 2/3 trainer 4/5"});
  check_says(done[0], "6 ranks on 3 hosts");
}

TEST_CASE("calling torchrun: slots and roles that differ stay through a restart") {
  Init init;
  const Torchrun job("2");
  const Words show{"sh", "-c",
                   "echo $SML_ATTEMPT $RANK/$WORLD_SIZE $ROLE_NAME $ROLE_RANK; [ $SML_ATTEMPT = 2 ] || exit 5"};
  const Words restart{"--max-restarts=1", "--restart-delay=0:0"};
  Copies both;
  both.push_back(job.start_head(restart + Words{"--nproc-per-node=1", "--role=a"}, show));
  both.push_back(job.start(restart + Words{"--nproc-per-node=2", "--role=b"}, show));
  Words second = sorted_lines(finish(both, 0)[0].out);
  std::erase_if(second, [](const std::string& line) { return !line.starts_with("2 "); });
  CHECK(second == Words{"2 0/3 a 0", "2 1/3 b 0", "2 2/3 b 1"});
}

TEST_CASE("calling torchrun: hosts that know their places have slots of their own, too") {
  Init init;
  const Torchrun job("2");
  Copies both;
  both.push_back(placed(job, "0", {"--nproc-per-node=1", "--no-python"}, "h0"));
  both.push_back(placed(job, "1", {"--nproc-per-node=2", "--no-python"}, "h1"));
  CHECK(sorted_lines(finish(both, 0)[0].out) == Words{"0 0 3 h0", "1 1 3 h1", "1 2 3 h1"});
}

TEST_CASE("calling torchrun: hosts that know their places write files in folders of their own") {
  Init init;
  const Torchrun job("2");
  const fake::ScratchFolder folder;
  Copies both;
  for (const std::string place : {"0", "1"}) {
    const Words files{"--nproc-per-node=1", "--no-python", "--redirects=3", "--log-dir=" + (folder / place)};
    both.push_back(placed(job, place, files, "h" + place));
  }
  finish(both, 0);
  for (const std::string place : {"0", "1"}) {
    Words texts;
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder / place)) {
      if (file.path().filename() == "stdout.log") texts.push_back(fake::read_file(file.path()));
    }
    CHECK(texts == Words{place + " " + place + " 2 h" + place + "\n"});
  }
}

TEST_CASE("calling torchrun: one that cannot take part ends all at once") {
  Init init;
  const Torchrun job("4");  // the fourth never comes
  const auto [line, status, said] = GENERATE(table<Words, int, std::string>(
      {{Words{"--nnodes=3"}, 125, R"(cannot take part: it has "3" for the number of hosts, and the head "4")"},
       {Words{"--check"}, 125, R"(cannot take part: it has "yes" for --check, and the head "no")"},
       {Words{"--env-file", "/nothing-here"}, 2, "it could not be made ready: "}}));
  CAPTURE(line);
  Copies all;
  const Words started = kJoinForAnHour + Words{"--no-python"};
  all.push_back(placed(job, "0", started, "h0"));
  job.hosts().until_head_listens();
  all.push_back(placed(job, "1", started, "h1"));
  job.hosts().until_called(1);
  all.push_back(placed(job, "2", line + started, "h2"));
  const auto done = finish(all, status);
  check_says(done[0], said);
  check_says(done[1], "the job has ended: ");
  CHECK(done[0].out.empty());
}

TEST_CASE("calling torchrun: a host that never comes is named") {
  Init init;
  const Torchrun job("3");
  const std::string seconds = time_to_call();
  Copies both;
  both.push_back(job.start_head({"--rdzv-conf=join_timeout=" + seconds}, {"true"}));
  both.push_back(job.start(kJoinForAnHour, {"true"}));
  const std::string said = ": not ready after " + seconds + " s (it has not called)";
  const auto done = finish(both, 125);
  check_says(done[0], "host-2" + said);
  check_says(done[1], "the job has ended: host-2" + said);
}

TEST_CASE("calling torchrun: one host too many is refused") {
  Init init;
  const Torchrun job("3");
  Copies all;
  const Words waits{"sh", "-c", "echo up; exec sleep 600"};
  all.push_back(job.start_head({}, waits));
  for (int i = 0; i < 2; ++i) all.push_back(job.start({}, waits));
  all[0]->until_prints("up");
  check_says(finish(*job.start({}, waits), 125),
             "the head turns this host away: the job has 3 hosts, and all of them are here");
  all[1]->send(SIGTERM);
  finish(all, 143);
}

TEST_CASE("calling torchrun: jobs of two names do not mix") {
  Init init;
  const Torchrun job("3");
  const auto head = job.start_head({"--rdzv-id=one", "--start-timeout=1h"}, {"true"});
  check_says(finish(*job.start({"--rdzv-id=two"}, {"true"}), 125),
             R"(it belongs to job "run two", and this is job "run one")");
  head->send(SIGTERM);
  finish(*head, 143);
}

TEST_CASE("calling torchrun: another secret is refused") {
  Init init;
  const Torchrun job("3");
  const auto head = job.start_head({"--start-timeout=1h"}, {"true"});
  const Words other = Hosts::environment({}, "another secret of a length");
  check_says(finish(*job.start({}, {"true"}, other), 125), "do not have the same secret");
  head->send(SIGTERM);
  finish(*head, 143);
}

TEST_CASE("calling torchrun: all that is missing is told at once") {
  Init init;
  const Torchrun job("4:2");
  const Ended done = finish(*job.start({}, {"true"}, Hosts::environment({}, "")), 2);
  CHECK(done.err.starts_with("sml-run: 2 things are missing, or cannot be had: (1) --nnodes: \"4:2\" "));
  check_says(done, "; (2) the hosts share no secret ");
  check_says(done, "--make-secret");
  CHECK(std::count(done.err.begin(), done.err.end(), '\n') == 1);
}

// ---- where the number of hosts may vary

TEST_CASE("calling torchrun: those that have come at the last call make the job") {
  Init init;
  const Torchrun job("2:4");
  Copies both;
  const std::string seconds = time_to_call();
  both.push_back(job.start_head(last_call(seconds), kShow));
  both.push_back(job.start(last_call(seconds), kShow));
  const auto done = finish(both, 0);
  CHECK(sorted_lines(done[0].out) == Words{"0 0 4", "0 1 4", "1 2 4", "1 3 4"});
  check_says(done[0], "1 to 3 others are to call its port");
  check_says(done[0], "2 hosts are here, which will do; 2 more may come for " + seconds + " s (--last-call)");
  check_says(done[1], "this is host-1 of 2 hosts");
}

TEST_CASE("calling torchrun: two on one host find each other") {
  Init init;
  for (const std::string nnodes : {"1:2", "2"}) {
    CAPTURE(nnodes);
    const Torchrun job(nnodes);
    Copies both;
    for (int i = 0; i < 2; ++i) both.push_back(job.start(last_call("600"), kShow));
    const auto done = finish(both, 0);
    CHECK(sorted_lines(done[0].out + done[1].out) == Words{"0 0 4", "0 1 4", "1 2 4", "1 3 4"});
    CHECK(holds(done[0].err + done[1].err, "is taken on this host: the head is there, and is called"));
  }
}

TEST_CASE("calling torchrun: slots and roles are those of each host that has come") {
  Init init;
  const Torchrun job("2:3");
  const Words show{"sh", "-c", "echo $RANK/$WORLD_SIZE $GROUP_RANK/$GROUP_WORLD_SIZE $ROLE_NAME $ROLE_RANK"};
  const Words calls = last_call(time_to_call());
  Copies both;
  both.push_back(job.start_head(calls + Words{"--nproc-per-node=1", "--role=a"}, show));
  both.push_back(job.start(calls + Words{"--nproc-per-node=2", "--role=b"}, show));
  CHECK(sorted_lines(finish(both, 0)[0].out) == Words{"0/3 0/2 a 0", "1/3 1/2 b 0", "2/3 1/2 b 1"});
}

TEST_CASE("calling torchrun: nobody is waited for when all are there") {
  Init init;
  const Torchrun job("2:3");
  Copies all;
  all.push_back(job.start_head(last_call("3600"), kShow));
  for (int i = 0; i < 2; ++i) all.push_back(job.start(last_call("3600"), kShow));
  CHECK(sorted_lines(finish(all, 0)[0].out).size() == 6);
}

TEST_CASE("calling torchrun: one host may do") {
  Init init;
  const Torchrun job("1:4");
  CHECK(sorted_lines(finish(*job.start(last_call("0"), kShow), 0).out) == Words{"0 0 2", "0 1 2"});
}

TEST_CASE("calling torchrun: too few end with a reason everywhere") {
  Init init;
  const Torchrun job("3:4");
  Copies both;
  const std::string seconds = time_to_call();
  both.push_back(job.start_head({"--rdzv-conf=join_timeout=" + seconds}, {"true"}));
  both.push_back(job.start(kJoinForAnHour, {"true"}));
  const auto done = finish(both, 125);
  const std::string why = "after " + seconds + " s there are 2 hosts, fewer than the 3 that the job needs";
  check_says(done[0], why);
  check_says(done[1], "the job has ended: " + why);
}

TEST_CASE("calling torchrun: a stop while hosts are waited for ends all") {
  Init init;
  const Torchrun job("2:4");
  Copies both;
  both.push_back(job.start_head(last_call("600"), {"true"}));
  both.push_back(job.start(last_call("600"), {"true"}));
  both[0]->until_says("2 hosts are here, which will do");
  both[0]->send(SIGINT);
  const auto done = finish(both, 130);
  check_says(done[0], "stopped by SIGINT before the job had begun");
  check_says(done[1], "the job has ended: stopped by SIGINT before the job had begun");
}

TEST_CASE("calling torchrun: one that comes later is turned away where no restart can let it in") {
  Init init;
  const Torchrun job("2:4");
  Copies both;
  both.push_back(job.start_head(last_call("0"), kFirstWaits));
  both.push_back(job.start(last_call("0"), kFirstWaits));
  both[0]->until_prints("1 2 4");
  check_says(finish(*job.start({}, kFirstWaits), 125),
             "the head turns this host away: the job has 2 hosts, and all of them are here");
  both[0]->send(SIGTERM);
  finish(both, 143);
}

TEST_CASE("calling torchrun: another range is refused") {
  Init init;
  const Torchrun job("2:4"), other("1:4");
  const auto head = job.start_head({}, {"true"});
  const Words calls{"--rdzv-endpoint=localhost:" + std::to_string(job.port())};
  check_says(finish(*other.start(calls, {"true"}), 125), R"(it has "1:4" for the number of hosts, and the head "2:4")");
  head->send(SIGTERM);
  finish(*head, 143);
}

TEST_CASE("calling torchrun: where the number of hosts may vary each has the same workers, and its place as it comes") {
  Init init;
  const Torchrun job("2:4");
  check_says(finish(*job.start({"--map-by", "node"}, {"true"}), 2),
             "--nnodes 2:4: each host has the workers of --nproc-per-node; --np, --npernode, --map-by and --rankfile "
             "cannot be given with it");
  check_says(finish(*job.start({"--node-rank=2"}, {"true"}), 2),
             "--node-rank: where the number of hosts may vary they have their places as they come; leave it out");
}

TEST_CASE("calling torchrun: a check of a job whose number of hosts may vary") {
  Init init;
  const Torchrun job("2:4");
  Copies both;
  for (int i = 0; i < 2; ++i) both.push_back(job.start(Words{"--check"} + last_call("1"), {"true"}));
  const auto done = finish(both, 0);
  CHECK(holds(done[0].err + done[1].err, "the job would start"));
}

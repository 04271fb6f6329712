// Hosts that call each other, in a few copies of sml-run over loopback: who is let in, what all of them are told, and
// what they agree on. tests/e2e/test_dial_in.py has what needs hosts of their own.
#include <netinet/in.h>
#include <sys/socket.h>

#include "tests/support/copies.h"
#include "tests/support/fake_init.h"

using namespace sml;
using namespace sml::copies;
using fake::Init;

namespace {

// A script that shows a line, and its rank.
Words show(const std::string& text) { return {"--nproc-per-node", "1", "--no-tag", "sh", "-c", "echo " + text}; }

}  // namespace

TEST_CASE("calling hosts: a host without workers is waited for and ends with the others") {
  Init init;
  Hosts hosts(2);
  const Words one{"--np", "1", "--nproc-per-node", "1"};
  Copies both;
  both.push_back(hosts.start(0, one + Words{"echo", "here"}));
  hosts.until_head_listens();
  both.push_back(hosts.start(1, one + Words{"echo", "here"}));
  const auto done = finish(both, 0);
  CHECK(done[0].out == "here\n");
  CHECK(done[1].out.empty());
  const Ended alone = finish(*hosts.start(0, one + Words{"--start-timeout", "1s", "true"}), 125);
  check_says(alone, "host-1: not ready after 1 s (it has not called)");
}

TEST_CASE("calling hosts: the plans of all are equal") {
  Init init;
  const fake::ScratchFolder folder;
  const std::string config =
      folder.write("resourceconfig.json", R"({"current_host": "algo-1", "hosts": ["algo-1", "algo-2"]})");
  std::array<std::string, 2> plans;
  for (std::size_t place = 0; place < plans.size(); ++place) {
    Copy copy({kProgram, "--resource-config", config, "--dry-run", "--format", "json", "--nproc-per-node", "2",
               "--node-rank", std::to_string(place), "true"},
              Hosts::environment());
    plans[place] = finish(copy, 0).out;
  }
  CHECK(holds(plans[0], R"("rank":3)"));
  CHECK_FALSE(holds(plans[0], R"("rank":4)"));
  CHECK(plans[0] == plans[1]);
}

TEST_CASE("calling hosts: each has its own environment but not the secret") {
  Init init;
  Hosts hosts(2);
  const Words words = Words{"-x", "GIVEN=g"} + show("$RANK $OF_HOST $GIVEN ${SML_JOB_SECRET-none}");
  Copies both;
  for (const std::uint32_t place : {0U, 1U}) {
    both.push_back(hosts.start(place, words, Hosts::environment({"OF_HOST=o" + std::to_string(place)})));
  }
  CHECK(sorted_lines(finish(both, 0)[0].out) == Words{"0 o0 g none", "1 o1 g none"});
}

TEST_CASE("calling hosts: what is asked of the hosts themselves is asked alike") {
  Init init;
  const fake::ScratchFolder folder;
  for (const Words& words : {Words{"--no-usage"}, Words{"--hang-report", folder / "hang"}, Words{"--rank-monitor"},
                             Words{"--health-check", "test -d /tmp"}}) {
    CAPTURE(words);
    Hosts hosts(2);
    finish(hosts.start_all(words + Words{"--nproc-per-node", "1", "true"}), 0);
  }
  Hosts hosts(2);
  const std::string script = folder.write("imported.py", "import sys\nprint('decimal' in sys.modules)\n");
  const auto done =
      finish(hosts.start_all({"--preload", "decimal", "--nproc-per-node", "1", "--no-tag", "python3", script}), 0);
  CHECK(done[0].out == "True\nTrue\n");
}

TEST_CASE("calling hosts: much output comes over whole") {
  Init init;
  Hosts hosts(2);
  const auto done =
      finish(hosts.start_all({"--show-ranks", "1", "--no-tag", "--nproc-per-node", "1", "seq", "1000000"}), 0);
  std::string wanted;
  for (int i = 1; i <= 1'000'000; ++i) wanted += std::to_string(i) + "\n";
  CHECK(done[0].out.size() == wanted.size());
  CHECK((done[0].out == wanted));
}

TEST_CASE("calling hosts: a restart is made on the hosts that have called") {
  Init init;
  Hosts hosts(2);
  const Words restart{"--max-restarts", "2", "--restart-delay", "0:0", "--max-fruitless", "0", "--nproc-per-node", "1"};
  const auto done =
      finish(hosts.start_all(restart + Words{"--no-tag", "sh", "-c",
                                             "echo $RANK $SML_ATTEMPT $(cat); [ $SML_ATTEMPT = 3 ] || exit 5"}),
             0);
  Words last = sorted_lines(done[0].out);
  std::erase_if(last, [](const std::string& line) { return !line.ends_with("3"); });
  CHECK(last == Words{"0 3", "1 3"});
  CHECK(done[1].out.empty());
}

TEST_CASE("calling hosts: one that allows fewer restarts than the head does not go along") {
  Init init;
  Hosts hosts(2);
  Copies both;
  both.push_back(hosts.start(0, {"--max-restarts", "2", "--nproc-per-node", "1", "false"}));
  both.push_back(hosts.start(1, {"--max-restarts", "1", "--nproc-per-node", "1", "false"}));
  check_says(finish(both, 125)[1], "another value of the variable TORCHELASTIC_MAX_RESTARTS");
}

TEST_CASE("calling hosts: a late host is waited for") {
  Init init;
  Hosts hosts(2);
  Copies both;
  both.push_back(hosts.start(0, show("$RANK")));
  hosts.until_head_listens();
  until_heeds_stops(*both[0]);  // it waits
  both.push_back(hosts.start(1, show("$RANK")));
  CHECK(sorted_lines(finish(both, 0)[0].out) == Words{"0", "1"});
}

TEST_CASE("calling hosts: a late head is called again") {
  Init init;
  Hosts hosts(2);
  std::unique_ptr<Copy> other;
  {  // somebody who hangs up twice is no head either
    auto listener = dialin::listen_on(hosts.port());
    REQUIRE(listener.has_value());
    other = hosts.start(1, show("$RANK"));
    for (int calls = 0; calls < 2;) {
      pollfd polled{.fd = listener->get(), .events = POLLIN, .revents = 0};
      REQUIRE(::poll(&polled, 1, -1) == 1);
      if (os::UniqueFd(::accept(listener->get(), nullptr, nullptr))) ++calls;
    }
  }
  Copies both;
  both.push_back(hosts.start(0, show("$RANK")));
  both.push_back(std::move(other));
  CHECK(sorted_lines(finish(both, 0)[0].out) == Words{"0", "1"});
}

TEST_CASE("calling hosts: one that has no plan tells the head why, whoever comes first") {
  Init init;
  const Words run = kNoClock + Words{"--nproc-per-node", "1", "sh", "-c", "echo started"};
  const std::uint32_t first = GENERATE(0U, 1U);
  const auto [words, said] = GENERATE(table<Words, std::string>(
      {{Words{"--env-file", "/nothing-here"}, "/nothing-here"}, {Words{"--show-ranks", "9"}, "--show-ranks"}}));
  CAPTURE(first, words);
  Hosts hosts(2);
  Copies both(2);
  const Words other = words + run;
  const auto start = [&](std::uint32_t place) { return hosts.start(place, place == 0 ? run : other); };
  both[first] = start(first);
  if (first == 0) hosts.until_head_listens();
  if (first == 1) until_heeds_stops(*both[1]);
  both[1 - first] = start(1 - first);
  const auto done = finish(both, 2);
  check_says(done[0], "\nsml-run: host-1: it could not be made ready: ");
  check_says(done[0], said);
  check_says(done[1], said);
  check_says(done[1], "telling the head, 127.0.0.1 port " + std::to_string(hosts.port()));
  CHECK(done[0].out + done[1].out == "");
}

TEST_CASE("calling hosts: one whose program is missing ends all at once") {
  Init init;
  Hosts hosts(2);
  const Words one = kNoClock + Words{"--nproc-per-node", "1"};
  Copies both;
  both.push_back(hosts.start(0, one + Words{"echo", "started"}));
  both.push_back(hosts.start(1, one + Words{"/nonexistent/program"}));
  for (const Ended& ended : finish(both, 127)) {
    check_says(ended, "host-1: there is no program /nonexistent/program");
    CHECK(ended.out.empty());
  }
}

TEST_CASE("calling hosts: a dry run calls nobody") {
  Init init;
  Hosts hosts(2);
  Copies both;
  both.push_back(hosts.start(0, kNoClock + Words{"true"}));
  hosts.until_head_listens();
  check_does_not_say(finish(*hosts.start(1, {"--dry-run", "--show-ranks", "9", "true"}), 2), "telling the head");
  both.push_back(hosts.start(1, {"true"}));
  finish(both, 0);
}

TEST_CASE("calling hosts: a host or a head that never comes is named") {
  Init init;
  Hosts hosts(2);
  check_says(finish(*hosts.start(0, {"--start-timeout", "1s", "true"}), 125),
             "host-1: not ready after 1 s (it has not called)");
  check_says(finish(*hosts.start(1, {"--start-timeout", "1s", "true"}), 125),
             "the head, 127.0.0.1 port " + std::to_string(hosts.port()) + ", was not there after 1 s");
}

TEST_CASE("calling hosts: one that never comes is told from one that waits for its place") {
  Init init;
  const Hosts hosts(3);
  const auto start = [&](const std::string& timeout) {
    const std::string head = "localhost:" + std::to_string(hosts.port());
    return std::make_unique<Copy>(
        Words{kProgram, "--nnodes", "3", "--head", head, "--start-timeout", timeout, "--nproc-per-node", "1", "true"},
        Hosts::environment());
  };
  const std::string seconds = time_to_call();
  Copies both;
  both.push_back(start(seconds + "s"));
  hosts.until_head_listens();
  both.push_back(start("1h"));
  const auto done = finish(both, 125);
  check_says(done[0], "host-2: not ready after " + seconds + " s (it has not called)");
  check_says(done[0], "host-1: not ready after " + seconds + " s (it has called, and others have not)");
  check_says(done[1], "the job has ended: ");
}

TEST_CASE("calling hosts: another secret is refused on both sides") {
  Init init;
  Hosts hosts(2);
  Copies both;
  both.push_back(hosts.start(0, kNoClock + Words{"true"}));
  const Words other = Hosts::environment({}, "another secret of a length");
  check_says(finish(*hosts.start(1, kNoClock + Words{"true"}, other), 125), "do not have the same secret");
  both.push_back(hosts.start(1, {"true"}));
  const Ended head = finish(both, 0)[0];
  check_says(head, "a caller from 127.0.0.1 is turned away");
  check_does_not_say(head, kSecret);
}

TEST_CASE("calling hosts: strangers disturb nobody") {
  Init init;
  Hosts hosts(2);
  Copies both;
  both.push_back(hosts.start(0, kNoClock + Words{"true"}));
  hosts.until_head_listens();
  std::vector<os::UniqueFd> strangers;
  for (const std::string& noise :
       {std::string("GET / HTTP/1.0\r\n\r\n"), "\x16\x03\x01\xff\xff" + std::string(70'000, 'A'), std::string(),
        std::string("SSH-2.0-x\r\n")}) {
    for (int i = 0; i < 10; ++i) {
      os::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      address.sin_port = htons(hosts.port());
      REQUIRE(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
      ::send(fd.get(), noise.data(), noise.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      strangers.push_back(std::move(fd));
    }
  }
  both.push_back(hosts.start(1, kNoClock + Words{"true"}));
  check_says(finish(both, 0)[0], "a caller from 127.0.0.1 is turned away");
}

TEST_CASE("calling hosts: one of an earlier attempt is refused and leaves") {
  Init init;
  Hosts hosts(2);
  Copies both;
  both.push_back(hosts.start(0, kNoClock + Words{"--attempt", "2", "true"}));
  check_says(finish(*hosts.start(1, kNoClock + Words{"--attempt", "1", "true"}), 125),
             "it belongs to attempt 1 of the job, and this is attempt 2");
  both.push_back(hosts.start(1, {"--attempt", "2", "true"}));
  finish(both, 0);
}

TEST_CASE("calling hosts: a head of an earlier attempt is outlasted") {
  Init init;
  Hosts hosts(2);
  const auto old = hosts.start(0, kNoClock + Words{"--attempt", "1", "true"});
  Copies both(2);
  both[1] = hosts.start(1, kNoClock + Words{"--attempt", "2", "true"});
  old->until_says("belongs to attempt 2");
  old->send(SIGKILL);
  finish(*old, 137);
  both[0] = hosts.start(0, {"--attempt", "2", "true"});
  finish(both, 0);
}

TEST_CASE("calling hosts: one that expects another job ends all at once and is told why") {
  Init init;
  const auto [words, said] = GENERATE(table<Words, std::string>(
      {{Words{"--nproc-per-node", "2"}, R"(it has "2" for the workers of each host, and the head "1")"},
       {Words{"--check"}, R"(it has "yes" for --check, and the head "no")"},
       {Words{"--role", "reader"}, R"(it has "reader" for --role, and the head ")"}}));
  CAPTURE(words);
  Hosts hosts(2);
  Copies both;
  both.push_back(hosts.start(0, kNoClock + Words{"--nproc-per-node", "1", "true"}));
  both.push_back(hosts.start(1, kNoClock + Words{"--nproc-per-node", "1"} + words + Words{"true"}));
  const auto done = finish(both, 125);
  check_says(done[1], said);
  check_says(done[0], "host-1: it has called from 127.0.0.1 and cannot take part: " + said);
}

TEST_CASE("calling hosts: one without workers that cannot take part ends all at once, too") {
  Init init;
  const Words mode = GENERATE(Words{}, Words{"--check"});
  CAPTURE(mode);
  Hosts hosts(2);
  const Words one = kNoClock + mode + Words{"--np", "1", "--nproc-per-node", "1"};
  Copies both;
  both.push_back(hosts.start(0, one + Words{"true"}));
  both.push_back(hosts.start(1, one + Words{"--role", "reader", "true"}));
  const auto done = finish(both, 125);
  check_says(done[0], "host-1: it has called from 127.0.0.1 and cannot take part: it has \"reader\" for --role");
}

TEST_CASE("calling hosts: one that takes another number of hosts for all is told why, and the head at once") {
  Init init;
  Hosts hosts(2), more(3);
  Copies both;
  both.push_back(hosts.start(0, kNoClock + Words{"true"}));
  both.push_back(more.start(1, kNoClock + Words{"--head", hosts.head(), "true"}));
  const auto done = finish(both, 125);
  const std::string said = R"(it has "3" for the number of hosts, and the head "2")";
  check_says(done[1], said);
  check_says(done[0], "host-1: it has called from 127.0.0.1 and cannot take part: " + said);
}

TEST_CASE("calling hosts: one that is here already is not let in again") {
  Init init;
  Hosts hosts(3);
  Copies all;
  all.push_back(hosts.start(0, kNoClock + show("$RANK")));
  all.push_back(hosts.start(1, kNoClock + show("$RANK")));
  all[1]->until_says("the head has answered");
  check_says(finish(*hosts.start(1, kNoClock + show("twice")), 125), R"(host "host-1" is here already)");
  all.push_back(hosts.start(2, kNoClock + show("$RANK")));
  CHECK(sorted_lines(finish(all, 0)[0].out) == Words{"0", "1", "2"});
}

TEST_CASE("calling hosts: each runs its own command in its own directory") {
  Init init;
  Hosts hosts(2);
  const fake::ScratchFolder one, two;
  Copies both;
  both.push_back(hosts.start(0, Words{"--wdir", one.path()} + show("one $RANK $(pwd)")));
  both.push_back(hosts.start(1, Words{"--wdir", two.path()} + show("two $RANK $(pwd) $0") + Words{"more"}));
  CHECK(sorted_lines(finish(both, 0)[0].out) == Words{"one 0 " + one.path(), "two 1 " + two.path() + " more"});
}

TEST_CASE("calling hosts: a stop before the head is there") {
  Init init;
  Hosts hosts(2);
  const auto other = hosts.start(1, {"--grace", "1s", "--start-timeout", "1h", "true"});
  until_heeds_stops(*other);
  other->send(SIGTERM);
  check_says(finish(*other, 143), "stopped by SIGTERM before the head had answered");
}

TEST_CASE("calling hosts: what is wrong with the line is said before anything is started") {
  Init init;
  const Words two{"--nnodes", "2"};
  const Words second = two + Words{"--node-rank", "1"};
  const auto says = [](const Words& words, const Words& environment, const std::string& said) {
    CAPTURE(words);
    Copy copy(Words{kProgram} + words + Words{"true"}, environment);
    check_says(finish(copy, 2), said);
  };
  const Words none = Hosts::environment({}, "");
  says(second, none, "name the head");
  says(two, none, "2 hosts also need --head ADDR[:PORT], the address of the first, the same on each");
  says(two + Words{"--node-rank", "2", "--head", "a"}, none, "the job has 2 hosts; the last is 1");
  says(second + Words{"--head", "a:0"}, none, "is not ADDR or ADDR:PORT");
  says(second + Words{"--head", "a"}, none, "share no secret");
  says(second + Words{"--head", "a"}, Hosts::environment({}, "short"), "has 5 bytes");
  says(second + Words{"--head", "a", "--secret-file", "/none"}, none, "/none");
}

TEST_CASE("calling hosts: where a platform tells of hosts that share no secret it is said what to do") {
  Init init;
  const fake::ScratchFolder folder;
  const auto says = [](const Words& words, const Words& environment, const std::string& said) {
    Copy copy(Words{kProgram} + words, Hosts::environment(environment, ""));
    check_says(finish(copy, 2), said);
  };
  says({"true"}, {"PET_NNODES=3", "MASTER_ADDR=10.0.0.1", "PET_NODE_RANK=1"},
       "with the same SML_JOB_SECRET, and they call that one");
  const std::string base = "SAGEMAKER_BASE_DIR=" + folder.path();
  REQUIRE(std::system(
              ("mkdir -p '" + folder.path() + "/opt/ml/config' '" + folder.path() + "/opt/ml/input/config'").c_str()) ==
          0);
  folder.write("opt/ml/config/resourceconfig.json", R"({"current_host": "algo-2", "hosts": ["algo-1", "algo-2"]})");
  says({"true"}, {base}, "the hosts of this job share no secret");
  says({"true"}, {base}, "--make-secret");
}

TEST_CASE("calling hosts: one on which attempts fail is left out") {
  Init init;
  Hosts hosts(3);
  const auto done = finish(
      hosts.start_all(
          {"--max-restarts", "2", "--restart-delay", "0:0", "--nproc-per-node", "1", "--no-tag", "--min-hosts", "2",
           "--exclude-after", "1", "sh", "-c",
           "echo $SML_ATTEMPT $RANK $WORLD_SIZE $SML_HOST; [ $SML_ATTEMPT = 1 ] || exit 0; [ $RANK != 1 ] || exit 7; "
           "sleep 600"}),
      0);
  check_says(done[0], "host-1 is out: 1 attempt has failed there (--exclude-after)");
  Words second = sorted_lines(done[0].out);
  std::erase_if(second, [](const std::string& line) { return !line.starts_with("2 "); });
  CHECK(second == Words{"2 0 2 host-0", "2 1 2 host-2"});
}

TEST_CASE("calling hosts: a node of another job of AWS Batch is refused") {
  Init init;
  Hosts hosts(0);
  const auto node = [&](const std::string& job, const std::string& index, const Words& more) {
    return Hosts::environment(
        more + Words{"AWS_BATCH_JOB_ID=" + job + "#" + index, "AWS_BATCH_JOB_ATTEMPT=1", "AWS_BATCH_JOB_NUM_NODES=2",
                     "AWS_BATCH_JOB_NODE_INDEX=" + index, "AWS_BATCH_JOB_MAIN_NODE_INDEX=0"},
        "");
  };
  const Words words = Words{kProgram, "--head", hosts.head()} + kNoClock + Words{"true"};
  Copy head(words, node("7f2c", "0", {}));
  Copy other(words, node("other", "1", {"AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS=127.0.0.1"}));
  check_says(finish(other, 125), "do not have the same secret");
  head.send(SIGTERM);
  finish(head, 143);
}

// ---- a check

TEST_CASE("calling hosts: what one host lacks decides the status of a check on both") {
  Init init;
  Hosts hosts(2);
  const Words check{"--check", "--nproc-per-node", "1"};
  Copies both;
  both.push_back(hosts.start(0, check + Words{"true"}));
  both.push_back(hosts.start(1, check + Words{"/nonexistent/tool"}));
  const auto done = finish(both, 127);
  CHECK(done[0].out.find("ready") < done[0].out.find("no program"));
  CHECK(holds(done[0].out, "no program"));
  check_says(done[1], "the check has ended: host-1: ");
  check_says(done[1], "/nonexistent/tool");
}

TEST_CASE("calling hosts: a check of a host that never calls") {
  Init init;
  Hosts hosts(2);
  const std::string seconds = time_to_call();
  for (const std::string ranks : {"1", "2"}) {  // it has no rank, or one
    CAPTURE(ranks);
    const Ended done = finish(
        *hosts.start(0, {"--check", "--start-timeout", seconds, "--np", ranks, "--nproc-per-node", "1", "true"}), 125);
    CHECK(done.out.find("ready") < done.out.find("not called"));
    CHECK(holds(done.out, "not called"));
    check_says(done, "host-1: not ready after " + seconds + " s (it has not called)");
  }
}

TEST_CASE("calling hosts: a job is not checked by halves") {
  Init init;
  Hosts hosts(2);
  Copies both;
  both.push_back(hosts.start(0, kNoClock + Words{"--check", "true"}));
  both.push_back(hosts.start(1, kNoClock + Words{"true"}));
  const auto done = finish(both, 125);
  const std::string said = R"(it has "no" for --check, and the head "yes")";
  check_says(done[1], said);
  check_says(done[0], "host-1: it has called from 127.0.0.1 and cannot take part: " + said);
}

TEST_CASE("calling hosts: a stop of a check while a host is waited for") {
  Init init;
  Hosts hosts(2);
  const auto head = hosts.start(0, kNoClock + Words{"--check", "--nproc-per-node", "1", "true"});
  hosts.until_head_listens();
  until_heeds_stops(*head);
  head->send(SIGTERM);
  const Ended done = finish(*head, 143);
  const std::size_t line = done.out.find("\nhost-1");
  REQUIRE(line != std::string::npos);
  CHECK(holds(done.out.substr(line), " not called "));
  CHECK_FALSE(holds(done.out.substr(line), " ready "));
}

TEST_CASE("calling hosts: a stop of a host that has called ends the check of all") {
  Init init;
  Hosts hosts(3);  // the third never comes
  Copies both;
  for (const std::uint32_t place : {0U, 1U}) both.push_back(hosts.start(place, kNoClock + Words{"--check", "true"}));
  both[1]->until_says("the head has answered");
  both[1]->send(SIGTERM);
  check_says(finish(both, 143)[0], "host-1 has been asked to stop (SIGTERM)");
}

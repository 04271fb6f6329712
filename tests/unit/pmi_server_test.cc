#include "launcher/agent/pmi/pmi_server.h"

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::agent;
using namespace sml::wire;
using Lines = std::vector<std::string>;

namespace {

const char* const kInit = "cmd=init pmi_version=1 pmi_subversion=1\n";

std::string frame(const std::string& body) {
  std::string length = std::to_string(body.size());
  return std::string(6 - length.size(), ' ') + length + body;
}

PmiWorld world(std::uint32_t first, std::uint32_t ranks, std::uint32_t hosts) {
  PmiWorld out{.job = "job-1", .size = 4, .universe = 6, .mapping = "(vector,(0,2,2))", .hosts = hosts, .ranks = {}};
  for (std::uint32_t i = 0; i < ranks; ++i) out.ranks.push_back({Rank(first + i), i});
  return out;
}

// One host, or the other of two, with what its server wants done.
struct Host {
  explicit Host(PmiWorld w) : server(std::move(w)) {}
  // The ranks are greeted.
  void greet(PmiDialect dialect = PmiDialect::One) {
    const bool one = dialect == PmiDialect::One;
    for (const Rank rank : ranks) {
      server.received(rank, one ? kInit : "cmd=init pmi_version=2 pmi_subversion=0\n");
      if (!one)
        server.received(rank, frame("cmd=fullinit;pmirank=" + std::to_string(rank.value()) + ";threaded=FALSE;"));
    }
    collect();
    on_relayed.clear();
  }
  // What comes back to that rank.
  std::string say(std::uint32_t rank, const std::string& bytes) {
    server.received(Rank(rank), bytes);
    collect();
    return std::exchange(on_relayed[rank], {});
  }
  void collect() {
    for (PmiAction& action : server.take_actions()) {
      if (auto* answer = std::get_if<PmiAnswer>(&action)) on_relayed[answer->rank.value()] += answer->bytes;
      if (auto* fence = std::get_if<PmiFence>(&action)) fences.push_back(*fence);
      if (auto* word = std::get_if<PmiRelay>(&action)) words.push_back(*word);
      if (auto* spawn = std::get_if<PmiSpawn>(&action)) spawns.push_back(*spawn);
      if (auto* broken = std::get_if<PmiBroken>(&action))
        faults.push_back(std::to_string(broken->rank.value()) + " " + broken->why);
      if (auto* aborted = std::get_if<PmiAborted>(&action)) {
        faults.push_back(std::to_string(aborted->rank.value()) + " ends with " + std::to_string(aborted->code) + ": " +
                         aborted->why);
      }
    }
  }

  std::vector<Rank> ranks{Rank(0), Rank(1)};
  PmiServer server;
  std::map<std::uint32_t, std::string> on_relayed;
  std::vector<PmiFence> fences;
  std::vector<PmiRelay> words;
  std::vector<PmiSpawn> spawns;
  Lines faults;
};

struct One : Host {
  One() : Host(world(0, 2, 1)) {}
};

}  // namespace

TEST_CASE("PMI-1: a client learns its job as MPICH asks") {
  One host;
  CHECK(host.say(0, kInit) == "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
  CHECK(host.say(0, "cmd=get_maxes\n") == "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n");
  CHECK(host.say(0, "cmd=get_appnum\n") == "cmd=appnum appnum=0\n");
  CHECK(host.say(0, "cmd=get_my_kvsname\n") == "cmd=my_kvsname kvsname=job-1\n");
  CHECK(host.say(0, "cmd=get_universe_size\n") == "cmd=universe_size size=6\n");
  CHECK(host.say(0, "cmd=get kvsname=job-1 key=PMI_process_mapping\n") ==
        "cmd=get_result rc=0 msg=success value=(vector,(0,2,2))\n");
  CHECK(host.say(0, "cmd=finalize\n") == "cmd=finalize_ack\n");
  CHECK(host.faults.empty());
}

TEST_CASE("PMI-1: a newer client is held to 1.1, so that it uses nothing of 1.2") {
  One host;
  CHECK(host.say(0, "cmd=init pmi_version=1 pmi_subversion=2\n") ==
        "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
}

TEST_CASE("PMI-1: what one rank puts another gets after the fence, in whatever pieces it comes") {
  One host;
  host.greet();
  CHECK(host.say(0, "cmd=put kvsname=job-1 key=a va") == "");
  CHECK(host.say(0, "lue=x=y\ncmd=barr") == "cmd=put_result rc=0 msg=success\n");
  CHECK(host.say(0, "ier_in\n") == "");
  CHECK(host.say(1, "cmd=barrier_in\n") == "cmd=barrier_out\n");
  CHECK(host.on_relayed[0] == "cmd=barrier_out\n");
  CHECK(host.say(1, "cmd=get kvsname=job-1 key=a\n") == "cmd=get_result rc=0 msg=success value=x=y\n");
  CHECK(host.say(1, "cmd=get kvsname=job-1 key=b\n") == "cmd=get_result rc=-1 msg=key_b_not_found value=unknown\n");
  CHECK(host.say(1, "cmd=get kvsname=other key=a\n") == "cmd=get_result rc=-1 msg=key_a_not_found value=unknown\n");
  CHECK(host.say(1, "cmd=put kvsname=other key=a value=b\n") == "cmd=put_result rc=-1 msg=unknown_kvsname\n");
  CHECK(host.fences.empty());  // no other host
}

TEST_CASE("PMI: a fence of several hosts sends what was put here, and answers from what all have put") {
  Host a(world(0, 2, 2));
  Host b(world(2, 2, 2));
  b.ranks = {Rank(2), Rank(3)};
  a.greet();
  b.greet(PmiDialect::Two);
  a.say(0, "cmd=put key=from0 value=zero\n");
  a.say(1, "cmd=barrier_in\n");
  CHECK(a.fences.empty());
  a.say(0, "cmd=barrier_in\n");
  b.say(2, frame("cmd=kvs-put;key=from2;value=two;"));
  b.say(2, frame("cmd=kvs-fence;"));
  b.say(3, frame("cmd=kvs-fence;"));
  REQUIRE(a.fences.size() == 1);
  REQUIRE(b.fences.size() == 1);
  const std::vector<std::string> news{a.fences[0].news, b.fences[0].news};
  for (Host* host : {&a, &b}) {
    REQUIRE(host->server.fenced(1, news).has_value());
    host->collect();
  }
  CHECK(a.on_relayed[0] == "cmd=barrier_out\n");
  CHECK(b.on_relayed[3] == frame("cmd=kvs-fence-response;rc=0;"));
  a.on_relayed.clear();
  b.on_relayed.clear();
  CHECK(a.say(1, "cmd=get key=from2\n") == "cmd=get_result rc=0 msg=success value=two\n");
  CHECK(b.say(3, frame("cmd=kvs-get;jobid=job-1;srcid=-1;key=from0;")) ==
        frame("cmd=kvs-get-response;rc=0;found=TRUE;value=zero;"));

  SECTION("the next carries only what is new") {
    for (const char* rank0 : {"cmd=put key=more value=x\n", "cmd=barrier_in\n"}) a.say(0, rank0);
    a.say(1, "cmd=barrier_in\n");
    REQUIRE(a.fences.size() == 2);
    CHECK(a.fences[1].number == 2);
    CHECK(a.fences[1].news.find("from0") == std::string::npos);
    CHECK(a.fences[1].news.find("more") != std::string::npos);
  }
}

TEST_CASE("PMI: news that nobody awaits, or that are none, are not taken") {
  Host host(world(0, 2, 2));
  host.greet();
  CHECK_FALSE(host.server.fenced(1, {}).has_value());
  host.say(0, "cmd=barrier_in\n");
  host.say(1, "cmd=barrier_in\n");
  CHECK_FALSE(host.server.fenced(2, {}).has_value());
  for (const std::string& bad : {std::string("\x01"), std::string("\x00\x00\x01x", 4), std::string("\x09\x00\x01k", 4),
                                 std::string("\x01\xff\xffk", 4)}) {
    PmiSpace space;
    CHECK_FALSE(space.merge(std::vector{bad}).has_value());
  }
}

TEST_CASE("PMI-2: a client learns its job as MPICH and Slurm's library ask") {
  One host;
  CHECK(host.say(1, "cmd=init pmi_version=2 pmi_subversion=0\n") ==
        "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n");
  CHECK(host.say(1, frame("cmd=fullinit;pmijobid=job-1;pmirank=1;threaded=FALSE;")) ==
        frame("cmd=fullinit-response;rc=0;pmi-version=2;pmi-subversion=0;rank=1;size=4;appnum=1;debugged=FALSE;"
              "pmiverbose=FALSE;"));
  CHECK(host.say(1, frame("cmd=job-getid;")) == frame("cmd=job-getid-response;rc=0;jobid=job-1;"));
  CHECK(host.say(1, frame("cmd=info-getjobattr;key=PMI_process_mapping;")) ==
        frame("cmd=info-getjobattr-response;rc=0;found=TRUE;value=(vector,(0,2,2));"));
  CHECK(host.say(1, frame("cmd=info-getjobattr;key=universeSize;thrid=7;")) ==
        frame("cmd=info-getjobattr-response;rc=0;found=TRUE;value=6;thrid=7;"));
  CHECK(host.say(1, frame("cmd=info-getjobattr;key=physTopology;")) ==
        frame("cmd=info-getjobattr-response;rc=0;found=FALSE;value=unknown;"));
  CHECK(host.say(1, frame("cmd=finalize;")) == frame("cmd=finalize-response;rc=0;"));
}

TEST_CASE("PMI-2: who waits for what its host shares is answered when somebody shares it") {
  One host;
  host.greet(PmiDialect::Two);
  CHECK(host.say(0, frame("cmd=info-getnodeattr;key=seg;wait=FALSE;")) ==
        frame("cmd=info-getnodeattr-response;rc=0;found=FALSE;value=unknown;"));
  CHECK(host.say(0, frame("cmd=info-getnodeattr;key=seg;wait=TRUE;thrid=1;")) == "");
  CHECK(host.say(0, frame("cmd=kvs-get;key=x;thrid=2;")) != "");  // another thread of it is served meanwhile
  CHECK(host.say(1, frame("cmd=info-putnodeattr;key=seg;value=shm1;")) == frame("cmd=info-putnodeattr-response;rc=0;"));
  CHECK(host.on_relayed[0] == frame("cmd=info-getnodeattr-response;rc=0;found=TRUE;value=shm1;thrid=1;"));
}

TEST_CASE("PMI: names are kept by the host of rank 0 and known on all") {
  Host a(world(0, 2, 2));
  Host b(world(2, 2, 2));
  b.ranks = {Rank(2), Rank(3)};
  a.greet();
  b.greet();
  CHECK(b.say(3, "cmd=publish_name service=ocean port=tag#0$x\n") == "");
  REQUIRE(b.words.size() == 1);
  CHECK(b.words[0].to == Rank(0));
  a.server.on_relayed(b.words[0].from, b.words[0].to, b.words[0].bytes);
  a.collect();
  REQUIRE(a.words.size() == 1);
  b.server.on_relayed(a.words[0].from, a.words[0].to, a.words[0].bytes);
  b.collect();
  CHECK(b.on_relayed[3] == "cmd=publish_result info=ok rc=0 msg=success\n");
  CHECK(a.say(1, "cmd=lookup_name service=ocean\n") == "cmd=lookup_result info=ok rc=0 msg=success port=tag#0$x\n");
  CHECK(a.say(1, "cmd=publish_name service=ocean port=other\n") ==
        "cmd=publish_result info=failed rc=1 msg=no_such_name\n");
  CHECK(a.say(1, "cmd=unpublish_name service=ocean\n") == "cmd=unpublish_result info=ok rc=0 msg=success\n");
  CHECK(a.say(1, "cmd=lookup_name service=ocean\n") == "cmd=lookup_result info=failed rc=1 msg=no_such_name\n");
  CHECK(a.faults.empty());
}

TEST_CASE("PMI-2: a name is told as MPICH reads it and as Slurm's library does") {
  One host;
  host.greet(PmiDialect::Two);
  CHECK(host.say(0, frame("cmd=name-publish;name=ocean;port=7;infokeycount=0;")) ==
        frame("cmd=name-publish-response;rc=0;"));
  CHECK(host.say(1, frame("cmd=name-lookup;name=ocean;infokeycount=0;")) ==
        frame("cmd=name-lookup-response;rc=0;port=7;value=7;"));
  CHECK(host.say(1, frame("cmd=name-lookup;name=sea;infokeycount=0;")) ==
        frame("cmd=name-lookup-response;rc=1;errmsg=no_such_name;"));
}

TEST_CASE("PMI: words of others that are none are passed over") {
  One host;
  host.greet();
  for (const std::string& bad : {std::string(), std::string("?\x09"),
                                 std::string("?\x01"
                                             "1:"),
                                 std::string("!\x01"
                                             "9:x"),
                                 std::string("!\x01"
                                             "1:a1:b")}) {
    host.server.on_relayed(Rank(0), Rank(1), bad);
    host.server.on_relayed(Rank(2), Rank(0), bad);
  }
  host.collect();
  CHECK(host.words.empty());
  CHECK(host.on_relayed.empty());
}

TEST_CASE("PMI: abort ends the job with its code, or with one that a process can have") {
  One host;
  host.greet();
  host.say(1, "cmd=abort exitcode=7\n");
  host.say(0, "cmd=abort exitcode=256 message=no\x1b\n");
  CHECK(host.faults ==
        Lines{"1 ends with 7: aborted the job (MPI_Abort or an error in MPI, code 7)",
              "0 ends with 1: aborted the job (MPI_Abort or an error in MPI, code 256), saying \"no\\x1b\","});
  CHECK(host.say(1, "cmd=finalize\n") == "");  // it is not heard any more
}

TEST_CASE("PMI: a rank that joined and left by no MPI_Finalize has failed, even with status 0") {
  One host;
  host.greet();
  host.say(0, "cmd=finalize\n");
  host.server.ended(Rank(0), true);
  host.server.ended(Rank(1), true);
  host.collect();
  CHECK(host.faults == Lines{"1 exited with status 0 without MPI_Finalize"});
}

TEST_CASE("PMI: of a rank that failed by itself, and of one that never spoke, nothing is told") {
  One host;
  host.say(0, kInit);
  host.server.ended(Rank(0), false);
  host.server.ended(Rank(1), true);
  host.collect();
  CHECK(host.faults.empty());
}

TEST_CASE("PMI: who has left may come again, as a session of MPI 4 after the last one does") {
  for (const PmiDialect dialect : {PmiDialect::One, PmiDialect::Two}) {
    Host host(world(0, 2, 1));
    const auto leave = [&host, dialect](std::uint32_t rank) {
      return host.say(rank, dialect == PmiDialect::One ? "cmd=finalize\n" : frame("cmd=finalize;"));
    };
    host.greet(dialect);
    leave(0);
    leave(1);
    host.greet(dialect);
    if (dialect == PmiDialect::One) host.greet(dialect);  // nor need it leave before
    CHECK(host.server.has_joined(Rank(0)));
    CHECK(host.faults.empty());
    CHECK(leave(0) != "");
    host.server.ended(Rank(0), true);
    host.server.ended(Rank(1), true);  // without leaving
    host.collect();
    CHECK(host.faults == Lines{"1 exited with status 0 without MPI_Finalize"});
  }
}

TEST_CASE("PMI: of room that nobody has counted nothing is told") {
  PmiWorld unsaid = world(0, 2, 1);
  unsaid.universe = 0;
  Host host(unsaid);
  host.greet();
  CHECK(host.say(0, "cmd=get_universe_size\n") == "cmd=universe_size size=-1\n");
}

TEST_CASE("PMI: who does not keep to the protocol has failed, and no other notices") {
  struct Case {
    std::string bytes;
    std::string fault;
  };
  const Case cases[] = {
      {"nonsense\n", "sent what is no message of PMI: \"nonsense\\n\""},
      {"cmd=dance\n", "sent the message \"dance\", which PMI does not have"},
      {"cmd=put key=a\n", "sent \"put\" without value"},
      {"cmd=put key= value=x\n", "sent \"put\" with \"\" as key, which is none"},
      {"cmd=put key=" + std::string(65, 'k') + " value=x\n", "sent \"put\" with a key of 65 bytes; PMI allows 64"},
      {"cmd=put key=a value=" + std::string(1025, 'v') + "\n",
       "sent \"put\" with a value of 1025 bytes; PMI allows 1024"},
      {"cmd=put key=a value=x;y\n", "sent \"put\" with a value that PMI cannot carry: \"x;y\""},
      {"cmd=abort exitcode=many\n", "sent \"abort\" with \"many\" as exitcode, which is no number"},
      {"cmd=barrier_in\ncmd=get_maxes\n", "sent \"get_maxes\" while it waited for an answer"},
      {"cmd=finalize\ncmd=get_maxes\n", "sent \"get_maxes\" by PMI after MPI_Finalize"},
  };
  for (const Case& c : cases) {
    One host;
    host.greet();
    host.say(0, c.bytes);
    CHECK(host.faults == Lines{"0 " + c.fault});
    CHECK(host.say(0, "cmd=get_maxes\n") == "");
    CHECK(host.say(1, "cmd=get_maxes\n") != "");
  }
}

TEST_CASE("PMI: before the greeting, and as another rank, nobody is served") {
  One early;
  early.say(0, "cmd=get_maxes\n");
  CHECK(early.faults == Lines{"0 sent \"get_maxes\" before \"init\""});
  One other;
  other.say(0, "cmd=init pmi_version=2 pmi_subversion=0\n");
  other.say(0, frame("cmd=kvs-get;key=a;"));
  CHECK(other.faults == Lines{"0 sent \"kvs-get\" before \"fullinit\""});
  One claims;
  claims.say(0, "cmd=init pmi_version=2 pmi_subversion=0\n");
  claims.say(0, frame("cmd=fullinit;pmirank=1;"));
  CHECK(claims.faults == Lines{"0 claims to be rank 1 by PMI"});
}

TEST_CASE("PMI: the dialect that is asked for is the one that is served") {
  PmiWorld only_two = world(0, 2, 1);
  only_two.dialects = PmiDialects::OnlyTwo;
  Host two(only_two);
  two.say(0, kInit);
  CHECK(two.faults == Lines{"0 uses PMI-1, and PMI-2 is asked for (--mpi)"});
  PmiWorld only_one = world(0, 2, 1);
  only_one.dialects = PmiDialects::OnlyOne;
  Host one(only_one);
  one.say(0, "cmd=init pmi_version=2 pmi_subversion=0\n");
  one.say(1, "cmd=init pmi_version=9 pmi_subversion=0\n");
  CHECK(one.faults == Lines{"0 uses PMI-2, and PMI-1 is asked for (--mpi)",
                            "1 uses version 9 of PMI, and PMI-1 is asked for (--mpi)"});
}

TEST_CASE("PMI: what a rank may put down before a fence has a limit") {
  One host;
  host.greet();
  const std::string value(1000, 'v');
  for (int i = 0; host.faults.empty(); ++i) {
    REQUIRE(i < 300);
    host.say(0, "cmd=put key=k" + std::to_string(i) + " value=" + value + "\n");
  }
  CHECK(host.faults == Lines{"0 put down more than 256 KiB by PMI, the limit"});
}

TEST_CASE("PMI: who has joined is known") {
  One host;
  host.say(1, kInit);
  CHECK_FALSE(host.server.has_joined(Rank(0)));
  CHECK(host.server.has_joined(Rank(1)));
  CHECK_FALSE(host.server.has_joined(Rank(3)));
  host.server.ended(Rank(0), false);
  host.server.ended(Rank(1), false);
  CHECK(host.server.ever_joined() == 1);
}

TEST_CASE("PMI-1: who wishes to spawn waits, and others go on, until it is known what became of it") {
  One host;
  host.greet();
  CHECK(host.say(0, "mcmd=spawn\nnprocs=1\nexecname=a\ntotspawns=2\nspawnssofar=1\nendcmd\n") == "");
  CHECK(host.spawns.empty());
  CHECK(host.say(0, "mcmd=spawn\nnprocs=2\nexecname=b\ntotspawns=2\nspawnssofar=2\nendcmd\n") == "");
  REQUIRE(host.spawns.size() == 1);
  CHECK(host.spawns[0].rank == Rank(0));
  CHECK(host.spawns[0].request.programs.size() == 2);
  CHECK(host.say(1, "cmd=get_appnum\n") == "cmd=appnum appnum=1\n");
  host.server.spawned(Rank(1), "", "");  // does not wait
  host.server.spawned(Rank(0), "7", "");
  CHECK(host.say(1, "cmd=get_appnum\n") == "cmd=appnum appnum=1\n");
  CHECK(host.on_relayed[0].empty());
  SECTION("they start") {
    host.server.spawned(Rank(0), "", "");
    CHECK(host.say(0, "cmd=get_appnum\n") == "cmd=spawn_result rc=0\ncmd=appnum appnum=0\n");
  }
  SECTION("they do not") {
    host.server.spawned(Rank(0), "", "wants too many");
    CHECK(host.say(0, "cmd=get_appnum\n") ==
          "cmd=spawn_result rc=-1 msg=not_started,_see_what_sml-run_said\ncmd=appnum appnum=0\n");
  }
  SECTION("it asks for something else meanwhile") {
    host.say(0, "cmd=get_appnum\n");
    CHECK(host.faults == Lines{"0 sent \"get_appnum\" while it waited for an answer"});
  }
}

TEST_CASE("PMI-2: a wish to spawn of one thread") {
  One host;
  host.greet(PmiDialect::Two);
  CHECK(host.say(0, frame("cmd=spawn;thrid=5;ncmds=1;subcmd=a;maxprocs=1;argc=0;")) == "");
  REQUIRE(host.spawns.size() == 1);
  CHECK(host.spawns[0].thread == "5");
  host.server.spawned(Rank(0), "5", "");
  host.collect();
  CHECK(host.on_relayed[0] == frame("cmd=spawn-response;rc=0;thrid=5;"));
}

TEST_CASE("PMI: a malformed wish to spawn fails that rank") {
  One host;
  host.greet();
  host.say(1, "mcmd=spawn\nnprocs=x\nexecname=a\nendcmd\n");
  CHECK(host.faults == Lines{"1 sent \"spawn\" with \"x\" as nprocs"});
  CHECK(host.say(0, "cmd=get_appnum\n") == "cmd=appnum appnum=0\n");
}

TEST_CASE("PMI: ranks that were spawned are a world of their own, with what was put down for them") {
  PmiWorld w = world(0, 2, 1);
  w.ranks = {{Rank(7), 0}, {Rank(8), 1}};
  w.size = 2;
  w.job = "job-1.7";
  w.first = Rank(7);
  w.spawner = "job-1";
  w.keys = {{"PARENT_ROOT_PORT_NAME", "port"}};
  Host host(w);
  host.ranks = {Rank(7), Rank(8)};
  SECTION("by PMI-1") {
    host.greet();
    CHECK(host.say(8, "cmd=get kvsname=job-1.7 key=PARENT_ROOT_PORT_NAME\n") ==
          "cmd=get_result rc=0 msg=success value=port\n");
    CHECK(host.say(7, "cmd=barrier_in\n") == "");
    CHECK(host.say(8, "cmd=barrier_in\n") == "cmd=barrier_out\n");
  }
  SECTION("by PMI-2") {
    host.say(8, "cmd=init pmi_version=2 pmi_subversion=0\n");
    CHECK(host.say(8, frame("cmd=fullinit;pmijobid=job-1.7;pmirank=1;threaded=FALSE;")) ==
          frame("cmd=fullinit-response;rc=0;pmi-version=2;pmi-subversion=0;rank=1;size=2;appnum=1;debugged=FALSE;"
                "pmiverbose=FALSE;spawner-jobid=job-1;"));
    CHECK(host.say(8, frame("cmd=info-getjobattr;key=PARENT_ROOT_PORT_NAME;")) ==
          frame("cmd=info-getjobattr-response;rc=0;found=TRUE;value=port;"));
    CHECK(host.say(8, frame("cmd=kvs-get;jobid=job-1.7;srcid=-1;key=PARENT_ROOT_PORT_NAME;")) ==
          frame("cmd=kvs-get-response;rc=0;found=TRUE;value=port;"));
  }
}

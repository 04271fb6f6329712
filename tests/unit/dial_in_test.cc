#include "launcher/dialin/setup.h"

#include <fmt/format.h>

#include <span>

#include <sys/stat.h>

#include "launcher/dialin/coordinator/peer_list.h"
#include "launcher/dialin/coordinator/place_assignment.h"
#include "launcher/dialin/key.h"
#include "launcher/dialin/messages.h"
#include "launcher/dialin/peer/dial_machine.h"
#include "launcher/dialin/resume_buffer.h"
#include "launcher/inputs/inputs.h"
#include "launcher/inputs/stop_grace.h"
#include "launcher/options/command_line.h"
#include "tests/support/catch.h"
#include "tests/support/machine_walk.h"
#include "tests/support/sagemaker_files.h"

using namespace sml;
using namespace sml::dialin;
using namespace std::chrono_literals;

namespace {

std::string hex(std::span<const unsigned char> bytes) {
  std::string out;
  for (const unsigned char byte : bytes) out += fmt::format("{:02x}", byte);
  return out;
}

template <class Message>
Message round_trip(const Message& message) {
  FrameReader<Message> reader;
  const std::string bytes = encode(message);
  for (const char& byte : bytes) {
    const auto early = reader.next();
    REQUIRE(early.has_value());
    REQUIRE_FALSE(early->has_value());
    reader.feed(std::span<const char>(&byte, 1));
  }
  const auto next = reader.next();
  REQUIRE(next.has_value());
  REQUIRE(next->has_value());
  return **next;
}

Settings three_hosts() {
  Settings s;
  s.hosts = {"a", "b", "c"};
  s.job = "job";
  s.attempt = 2;
  s.build = "1";
  s.job_settings = {{"the number of hosts", "2"}, {"--check", "no"}};
  return s;
}

Introduction hello_of(std::uint32_t index, const std::string& host) {
  return {kProtocolVersion, "job", 2, "1", three_hosts().job_settings, index, host};
}

const TimePoint kStart{};

}  // namespace

// ---- messages

TEST_CASE("dial-in: every message comes over, in whatever pieces") {
  for (const ToCoordinator& m :
       {ToCoordinator(hello_of(1, "b")), ToCoordinator(Bytes{std::string("\0x", 2)}), ToCoordinator(AgentEnded{"why"}),
        ToCoordinator(StopAsked{15}), ToCoordinator(Reconnect{"ticket", 7}), ToCoordinator(Acknowledge{1}),
        ToCoordinator(Alive{})}) {
    CHECK(round_trip(m) == m);
  }
  for (const ToPeer& m :
       {ToPeer(Welcome{3, 4, "ticket", {{2, "reader"}}}), ToPeer(Refused{Reason::Attempt, 3, "no"}),
        ToPeer(Begin{"mark"}), ToPeer(Bytes{"b"}), ToPeer(EndInput{}), ToPeer(Alive{}),
        ToPeer(JobEnd{7, "text", "failure"}), ToPeer(Resumed{9}), ToPeer(Acknowledge{std::uint64_t{1} << 40})}) {
    CHECK(round_trip(m) == m);
  }
}

TEST_CASE("dial-in: long bytes travel in pieces that a reader takes") {
  const std::string bytes(3 * kMaxPiece + 5, 'x');
  FrameReader<ToCoordinator> reader;
  send_in_pieces(bytes, [&](Bytes piece) { reader.feed(encode(ToCoordinator(std::move(piece)))); });
  std::string back;
  for (auto next = reader.next(); next && next->has_value(); next = reader.next())
    back += std::get<Bytes>(**next).bytes;
  CHECK(back == bytes);
}

TEST_CASE("dial-in: a conversation goes on with what the other end has not heard") {
  ResumeBuffer one;
  for (const char* frame : {"first", "second", "third"}) one.append(frame);
  CHECK(one.unreceived(5) == "secondthird");  // from now on no more is kept
  CHECK_FALSE(one.unreceived(4));
  CHECK_FALSE(one.unreceived(17));  // was never said
  CHECK_FALSE(one.acknowledge(17));
  CHECK(one.acknowledge(11));
  CHECK_FALSE(one.all_acknowledged());
  CHECK(one.unreceived(11) == "third");
  CHECK(one.acknowledge(5));  // on its way when the connection broke
  CHECK(one.acknowledge(16));
  CHECK(one.all_acknowledged());
  CHECK(one.unreceived(16) == "");
}

TEST_CASE("dial-in: a conversation keeps no more than a host may have said") {
  ResumeBuffer one;
  const std::string piece(kMaxPiece, 'x');
  for (std::size_t said = 0; said < 2 * ResumeBuffer::kMostKept; said += piece.size()) one.append(piece);
  CHECK_FALSE(one.unreceived(0));
  CHECK(one.unreceived(2 * ResumeBuffer::kMostKept - 3) == "xxx");
}

TEST_CASE("dial-in: a plan is acknowledged at once, and what follows after a second or many bytes") {
  const TimePoint start{};
  const auto after = [&](int ms) { return start + std::chrono::milliseconds(ms); };
  ResumeBuffer one;
  one.add_received(500);
  CHECK_FALSE(one.receipt(start));
  one.add_received(1500);
  CHECK(one.receipt(start) == 2000);
  one.add_received(2000);
  CHECK_FALSE(one.receipt(after(999)));
  CHECK(one.receipt(after(1000)) == 4000);
  one.add_received(300'000);
  CHECK(one.receipt(after(1001)) == 304'000);
  one.add_received(1);
  CHECK_FALSE(one.receipt(after(5000)));
  CHECK(one.received() == 304'001);
}

TEST_CASE("dial-in: a connection that has broken is waited for until the host knows of it and has called again") {
  CHECK(longest_pause(5s) == 1s);
  CHECK(longest_pause(2s) == 400ms);
  CHECK(longest_pause(60s) == 1s);
  CHECK(reconnect_limit(0ms, 5s) == 1500ms);
  CHECK(reconnect_limit(200ms, 5s) == 1900ms);
  CHECK(reconnect_limit(9s, 5s) == 5s);  // nobody is waited for longer than one who is silent
}

TEST_CASE("dial-in: what is no message is refused") {
  const auto error_of = [](const std::string& bytes) {
    FrameReader<ToCoordinator> reader;
    reader.feed(bytes);
    const auto next = reader.next();
    return next.has_error() ? next.error().message() : "(taken)";
  };
  CHECK(error_of(std::string("\x7f\0\0\0\1", 5)) == "a message is too long");
  CHECK(error_of(std::string("\0\0\0\0\x40", 5)) == "a message of a type that does not belong here");
  CHECK(error_of(std::string("\0\0\0\0\0", 5)) == "a message of a type that does not belong here");
  CHECK(error_of(std::string("\0\0\0\2\4xx", 7)) == "a message does not have the form that its type asks for");
}

// ---- the key

TEST_CASE("dial-in: keys are HKDF's, and of what can be guessed scrypt's") {  // RFC 5869, test case 3
  const auto key = derive_key(std::string(22, '\x0b'), "");
  REQUIRE(key.has_value());
  CHECK(hex(*key) == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d");
  CHECK(*derive_key("secret", "one use") != *derive_key("secret", "another"));
  CHECK(hex(*derive_slowly("facts", "salt")) == "64250b29c5d54336ffccf0d94d52e5c0b0f29a68991d4e88f316fc892c5d44a1");
  CHECK(digest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

// ---- the head's list

TEST_CASE("dial-in: the head lets each host in once") {
  const Settings settings = three_hosts();
  PeerList list(settings);
  CHECK_FALSE(list.refuse(hello_of(1, "b")));
  CHECK(list.come(1));
  REQUIRE(list.refuse(hello_of(1, "b")));
  CHECK(list.refuse(hello_of(1, "b"))->reason == Reason::Twice);
  CHECK_FALSE(list.come(1));
  CHECK_FALSE(list.refuse(hello_of(2, "c")));
  list.close();
  CHECK(list.refuse(hello_of(2, "c"))->reason == Reason::Ending);
  CHECK_FALSE(list.come(2));
}

TEST_CASE("dial-in: the head turns away whoever does not belong to the job") {
  const Settings settings = three_hosts();
  const PeerList list(settings);
  const auto reason = [&](auto change) {
    Introduction hello = hello_of(1, "b");
    change(hello);
    const auto refused = list.refuse(hello);
    REQUIRE(refused);
    CHECK(refused->attempt == 2);
    return refused->reason;
  };
  CHECK(reason([](Introduction& h) { h.version = 9; }) == Reason::Version);
  CHECK(reason([](Introduction& h) { h.build = "2"; }) == Reason::Build);
  CHECK(reason([](Introduction& h) { h.job = "other"; }) == Reason::Job);
  CHECK(reason([](Introduction& h) { h.attempt = 1; }) == Reason::Attempt);
  CHECK(reason([](Introduction& h) { h.job_settings[0].value = "3"; }) == Reason::Plan);
  CHECK(reason([](Introduction& h) { h.host = "c"; }) == Reason::UnknownHost);
  CHECK(reason([](Introduction& h) { h.index = 3; }) == Reason::UnknownHost);
  CHECK(reason([](Introduction& h) { h.index = 0, h.host = "a"; }) == Reason::Twice);  // the head itself
}

TEST_CASE("dial-in: a host that expects another job is told in what it differs, and in nothing else") {
  const Settings settings = three_hosts();
  const PeerList list(settings);
  Introduction hello = hello_of(1, "b");
  hello.job_settings[0].value = "3";
  CHECK(list.refuse(hello)->text == "it has \"3\" for the number of hosts, and the head \"2\"");
  hello.job_settings.erase(hello.job_settings.begin());
  CHECK(list.refuse(hello)->text == "it has none for the number of hosts, and the head \"2\"");
}

TEST_CASE("dial-in: a host of the job that has no plan may say so, a stranger may not") {
  const Settings settings = three_hosts();
  const PeerList list(settings);
  Introduction hello = hello_of(1, "b");
  hello.job_settings.clear();
  CHECK(list.refuse(hello).has_value());
  hello.calls = Calls::ToSayWhyNot;
  CHECK_FALSE(list.refuse(hello).has_value());
  CHECK(round_trip(ToCoordinator(hello)) == ToCoordinator(hello));
  hello.host = "d";
  CHECK(list.refuse(hello).has_value());
}

TEST_CASE("dial-in: a host without a place is let in where hosts are only counted, and one is free") {
  Settings settings = three_hosts();
  const Introduction hello = hello_of(kAnyPlace, "");
  CHECK(PeerList(settings).refuse(hello)->reason == Reason::UnknownHost);
  settings.callers = Callers::Anywhere;
  PeerList list(settings);
  CHECK_FALSE(list.refuse(hello));
  CHECK(list.free_places() == 2);
  CHECK(list.come(1));
  CHECK(list.come(2));
  CHECK(list.free_places() == 0);
  CHECK(list.refuse_surplus(3).reason == Reason::Full);
  CHECK(list.refuse_surplus(3).text == "the job has 3 hosts, and all of them are here");
  list.add("d");
  CHECK(list.free_places() == 1);
  CHECK(list.come(3));
  Introduction other = hello;
  other.job_settings[0].value = "3";
  CHECK(list.refuse(other)->reason == Reason::Plan);
}

TEST_CASE("dial-in: a job that begins with fewer hosts has only these, and those that come later") {
  const Settings settings = three_hosts();
  PeerList list(settings);
  list.keep_first(2);
  CHECK(list.free_places() == 1);
  CHECK(list.refuse(hello_of(2, "c"))->text == "the job has no host \"c\" at place 2; its hosts are a,b");
  list.add("d");
  CHECK(list.names() == std::vector<std::string>{"a", "b", "d"});
  CHECK(list.refuse(hello_of(2, "c"))->reason == Reason::UnknownHost);
  CHECK_FALSE(list.refuse(hello_of(2, "d")));
}

TEST_CASE("dial-in: places are given by wish, else by address, else by call") {
  using Places = std::vector<std::uint32_t>;
  const auto seats = [](std::vector<Unplaced> callers, std::vector<bool> taken) {
    return assign_places(callers, taken);
  };
  constexpr std::uint32_t kNone = kAnyPlace;
  CHECK(seats({}, {true}).empty());
  CHECK(seats({{kNone, "10.0.0.10"}, {kNone, "10.0.0.9"}}, {true, false, false}) == Places{2, 1});
  CHECK(seats({{kNone, "10.0.0.9"}, {kNone, "10.0.0.9"}}, {true, false, false}) == Places{1, 2});
  CHECK(seats({{3, "10.0.0.1"}, {kNone, "10.0.0.2"}, {1, "10.0.0.3"}}, {true, false, false, false}) == Places{3, 2, 1});
  CHECK(seats({{1, "10.0.0.2"}, {1, "10.0.0.1"}}, {true, false, false}) == Places{2, 1});  // both wish the same
  CHECK(seats({{0, "10.0.0.1"}, {9, "10.0.0.2"}}, {true, false, false}) == Places{1, 2});  // taken, and not there
  CHECK(seats({{kNone, "10.0.0.1"}}, {true, true, false}) == Places{2});
}

// ---- a host that calls

TEST_CASE("dial-in: a host calls again, ever more slowly, until its patience ends") {
  DialMachine here(10s, 5s, kStart);
  TimePoint now = kStart;
  std::vector<Duration> rests;
  for (;;) {
    const DialAction action = here.on(DialEvent::Failed, now);
    if (action == DialAction::GiveUp) break;
    REQUIRE(action == DialAction::Rest);
    rests.push_back(*here.deadline() - now);
    now = *here.deadline();
    REQUIRE(here.on(DialEvent::Deadline, now) == DialAction::Call);
  }
  CHECK(now == kStart + 10s);
  CHECK(rests.at(0) == 10ms);
  CHECK(rests.at(1) == 20ms);
  CHECK(rests.at(7) == 1s);
  CHECK(here.state() == DialState::Over);
  CHECK_FALSE(here.deadline());
}

TEST_CASE("dial-in: a call that hangs ends with the patience") {
  DialMachine here(10s, 5s, kStart);
  CHECK(here.deadline() == kStart + 10s);
  CHECK(here.on(DialEvent::Deadline, kStart + 10s) == DialAction::GiveUp);
}

TEST_CASE("dial-in: a host that is to stop calls at once to say so, and soon gives up") {
  DialMachine here(900s, 5s, kStart);
  TimePoint now = kStart;
  for (int tries = 0; tries < 10; ++tries) {
    static_cast<void>(here.on(DialEvent::Failed, now));
    now = *here.deadline();
    static_cast<void>(here.on(DialEvent::Deadline, now));
  }
  CHECK(here.on(DialEvent::Failed, now) == DialAction::Rest);
  CHECK(here.deadline() == now + DialMachine::kLongestRest);
  here.hurry(now + 10s, now + 1ms);
  CHECK(here.deadline() == now + 1ms);
  CHECK(here.on(DialEvent::Deadline, now + 1ms) == DialAction::Call);
  CHECK(here.deadline() == now + 10s);
  DialMachine served(900s, 5s, kStart);
  static_cast<void>(served.on(DialEvent::Welcomed, kStart));
  served.hurry(kStart + 10s, kStart);
  CHECK_FALSE(served.deadline());
}

TEST_CASE("dial-in: a host that waits for its place has the head's word for it") {
  DialMachine waits(10s, 5s, kStart);
  CHECK(waits.on(DialEvent::Proved, kStart + 1s) == DialAction::None);
  CHECK(waits.state() == DialState::Waiting);
  CHECK(waits.deadline() == kStart + 10s + DialMachine::kLinger);
  CHECK(waits.on(DialEvent::Failed, kStart + 9s) == DialAction::Rest);
  static_cast<void>(waits.on(DialEvent::Deadline, kStart + 9s + 10ms));
  static_cast<void>(waits.on(DialEvent::Proved, kStart + 9s + 20ms));
  CHECK(waits.on(DialEvent::Welcomed, kStart + 11s) == DialAction::None);
  CHECK(waits.state() == DialState::Serving);
  DialMachine refused(10s, 5s, kStart);
  static_cast<void>(refused.on(DialEvent::Proved, kStart));
  CHECK(refused.on(DialEvent::Refused, kStart) == DialAction::GiveUp);
  DialMachine forgotten(10s, 5s, kStart);
  static_cast<void>(forgotten.on(DialEvent::Proved, kStart));
  CHECK(forgotten.on(DialEvent::Deadline, kStart + 20s) == DialAction::GiveUp);
}

TEST_CASE("a host that calls: every state is reached and leads to the end, and every action is asked for") {
  constexpr DialEvent kEvents[] = {DialEvent::Failed,     DialEvent::Refused,  DialEvent::Proved,
                                   DialEvent::Welcomed,   DialEvent::HeadLost, DialEvent::VerdictCame,
                                   DialEvent::AgentEnded, DialEvent::Deadline};
  const auto walk = fake::walk(DialMachine(10s, 5s, kStart), std::span<const DialEvent>(kEvents),
                               [](DialMachine& machine, DialEvent event) {
                                 const DialState before = machine.state();
                                 const std::optional<TimePoint> deadline = machine.deadline();
                                 const DialAction action = machine.on(event, kStart + 1s);
                                 if (machine.state() == before) CHECK(machine.deadline() == deadline);
                                 if (action == DialAction::Unexpected) CHECK(machine.state() == before);
                                 return action;
                               });
  CHECK(walk.ways.size() == static_cast<std::size_t>(DialState::Over) + 1);
  CHECK(walk.that_end_in(DialState::Over).size() == walk.ways.size());
  CHECK(walk.actions.size() == static_cast<std::size_t>(DialAction::Leave) + 1);
}

TEST_CASE("dial-in: a host ends as the head says, or when it has gone") {
  DialMachine told(10s, 5s, kStart);
  CHECK(told.on(DialEvent::Welcomed, kStart) == DialAction::None);
  CHECK_FALSE(told.deadline());
  CHECK(told.on(DialEvent::AgentEnded, kStart) == DialAction::None);
  CHECK(told.on(DialEvent::VerdictCame, kStart) == DialAction::EndAgent);
  CHECK(told.on(DialEvent::HeadLost, kStart) == DialAction::None);
  CHECK(told.on(DialEvent::AgentEnded, kStart) == DialAction::Leave);

  DialMachine alone(10s, 5s, kStart);
  static_cast<void>(alone.on(DialEvent::Welcomed, kStart));
  CHECK(alone.on(DialEvent::HeadLost, kStart) == DialAction::EndAgent);
  CHECK(alone.deadline() == kStart + 5s + DialMachine::kConfirm);
  CHECK(alone.on(DialEvent::VerdictCame, kStart) == DialAction::Unexpected);
  CHECK(alone.on(DialEvent::Deadline, kStart + 17s) == DialAction::Leave);

  DialMachine refused(10s, 5s, kStart);
  CHECK(refused.on(DialEvent::Refused, kStart) == DialAction::GiveUp);
}

TEST_CASE("dial-in: a refusal is final, unless the head is of an earlier attempt or does not know our address yet") {
  CHECK(may_change({Reason::Attempt, 1, ""}, 2));
  CHECK_FALSE(may_change({Reason::Attempt, 3, ""}, 2));
  CHECK(may_change({Reason::Address, 2, ""}, 2));
  for (const Reason reason : {Reason::Version, Reason::Build, Reason::Job, Reason::UnknownHost, Reason::Twice,
                              Reason::Plan, Reason::Ending, Reason::Full}) {
    CHECK_FALSE(may_change({reason, 2, ""}, 2));
  }
}

// ---- which part a host has

namespace {

ThisHost host_with(plan::Environment environment) {
  ThisHost m;
  m.files.read = [](const std::string& path, std::size_t) -> Result<std::string> {
    return Error(ErrorKind::Io, "no such file: " + path);
  };
  m.secrets.read = [](const std::string& path, SecretKind kind) -> Result<std::string> {
    if (path == "/secret" && kind == SecretKind::Named) return std::string("0123456789abcdef0");
    if (path == "/home/sml-run/secret" && kind == SecretKind::Default) return std::string("0123456789abcdef1");
    return Error(ErrorKind::Config, "no such file");
  };
  m.secrets.config_folder = [] { return "/config"; };
  m.files.exists = [](const std::string&) { return false; };
  m.hardware.count_gpus = m.hardware.count_neuron_cores = [] { return 0U; };
  m.hardware.count_cpus = [] { return 4U; };
  m.names.own = "here";
  m.process.working_directory = "/root";
  m.process.environment = std::move(environment);
  m.job.id = "sml-1";
  return m;
}

Result<std::optional<Settings>> chosen_on(const ThisHost& here, const std::vector<std::string>& words,
                                          const std::string& called = "sml-run") {
  const auto options = parse_command_line(words, {.called = called});
  if (options.has_error()) FAIL(options.error().message());
  const auto plan = make_plan(std::get<Options>(*options), here);
  if (plan.has_error()) FAIL(plan.error().message());
  return choose_dial_in(std::get<Options>(*options), Training(), *plan, here, "build");
}

Result<std::optional<Settings>> chosen(const std::vector<std::string>& words, plan::Environment environment = {}) {
  return chosen_on(host_with(std::move(environment)), words);
}

std::string refusal(const std::vector<std::string>& words, plan::Environment environment = {}) {
  const auto result = chosen(words, std::move(environment));
  return result.has_error() ? result.error().message() : "(accepted)";
}

const plan::Environment kSecret{"SML_JOB_SECRET=0123456789abcdef0"};

}  // namespace

TEST_CASE("dial-in: a job without its options is none") { CHECK_FALSE(chosen({"true"})->has_value()); }

TEST_CASE("dial-in: hosts by number, and by name") {
  const auto counted = chosen({"--nnodes", "3", "--node-rank", "1", "--head", "10.0.0.1:77", "true"}, kSecret);
  REQUIRE(counted.has_value());
  CHECK((*counted)->hosts == std::vector<std::string>{"host-0", "host-1", "host-2"});
  CHECK((*counted)->own_index == 1);
  CHECK((*counted)->head == "10.0.0.1");
  CHECK((*counted)->port == 77);
  CHECK((*counted)->callers == Callers::Anywhere);

  const auto head = chosen({"--nnodes", "3", "--node-rank", "0", "true"}, kSecret);
  REQUIRE(head.has_value());
  CHECK((*head)->port == kDefaultPort);

  const auto named = chosen({"-H", "a:2,b:2", "--node-rank", "1", "true"}, kSecret);
  REQUIRE(named.has_value());
  CHECK((*named)->head == "a");
  CHECK((*named)->port == kDefaultPort);
  CHECK((*named)->callers == Callers::ListedHosts);
}

TEST_CASE("dial-in: where only the head is named, whose name it is is the head") {
  const auto on = [](transport::Whose whose, const plan::Environment& variables) {
    plan::Environment environment = kSecret;
    environment.insert(environment.end(), variables.begin(), variables.end());
    ThisHost here = host_with(environment);
    here.names.whose_host = [whose](const std::string& name) {
      return name == "h" ? whose : transport::Whose::Unknown;
    };
    const auto settings = chosen_on(here, {"--nnodes", "3", "--head", "h:7", "--rdzv-id", "r", "true"});
    REQUIRE(settings.has_value());
    return **settings;
  };
  const Settings head = on(transport::Whose::Ours, {});
  CHECK(head.own_index == 0);
  CHECK(head.place == PlaceRule::Known);
  CHECK(head.port == 7);
  CHECK(head.job == "run r");
  CHECK(head.part == "this host is the head, as h is its own; 2 others are to call its port 7");
  CHECK(head.port_taken == PortTaken::HeadIsHere);  // another process of this machine may have been first
  CHECK(on(transport::Whose::Ours, {"NODE_RANK=2"}).own_index == 0);  // it listens where the others call

  const Settings other = on(transport::Whose::Others, {});
  CHECK(other.own_index != 0);
  CHECK(other.place == PlaceRule::ChosenByHead);
  CHECK_FALSE(other.preferred);
  CHECK(other.job_settings == head.job_settings);
  CHECK(on(transport::Whose::Others, {"SLURM_PROCID=2", "SLURM_NTASKS=3"}).preferred == 2U);
  CHECK_FALSE(on(transport::Whose::Others, {"SLURM_PROCID=2", "SLURM_NTASKS=6"}).preferred);  // of tasks, not of hosts
  CHECK(on(transport::Whose::Others, {"SLURM_PROCID=2", "SLURM_NTASKS=6", "SLURM_NODEID=1", "SLURM_NNODES=3"})
            .preferred == 1U);
  CHECK(on(transport::Whose::Others, {"JOB_COMPLETION_INDEX=1"}).preferred == 1U);
  CHECK_FALSE(on(transport::Whose::Others, {"JOB_COMPLETION_INDEX=3"}).preferred);
  CHECK_FALSE(on(transport::Whose::Others, {"NODE_RANK=1x"}).preferred);

  // a name that is not known yet
  CHECK(on(transport::Whose::Unknown, {"JOB_COMPLETION_INDEX=0"}).own_index == 0);
  CHECK(on(transport::Whose::Unknown, {"JOB_COMPLETION_INDEX=1"}).place == PlaceRule::ChosenByHead);
  CHECK(on(transport::Whose::Unknown, {}).place == PlaceRule::ChosenByHead);
}

TEST_CASE("dial-in: under the name torchrun each host says for itself how many workers it has, and in which role") {
  ThisHost here = host_with(kSecret);
  here.names.whose_host = [](const std::string&) { return transport::Whose::Others; };
  const auto line = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"--nnodes=3", "--nproc-per-node=2", "--role=trainer"};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--no-python", "true"});
    const auto settings = chosen_on(here, words, "torchrun");
    REQUIRE(settings.has_value());
    return **settings;
  };
  const Settings one = line({"--rdzv-endpoint=h:7"});
  CHECK(one.share == plan::HostShare{2, "trainer"});
  CHECK(one.needs_all());
  CHECK(one.least_hosts == 3U);  // they are waited for before the job is planned
  const Settings other = line({"--rdzv-endpoint=h:7", "--nproc-per-node=4", "--role=reader"});
  CHECK(other.share == plan::HostShare{4, "reader"});
  CHECK(other.job_settings == one.job_settings);

  const Settings placed = line({"--master-addr=h", "--node-rank=2"});
  CHECK(placed.place == PlaceRule::ChosenByHead);
  CHECK(placed.preferred == 2U);
  CHECK(line({"--master-addr=h", "--node-rank=0"}).own_index == 0);

  const Settings some = line({"--rdzv-endpoint=h:7", "--nnodes=2:3"});
  CHECK(some.share == plan::HostShare{2, "trainer"});
  CHECK(some.least_hosts == 2U);
  CHECK(some.job_settings ==
        line({"--rdzv-endpoint=h:7", "--nnodes=2:3", "--nproc-per-node=4", "--role=reader"}).job_settings);

  for (const std::vector<std::string>& alike :
       {std::vector<std::string>{"--map-by", "node"}, {"--nnodes=2:3", "--max-restarts=1", "--role=default"}}) {
    CAPTURE(alike);
    std::vector<std::string> words = alike;
    words.insert(words.begin(), "--rdzv-endpoint=h:7");
    CHECK_FALSE(line(words).share);
  }
}

TEST_CASE("dial-in: where the platform starts every host nothing needs to be said") {
  const plan::Environment batch{"AWS_BATCH_JOB_NUM_NODES=3", "AWS_BATCH_JOB_NODE_INDEX=0",
                                "AWS_BATCH_JOB_MAIN_NODE_INDEX=2", "AWS_BATCH_JOB_ID=id#0",
                                "AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS=10.0.0.7"};
  const auto node = chosen({"true"}, batch);
  REQUIRE(node.has_value());
  CHECK((*node)->hosts == std::vector<std::string>{"host-2", "host-0", "host-1"});
  CHECK((*node)->own_index == 1);
  CHECK((*node)->head == "10.0.0.7");
  CHECK((*node)->callers == Callers::Anywhere);
  CHECK((*chosen({"--head", "b:80", "true"}, batch))->port == 80);
  CHECK_FALSE(chosen({"--host-source", "local", "true"}, batch)->has_value());
  CHECK_FALSE(chosen({"-H", "a,b", "true"}, batch)->has_value());

  const plan::Environment pod{"PET_NNODES=2", "PET_NODE_RANK=1", "MASTER_ADDR=j-master-0",
                              "SML_JOB_SECRET=0123456789abcdef"};
  const auto worker = chosen({"true"}, pod);
  REQUIRE(worker.has_value());
  CHECK((*worker)->own_index == 1);
  CHECK((*worker)->head == "j-master-0");
  CHECK((*worker)->callers == Callers::ListedHosts);

  const plan::Environment nameless{"PET_NNODES=2", "PET_NODE_RANK=1", "SML_JOB_SECRET=0123456789abcdef"};
  CHECK(refusal({"true"}, nameless) ==
        "PET_NNODES does not name the head, that is host 0: name it with --head ADDR[:PORT]");
  CHECK(refusal({"true"}, {"PET_NNODES=2", "MASTER_ADDR=x y", "PET_NODE_RANK=1", "SML_JOB_SECRET=0123456789abcdef"}) ==
        "PET_NNODES: the address of the first host, \"x y\", is none");
  CHECK(refusal({"--secret-file", "/secret", "true"}, {"PET_NNODES=2", "MASTER_ADDR=10.0.0.1"}) ==
        "PET_NNODES: 2 hosts also need --head ADDR[:PORT], the address of the first, the same on each");
}

TEST_CASE("dial-in: hosts of one job have the same key and terms, others have not, and each has its own program") {
  const std::vector<std::string> words{"-H", "a,b", "--node-rank", "1", "true"};
  const auto from_file = chosen({"-H", "a,b", "--node-rank", "0", "--secret-file", "/secret", "true"});
  const auto from_variable = chosen(words, kSecret);
  CHECK((*from_file)->key == (*from_variable)->key);
  CHECK((*from_file)->job_settings == (*from_variable)->job_settings);
  CHECK((*chosen(words, {"SML_JOB_SECRET=another secret of it"}))->key != (*from_variable)->key);
  const auto first = chosen(words, {"AWS_BATCH_JOB_ID=id#0", "AWS_BATCH_JOB_ATTEMPT=2"});
  const auto second = chosen(words, {"AWS_BATCH_JOB_ID=id#1", "AWS_BATCH_JOB_ATTEMPT=2"});
  CHECK((*first)->key == (*second)->key);
  CHECK((*first)->attempt == 2);
  CHECK((*chosen({"-H", "a,b", "--node-rank", "1", "false"}, kSecret))->job_settings == (*from_variable)->job_settings);
  CHECK((*chosen({"-H", "a:2,b", "--node-rank", "1", "true"}, kSecret))->job_settings !=
        (*from_variable)->job_settings);
}

TEST_CASE("dial-in: the user's own secret is found; without one a key that can be guessed is a matter of an option") {
  ThisHost here = host_with({});
  const std::vector<std::string> words{"-H", "a,b", "--node-rank", "1", "true"};
  here.secrets.config_folder = [] { return "/home"; };
  here.files.exists = [](const std::string& path) { return path == "/home/sml-run/secret"; };
  const auto own = chosen_on(here, words);
  REQUIRE(own.has_value());
  CHECK((*own)->key == *derive_key("0123456789abcdef1", "sml-run dial-in: secret"));
  CHECK((*own)->advice.empty());

  std::vector<std::string> insecure = words;
  insecure.insert(insecure.begin(), "--insecure-job-key");
  const auto named = chosen(insecure);
  REQUIRE(named.has_value());
  CHECK((*named)->key != (*own)->key);
  CHECK(
      (*named)->advice.starts_with("warning: --insecure-job-key: whoever reaches port 29399 of the head and guesses"));
  CHECK((*chosen(insecure, kSecret))->advice.empty());
  CHECK(refusal(words, {"TRAINING_JOB_NAME=one"}) ==
        "the hosts of this job share no secret, by which they know each other");
}

TEST_CASE("dial-in: hosts of a step know each other by what it gives them, unless a secret is given") {
  const plan::Environment pbs{"PBS_JOBID=5.s", "PBS_TASKNUM=3", "PBS_NODENUM=1", "PBS_JOBCOOKIE=0123456789ABCDEF0123",
                              "PATH=/nowhere"};
  const std::vector<std::string> words{"--nnodes", "2", "--head", "a", "true"};
  const auto by_cookie = chosen(words, pbs);
  REQUIRE(by_cookie.has_value());
  CHECK((*by_cookie)->proof == "the cookie of this job of PBS");
  CHECK((*by_cookie)->own_index == 1);
  CHECK((*by_cookie)->job == "pbs 5.s");
  CHECK((*by_cookie)->callers == Callers::Anywhere);
  plan::Environment other_job = pbs;
  other_job[0] = "PBS_JOBID=6.s";
  CHECK((*chosen(words, other_job))->key != (*by_cookie)->key);

  plan::Environment given = pbs;
  given.push_back(kSecret.front());
  CHECK((*chosen(words, given))->key == *derive_key("0123456789abcdef0", "sml-run dial-in: secret"));
  CHECK((*chosen(words, given))->proof == "the secret of $SML_JOB_SECRET");

  plan::Environment short_cookie = pbs;
  short_cookie[3] = "PBS_JOBCOOKIE=0123";
  CHECK(refusal(words, short_cookie) == "the hosts of this job share no secret, by which they know each other");
}

TEST_CASE("dial-in: in a step without a proof of its own the first host makes a secret for all in their home") {
  const auto on = [](const std::string& rank, Result<void> there) {
    ThisHost here = host_with({"OMPI_COMM_WORLD_RANK=" + rank, "OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_LOCAL_SIZE=1",
                               "PMIX_NAMESPACE=x", "PATH=/nowhere"});
    const auto made = std::make_shared<std::optional<SecretMaker>>();
    here.secrets.config_folder = [] { return "/home"; };
    here.files.exists = [made](const std::string&) { return made->has_value(); };
    here.secrets.share = [made, there](const std::string& path, SecretMaker maker, Duration) {
      CHECK(path == "/home/sml-run/secret");
      if (there) *made = maker;
      return there;
    };
    const auto settings = chosen_on(here, {"--nnodes", "2", "--head", "a", "true"});
    return std::pair(settings, *made);
  };
  const auto [first, made] = on("0", {});
  REQUIRE(first.has_value());
  CHECK(made == SecretMaker::ThisHost);
  CHECK((*first)->proof == "the secret of /home/sml-run/secret");
  const auto [second, waited] = on("1", {});
  REQUIRE(second.has_value());
  CHECK(waited == SecretMaker::Another);
  CHECK((*second)->key == (*first)->key);
  const auto [alone, nothing] = on("1", Error(ErrorKind::Timeout, "has not appeared"));
  REQUIRE(alone.has_error());
  CHECK(alone.error().message() == "has not appeared");
  CHECK(alone.error().hint() ==
        "run sml-run --make-secret once and copy ~/.config/sml-run/secret to the other hosts, if "
        "they do not share this home, or give all of them SML_JOB_SECRET or --secret-file FILE; "
        "on a closed network: --insecure-job-key");
}

TEST_CASE("dial-in: processes of one machine that call each other there make a secret in their home") {
  const auto proof = [](const std::string& head) {
    ThisHost here = host_with({});
    const auto made = std::make_shared<bool>(false);
    here.secrets.config_folder = [] { return "/home"; };
    here.files.exists = [made](const std::string&) { return *made; };
    here.secrets.share = [made](const std::string&, SecretMaker maker, Duration) {
      *made = maker == SecretMaker::ThisHost;
      return Result<void>();
    };
    const auto settings = chosen_on(here, {"--nnodes", "2", "--node-rank", "1", "--head", head, "true"});
    return settings ? (*settings)->proof : settings.error().message();
  };
  for (const std::string head : {"localhost", "127.0.0.1:29577", "::1"}) {
    CHECK(proof(head) == "the secret of /home/sml-run/secret");
  }
  for (const std::string head : {"algo-1", "10.0.0.1"}) {
    CHECK(proof(head) == "the hosts of this job share no secret, by which they know each other");
  }
}

TEST_CASE("dial-in: where a platform keeps a job apart the key is made of all that its hosts are told") {
  const auto on = [](const std::string& host, const std::string& secret_path, const std::string& job = "arn:1") {
    ThisHost here = host_with({"TRAINING_JOB_NAME=name", "TRAINING_JOB_ARN=" + job});
    test::FakeContainer container;
    container.config(
        "resourceconfig.json",
        R"({"current_host":")" + host + R"(","hosts":["algo-1","algo-2"],"current_instance_type":")" + host + R"("})");
    container.config("hyperparameters.json", R"({"sagemaker_submit_directory":")" + secret_path + R"("})");
    here.files.read = [container](const std::string& path, std::size_t limit) {
      return container.view().read(path, limit);
    };
    here.files.exists = [container](const std::string& path) { return container.view().exists(path); };
    const auto settings = chosen_on(here, {"-H", "algo-1,algo-2", "--node-rank", "1", "true"});
    REQUIRE(settings.has_value());
    CHECK(
        (*settings)->advice ==
        "the key of the connections is made of what SageMaker gives this job; for a secret one, set SML_JOB_SECRET in "
        "the job's environment");
    return (*settings)->key;
  };
  const Key first = on("algo-1", "s3://a");
  CHECK(on("algo-2", "s3://a") == first);
  CHECK(on("algo-1", "s3://b") != first);
  CHECK(on("algo-1", "s3://a", "arn:2") != first);
}

TEST_CASE("dial-in: a secret's file belongs to nobody else, and nobody else reads or writes it") {
  const auto said = [](SecretFileFacts facts, SecretKind kind = SecretKind::Named) {
    const auto refused = refuse_secret_file(facts, kind, 1000);
    return refused ? refused->message() : "";
  };
  constexpr mode_t kFile = S_IFREG;
  CHECK(said({kFile | 0600, 1000}) == "");
  CHECK(said({kFile | 0400, 0}) == "");
  CHECK(said({kFile | 0400, 0}, SecretKind::Default) == "belongs to user 0, who can read and change it");
  CHECK(said({kFile | 0600, 1001}) == "belongs to user 1001, who can read and change it");
  CHECK(said({kFile | 0666, 1000}).starts_with("others can write to it (mode 0666)"));
  CHECK(said({kFile | 0640, 1000}).starts_with("others can read it (mode 0640)"));
  CHECK(said({kFile | 0644, 0, true}) == "");
  CHECK(said({kFile | 0644, 1000, true}, SecretKind::Default).starts_with("others can read it"));
  CHECK(said({kFile | 0666, 0, true}).starts_with("others can write to it"));
  CHECK(said({S_IFIFO | 0600, 1000}) == "");
  CHECK(said({S_IFDIR | 0700, 1000}) == "is no file");
}

TEST_CASE("dial-in: an address of the head may be of any kind") {
  const auto head = [](const std::string& text) {
    const auto settings = chosen({"--nnodes", "2", "--node-rank", "1", "--head", text, "true"}, kSecret);
    return settings.has_error() ? settings.error().message()
                                : fmt::format("{} {}", (*settings)->head, (*settings)->port);
  };
  CHECK(head("algo-1") == "algo-1 29399");
  CHECK(head("[fd00::1]:80") == "fd00::1 80");
  CHECK(head("[fd00::1]") == "fd00::1 29399");
  CHECK(head("fd00::1") == "fd00::1 29399");
  for (const char* bad : {"a:", "a:0", "a:65536", "a:x", ":80", "[::1", "[::1]x", "a b", "a:80x"}) {
    CHECK(head(bad) == fmt::format("--head: \"{}\" is not ADDR or ADDR:PORT; an IPv6 address stands in brackets", bad));
  }
}

TEST_CASE("dial-in: what does not fit together is refused with one sentence") {
  CHECK(refusal({"--nnodes", "2", "true"}, kSecret) ==
        "--nnodes: 2 hosts also need --head ADDR[:PORT], the address of the first, the same on each");
  CHECK(refusal({"--head", "10.0.0.1", "true"}, kSecret) ==
        "--head needs --nnodes N, the number of hosts on which this command runs");
  CHECK(refusal({"--nnodes", "2", "--node-rank", "1", "true"}, kSecret) ==
        "--nnodes does not name the head, that is host 0: name it with --head ADDR[:PORT]");
  CHECK(refusal({"-H", "a,b", "--nnodes", "3", "--node-rank", "1", "true"}, kSecret) ==
        "--nnodes 3: there are 2 hosts, from -H");
  CHECK(refusal({"-H", "a,b", "--node-rank", "2", "true"}, kSecret) ==
        "--node-rank 2: the job has 2 hosts; the last is 1");
  CHECK(refusal({"-H", "a,b", "--node-rank", "1", "true"}) ==
        "the hosts of this job share no secret, by which they know each other");
  CHECK(refusal({"-H", "a,b", "--node-rank", "1", "true"}, {"SML_JOB_SECRET=short"}) ==
        "$SML_JOB_SECRET: the secret has 5 bytes; it must have at least 16, and be random");
  CHECK(refusal({"-H", "a,b", "--node-rank", "1", "--secret-file", "/none", "true"}, kSecret) ==
        "--secret-file /none: no such file");
}

TEST_CASE("dial-in: workers begin with what is their host's, and the secret is none of their business") {
  plan::LaunchPlan first;
  first.launcher_environment = {"A=1", "SM_CURRENT_HOST=old", "SML_JOB_SECRET=s"};
  Training training;
  training.host_variables = {"SM_CURRENT_HOST=a"};
  const plan::LaunchPlan plan = plan_of_calling_host(first, training);
  CHECK(plan.launcher_environment == plan::Environment{"A=1", "SM_CURRENT_HOST=a"});
  CHECK(plan.export_policy == plan::ExportPolicy::None);
}

TEST_CASE("a stop leaves workers what the platform allows") {
  const auto stop_grace = [](const std::vector<std::string>& words, plan::Environment environment,
                             std::size_t warnings = 0) {
    auto parsed = parse_command_line(words);
    if (parsed.has_error()) FAIL(parsed.error().message());
    auto& options = std::get<Options>(*parsed);
    const ThisHost here = host_with(std::move(environment));
    HostFinder finder(here);
    CHECK(choose_stop_grace(options, here, finder).size() == warnings);
    return options.stop_grace;
  };
  const std::vector<std::string> dialled{"--node-rank", "0", "true"};
  CHECK(stop_grace({"train"}, {}) == 100s);
  CHECK(stop_grace({"--stop-grace", "5s", "train"}, {}) == 5s);
  CHECK(stop_grace({"--stop-grace", "5m", "train"}, {}, 1) == 100s);
  CHECK(stop_grace(dialled, {"AWS_BATCH_JOB_ID=x"}) == 20s);
  CHECK(stop_grace(dialled, {"KUBERNETES_SERVICE_HOST=x"}) == 20s);
  CHECK(stop_grace({"--stop-grace", "100s", "--node-rank", "0", "true"}, {"KUBERNETES_SERVICE_HOST=x"}) == 100s);
  CHECK_FALSE(stop_grace(dialled, {}));
  CHECK_FALSE(stop_grace({"true"}, {"AWS_BATCH_JOB_ID=x"}));
  const plan::Environment batch{"AWS_BATCH_JOB_ID=x", "AWS_BATCH_JOB_NUM_NODES=2", "AWS_BATCH_JOB_NODE_INDEX=0"};
  CHECK(stop_grace({"true"}, batch) == 20s);
  CHECK(stop_grace({"train"}, batch) == 20s);
  CHECK_FALSE(stop_grace({"-H", "a,b", "true"}, batch));
}

namespace {

Options with_start_timeout(const std::vector<std::string>& words, plan::Environment environment) {
  auto parsed = parse_command_line(words);
  if (parsed.has_error()) FAIL(parsed.error().message());
  auto& options = std::get<Options>(*parsed);
  const ThisHost here = host_with(std::move(environment));
  HostFinder finder(here);
  choose_start_timeout(options, finder);
  return options;
}

}  // namespace

TEST_CASE("containers that a platform starts have the time to come together") {
  const auto start_timeout = [](const std::vector<std::string>& words, plan::Environment environment) {
    return with_start_timeout(words, std::move(environment)).start_timeout;
  };
  const plan::Environment batch{"AWS_BATCH_JOB_NUM_NODES=2", "AWS_BATCH_JOB_NODE_INDEX=0"};
  CHECK(start_timeout({"true"}, batch) == kContainersStart);
  CHECK(start_timeout({"--start-timeout", "9s", "true"}, batch) == 9s);
  CHECK(start_timeout({"true"}, {}) == 60s);
  CHECK(start_timeout({"--nnodes", "2", "--node-rank", "0", "true"}, batch) == 60s);
  const plan::Environment cloud{"SKYPILOT_NODE_IPS=10.0.0.1\n10.0.0.2", "SKYPILOT_NODE_RANK=0"};
  CHECK(start_timeout({"true"}, cloud) == kContainersStart);
  CHECK(start_timeout({"--start-timeout", "9s", "true"}, cloud) == 9s);
  CHECK(start_timeout({"--no-wait-for-hosts", "true"}, cloud) == 60s);
  CHECK(start_timeout({"--wait-for-hosts", "true"}, cloud) == kContainersStart);
  CHECK(start_timeout({"-H", "a,b", "true"}, cloud) == 60s);
}

TEST_CASE("hosts that a cloud names before they are up are awaited") {
  const auto absent = [](const std::vector<std::string>& words, plan::Environment environment) {
    return with_start_timeout(words, std::move(environment)).ssh.absent_hosts;
  };
  const plan::Environment cloud{"SKYPILOT_NODE_IPS=10.0.0.1\n10.0.0.2", "SKYPILOT_NODE_RANK=0"};
  CHECK(absent({"true"}, cloud) == AbsentHosts::AreAwaited);
  CHECK(absent({"--no-wait-for-hosts", "true"}, cloud) == AbsentHosts::Fail);
  CHECK_FALSE(absent({"-H", "a,b", "true"}, cloud));
  CHECK_FALSE(absent({"true"}, {}));
}

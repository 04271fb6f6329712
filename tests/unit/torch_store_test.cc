#include "launcher/agent/stores/torch_store.h"

#include <deque>
#include <map>
#include <set>

#include "tests/support/catch.h"
#include "tests/support/torch_client.h"

using namespace sml;
using namespace sml::agent;
using namespace sml::fake;
using namespace std::chrono_literals;
using namespace std::string_literals;

namespace {

const TimePoint kStart{std::chrono::hours(1)};
const std::string kZero = u8(0);

// Clients of one store. What a client is sent is taken at once unless it is slow.
class Clients {
 public:
  explicit Clients(std::uint32_t world_size = 2, TorchStoreLimits limits = {}) : store(world_size, limits) {}

  int open() {
    store.opened(ClientId(next_), now);
    return static_cast<int>(next_++);
  }
  int open_new() {
    const int client = open();
    say(client, validate());
    return client;
  }
  void say(int client, const std::string& request) {
    store.received(id(client), request, now);
    settle();
  }
  void close(int client) {
    faults[client] = store.closed(id(client));
    settle();
  }
  std::string heard(int client) { return std::exchange(inbox[client], {}); }
  std::string ask(int client, const std::string& request) {
    heard(client);
    say(client, request);
    return heard(client);
  }
  void settle() {
    for (auto effects = store.take_effects(); !effects.empty(); effects = store.take_effects()) {
      for (Effect& effect : effects) {
        const int client = static_cast<int>(effect.client.value());
        inbox[client] += effect.bytes;
        if (effect.then == Effect::Then::Fault) faults[client] = effect.fault;
        if (!slow.contains(client)) store.sent(effect.client, effect.bytes.size(), now);
      }
    }
  }
  static ClientId id(int client) { return ClientId(static_cast<std::uint32_t>(client)); }

  TorchStore store;
  TimePoint now = kStart;
  std::map<int, std::string> inbox;
  std::map<int, std::string> faults;
  std::set<int> slow;

 private:
  std::uint32_t next_ = 0;
};

// Requests in the numbering of torch from 2.1 on, and of torch up to 2.0.
std::string set(const std::string& k, const std::string& v) { return u8(1) + bytes(k) + bytes(v); }
std::string compare_set(const std::string& k, const std::string& e, const std::string& d) {
  return u8(2) + bytes(k) + bytes(e) + bytes(d);
}
std::string get(const std::string& k) { return u8(3) + bytes(k); }
std::string add(const std::string& k, std::int64_t n) { return u8(4) + bytes(k) + i64(n); }
std::string check(const std::vector<std::string>& k) { return u8(5) + keys(k); }
std::string wait(const std::vector<std::string>& k) { return u8(6) + keys(k); }
std::string num_keys() { return u8(7); }
std::string delete_key(const std::string& k) { return u8(8) + bytes(k); }
std::string append(const std::string& k, const std::string& v) { return u8(9) + bytes(k) + bytes(v); }
std::string cancel_wait() { return u8(12); }
std::string push(const std::string& k, const std::string& v) { return u8(14) + bytes(k) + bytes(v); }
std::string pop(const std::string& k) { return u8(15) + bytes(k); }
std::string barrier(const std::string& k, std::int64_t n) { return u8(18) + bytes(k) + i64(n); }
std::string old_add(const std::string& k, std::int64_t n) { return u8(3) + bytes(k) + i64(n); }
std::string old_set(const std::string& k, const std::string& v) { return u8(0) + bytes(k) + bytes(v); }
std::string old_wait(const std::vector<std::string>& k) { return u8(5) + keys(k); }
std::string old_get(const std::string& k) { return u8(2) + bytes(k); }

}  // namespace

TEST_CASE("torch store: values, text and bytes") {
  Clients c;
  const int a = c.open_new();
  CHECK(c.ask(a, set("/k", "v\0\xff"s)).empty());
  CHECK(c.ask(a, get("/k")) == bytes("v\0\xff"s));
  CHECK(c.ask(a, get("/none")) == bytes(""));
  CHECK(c.ask(a, set("/empty", "")).empty());
  CHECK(c.ask(a, num_keys()) == i64(2));
  CHECK(c.ask(a, check({"/k", "/empty"})) == u8(0));
  CHECK(c.ask(a, check({"/k", "/none"})) == u8(1));
  CHECK(c.ask(a, append("/k", "+")).empty());
  CHECK(c.ask(a, append("/new", "x")).empty());
  CHECK(c.ask(a, get("/k") + get("/new")) == bytes("v\0\xff+"s) + bytes("x"));
  CHECK(c.ask(a, delete_key("/k")) == i64(1));
  CHECK(c.ask(a, delete_key("/k")) == i64(0));
  CHECK(c.ask(a, u8(11) + u64(2) + bytes("p") + bytes("1") + bytes("q") + bytes("2")).empty());
  CHECK(c.ask(a, u8(10) + keys({"q", "none", "p"})) == bytes("2") + bytes("") + bytes("1"));
  CHECK(c.ask(a, u8(13) + u32(4711)) == u32(4711));
  CHECK(c.faults.empty());
}

TEST_CASE("torch store: numbers are decimal text") {
  Clients c;
  const int a = c.open_new();
  CHECK(c.ask(a, add("n", 5)) == i64(5));
  CHECK(c.ask(a, add("n", -7)) == i64(-2));
  CHECK(c.ask(a, get("n")) == bytes("-2"));
  CHECK(c.ask(a, set("n", "40") + add("n", 2)) == i64(42));
  CHECK(c.ask(a, add("n", 0)) == i64(42));
  CHECK(c.ask(a, set("big", "9223372036854775807") + add("big", 1)) == i64(INT64_MIN));
  CHECK(c.ask(a, set("text", "abc") + add("text", 1)).empty());
  CHECK(c.faults[a] == "ADD: the value of the key is no number");
}

TEST_CASE("torch store: compare and set") {
  Clients c;
  const int a = c.open_new();
  CHECK(c.ask(a, compare_set("k", "something", "new")) == bytes("something"));
  CHECK(c.ask(a, check({"k"})) == u8(1));
  CHECK(c.ask(a, compare_set("k", "", "first")) == bytes("first"));
  CHECK(c.ask(a, compare_set("k", "other", "second")) == bytes("first"));
  CHECK(c.ask(a, compare_set("k", "first", "second")) == bytes("second"));
  CHECK(c.ask(a, get("k")) == bytes("second"));
}

TEST_CASE("torch store: a wait ends when every key that was missing has come") {
  Clients c;
  const int a = c.open_new();
  const int b = c.open_new();
  c.say(b, set("there", "1"));
  CHECK(c.ask(a, wait({"there"})) == kZero);
  CHECK(c.ask(a, wait({"there", "x", "y"})).empty());
  c.say(b, set("x", "1") + delete_key("x"));
  CHECK(c.heard(a).empty());
  c.say(b, add("y", 1));
  CHECK(c.heard(a) == kZero);
  for (const std::string& way : {set("z1", ""), append("z1", "a"), compare_set("z1", "", "a"), add("z1", 1),
                                 u8(11) + u64(1) + bytes("z1") + bytes("v"), push("z1", "item")}) {
    CHECK(c.ask(a, wait({"z1"})).empty());
    c.say(b, way);
    CHECK(c.heard(a) == kZero);
    c.say(b, delete_key("z1") + pop("z1"));
  }
}

TEST_CASE("torch store: a wait holds up one client only") {
  Clients c;
  const int a = c.open_new();
  const int b = c.open_new();
  c.say(a, wait({"k"}));
  CHECK(c.ask(b, set("other", "1") + get("other")) == bytes("1"));
  CHECK(c.heard(a).empty());
}

TEST_CASE("torch store: a wait that is cancelled is answered once, a wait that is over twice") {
  Clients c;
  const int a = c.open_new();
  const int b = c.open_new();
  c.say(a, wait({"k"}));
  CHECK(c.ask(a, cancel_wait()) == u8(1));
  c.say(b, set("k", "1"));
  CHECK(c.heard(a).empty());
  c.say(a, wait({"l"}));
  c.say(b, set("l", "1"));
  CHECK(c.ask(a, cancel_wait()) == u8(1));  // after the 0 that ask() has thrown away
}

TEST_CASE("torch store: an old client that asks again has given its wait up") {
  Clients c;
  const int a = c.open();
  const int b = c.open();
  CHECK(c.ask(a, old_wait({"k"})).empty());
  CHECK(c.ask(a, old_add("n", 3)) == i64(3));
  c.say(b, old_set("k", "1"));
  CHECK(c.heard(a).empty());  // a late 0 would be taken for the answer to something else
  CHECK(c.ask(a, old_get("k")) == bytes("1"));
}

TEST_CASE("torch store: old and new clients share what is stored") {
  Clients c;
  const int old_client = c.open();
  const int new_client = c.open_new();
  c.say(old_client, old_set("k", "v"));
  CHECK(c.ask(new_client, get("k")) == bytes("v"));
}

TEST_CASE("torch store: a watched key tells what becomes of it") {
  Clients c;
  const int watcher = c.open();
  const int a = c.open_new();
  CHECK(c.ask(watcher, u8(7) + bytes("k")) == u8(3));
  c.say(a, set("k", "1"));
  CHECK(c.heard(watcher) == u8(1) + bytes("k") + bytes("") + bytes("1"));
  c.say(a, set("k", "2"));
  CHECK(c.heard(watcher) == u8(0) + bytes("k") + bytes("1") + bytes("2"));
  c.say(a, delete_key("k"));
  CHECK(c.heard(watcher) == u8(2) + bytes("k") + bytes("2") + bytes(""));
}

TEST_CASE("torch store: queues give each item to one") {
  Clients c;
  const int a = c.open_new();
  const int b = c.open_new();
  const int p = c.open_new();
  CHECK(c.ask(a, pop("q")) == i64(0));
  c.say(a, wait({"q"}));
  c.say(b, wait({"q"}));
  c.say(p, push("q", "one"));
  CHECK(c.heard(a) == kZero);
  CHECK(c.heard(b).empty());
  CHECK(c.ask(a, pop("q")) == i64(1) + bytes("one"));
  c.say(p, push("q", "two") + push("q", "three"));
  CHECK(c.heard(b) == kZero);
  CHECK(c.ask(p, u8(16) + bytes("q")) == i64(2));
  CHECK(c.ask(p, check({"q"})) == u8(0));
  CHECK(c.ask(p, num_keys()) == i64(0));
  CHECK(c.ask(b, pop("q") + pop("q") + pop("q")) == i64(2) + bytes("two") + i64(1) + bytes("three") + i64(0));
  CHECK(c.ask(p, check({"q"})) == u8(1));
}

TEST_CASE("torch store: a barrier lets all go when the last has come") {
  Clients c;
  const int a = c.open_new();
  const int b = c.open_new();
  const int d = c.open_new();
  CHECK(c.ask(a, barrier("b", 3)).empty());
  CHECK(c.ask(b, barrier("b", 3)).empty());
  CHECK(c.ask(b, cancel_wait()) == u8(1));  // counted all the same
  CHECK(c.ask(d, barrier("b", 3)) == kZero);
  CHECK(c.heard(a) == kZero);
  CHECK(c.heard(b).empty());
  CHECK(c.ask(a, get("b")) == bytes("3"));
}

TEST_CASE("torch store: the keys are listed") {
  Clients c;
  const int a = c.open_new();
  c.say(a, set("only", "1"));
  CHECK(c.ask(a, u8(17)) == i64(1) + bytes("only"));
}

TEST_CASE("torch store: requests in any pieces, and several at once") {
  const std::string requests = validate() + u8(13) + u32(9) + add("init/", 1) + set("k", std::string(3000, 'v')) +
                               wait({"k"}) + get("k") + num_keys();
  std::string whole;
  for (const std::size_t piece : {requests.size(), std::size_t{1}, std::size_t{7}, std::size_t{1440}}) {
    Clients c;
    const int a = c.open();
    for (std::size_t at = 0; at < requests.size(); at += piece) c.say(a, requests.substr(at, piece));
    CHECK(c.faults.empty());
    if (whole.empty())
      whole = c.heard(a);
    else
      CHECK(c.heard(a) == whole);
  }
  CHECK(whole == u32(9) + i64(1) + kZero + bytes(std::string(3000, 'v')) + i64(2));
}

// What real clients send at the start, as seen on the wire (two ranks, Gloo).
TEST_CASE("torch store: the beginning of torch 1.13 and of torch 2.14") {
  for (const bool is_new : {false, true}) {
    Clients c;
    const int a = c.open();
    const int b = c.open();
    const std::string key = is_new ? "/default_pg/0//cpu//0/" : "//worker/attempt_0/default_pg/0/0/rank_";
    if (is_new) {
      CHECK(c.ask(a, validate() + u8(13) + u32(4711)) == u32(4711));
      CHECK(c.ask(b, validate() + u8(13) + u32(4712)) == u32(4712));
    }
    CHECK(c.ask(a, is_new ? add("init/", 1) : old_add("init/", 1)) == i64(1));
    CHECK(c.store.joined() == 1);
    CHECK(c.ask(a, is_new ? set(key + "0", "A") + wait({key + "1"}) : old_set(key + "0", "A") + old_wait({key + "1"}))
              .empty());
    CHECK(c.ask(b, is_new ? add("init/", 1) : old_add("init/", 1)) == i64(2));
    c.say(b, is_new ? set(key + "1", "B") : old_set(key + "1", "B"));
    CHECK(c.heard(a) == kZero);
    CHECK(c.ask(a, is_new ? get(key + "1") : old_get(key + "1")) == bytes("B"));
    CHECK(c.store.joined() == 2);
  }
}

const std::string kCome = "x/default_pg/come";  // a key of a process group, under which its ranks are counted

TEST_CASE("torch store: a process group made again finds nothing of the one before") {
  Clients c(2);
  const auto come = [&](int client) { return c.ask(client, old_add("init/", 1) + old_add(kCome, 1)).substr(8); };
  const auto count = [&](int client) { return c.ask(client, old_add(kCome, 0)); };
  const int a = c.open(), b = c.open();
  CHECK(come(a) == i64(1));
  CHECK(come(b) == i64(2));
  SECTION("by a rank whose old connection is closed") { c.close(a); }
  SECTION("by a rank whose old connection seems open still") {}
  const int a2 = c.open();  // while b is still in the group before
  CHECK(come(a2) == i64(1));
  CHECK(count(b) == i64(2));
  c.close(b);
  const int b2 = c.open();
  CHECK(come(b2) == i64(2));
  CHECK(count(a2) == i64(2));
  CHECK(c.store.joined() == 4);
}

TEST_CASE("torch store: one more connection of a rank, which does not join, is in the newest group") {
  Clients c(1);
  const int a = c.open();
  c.say(a, old_add("init/", 1) + old_add(kCome, 1));
  const int clone = c.open();
  CHECK(c.ask(clone, old_add(kCome, 0)) == i64(1));
}

TEST_CASE("torch store: more stores share their keys, whoever has come or gone meanwhile") {
  Clients c(3);
  const auto store = [&] {
    const int client = c.open();
    c.say(client, old_add("init/", 1));
    return client;
  };
  const int ranks[] = {store(), store(), store()};
  for (const int rank : ranks) c.say(rank, old_add(kCome, 1));
  c.say(ranks[0], old_set("k", "1"));
  const int early = store();
  CHECK(c.ask(early, old_set("early", "1") + old_wait({"early", "late"})).empty());
  c.close(ranks[0]);
  const int late = store();
  CHECK(c.ask(late, old_get("k")) == bytes("1"));
  CHECK(c.ask(late, old_set("late", "1") + old_wait({"early", "late"})) == kZero);
  CHECK(c.heard(early) == kZero);
}

TEST_CASE("torch store: all keys are those of everybody and of the client's own group") {
  Clients c(1);
  const int a = c.open_new();
  c.say(a, add("init/", 1) + set(kCome, "1") + set("k", "1"));
  const int b = c.open_new();
  c.say(b, add("init/", 1) + set(kCome, "1") + set(kCome + "2", "1"));
  CHECK(c.ask(a, num_keys()) == i64(3));
  CHECK(c.ask(b, num_keys()) == i64(4));
  CHECK(c.ask(c.open_new(), num_keys()) == i64(4));
  CHECK(c.ask(a, u8(17)).substr(0, 8) == i64(3));
}

TEST_CASE("torch store: garbage is given up, and nobody else notices") {
  Clients c;
  const int a = c.open_new();
  c.say(a, wait({"k"}));
  const int bad = c.open();
  c.say(bad, "GET / HTTP/1.1\r\n\r\n");
  CHECK(c.faults[bad] == "there is no operation 71");
  CHECK_FALSE(c.store.takes_input(Clients::id(bad)));
  c.say(bad, "more");
  c.close(bad);
  const int half = c.open();
  c.say(half, u8(3) + u64(5) + "ab");
  c.close(half);
  CHECK(c.faults[half] == "it ended in the middle of a request");
  const int silent = c.open();
  c.close(silent);
  CHECK(c.faults[silent].empty());
  const int b = c.open_new();
  c.say(b, set("k", "1"));
  CHECK(c.heard(a) == kZero);
}

TEST_CASE("torch store: a request that does not get on is given up, silence is not") {
  Clients c;
  const int silent = c.open();
  const int slow = c.open_new();
  CHECK_FALSE(c.store.deadline());
  c.say(slow, u8(3));
  c.now += 40s;
  c.say(slow, u64(5).substr(0, 3));
  REQUIRE(c.store.deadline().has_value());
  c.now = *c.store.deadline();
  c.store.pass(c.now);
  c.settle();
  CHECK(c.faults.empty());
  c.now = *c.store.deadline();
  CHECK(c.now == kStart + 100s);
  c.store.pass(c.now);
  c.settle();
  CHECK(c.faults[slow] == "its request makes no progress");
  CHECK_FALSE(c.faults.contains(silent));
  CHECK_FALSE(c.store.deadline());
}

TEST_CASE("torch store: the first request has little time, however it is fed") {
  Clients c;
  const int fed = c.open();
  const int known = c.open_new();
  const std::string request = set("k", std::string(100, 'v'));
  for (std::size_t i = 0; i < 40 && !c.faults.contains(fed); ++i) {
    for (const int client : {fed, known}) c.say(client, request.substr(i, 1));
    c.now += 1s;
    c.store.pass(c.now);
    c.settle();
  }
  CHECK(c.faults[fed] == "its request makes no progress");
  CHECK(c.now == kStart + 30s);
  CHECK_FALSE(c.store.proved(Clients::id(fed)));
  CHECK(c.store.proved(Clients::id(known)));
  CHECK_FALSE(c.faults.contains(known));
}

TEST_CASE("torch store: clients that were stopped are not blamed") {
  Clients c;
  const int slow = c.open_new();
  c.say(slow, u8(3));
  c.now += 1h;
  c.store.restart_clocks(c.now);
  c.store.pass(c.now);
  c.settle();
  CHECK(c.faults.empty());
  CHECK(c.store.deadline() == c.now + Engine::kStall);
}

TEST_CASE("torch store: who does not take answers is not heard, and then given up") {
  Clients c(2, {.memory = 1U << 30, .unsent = 1000, .answer = 1U << 20});
  const int a = c.open_new();
  c.slow.insert(a);
  c.say(a, set("k", std::string(600, 'v')));
  for (int i = 0; i < 10; ++i) c.say(a, get("k"));
  CHECK(c.inbox[a].size() == 2 * 608);
  CHECK_FALSE(c.store.takes_input(Clients::id(a)));
  c.store.sent(Clients::id(a), 608, c.now);
  c.settle();
  CHECK(c.inbox[a].size() == 3 * 608);
  c.now += 60s;
  c.store.pass(c.now);
  c.settle();
  CHECK(c.faults[a] == "it does not take its answers");
}

TEST_CASE("torch store: memory is bounded, and given back") {
  Clients c(1, {.memory = 100'000, .unsent = 1U << 20, .answer = 50'000});
  const int a = c.open_new();
  const int greedy = c.open_new();
  for (int i = 0; i < 40; ++i) c.say(a, set("same", std::string(60'000, 'v')));
  CHECK(c.faults.empty());
  CHECK(c.ask(a, u8(10) + keys({"same"})).empty());
  CHECK(c.faults[a] == "MULTI_GET: the answer is too long");
  c.say(greedy, set("more", std::string(60'000, 'v')));
  CHECK(c.faults[greedy] == "the store is full");
  const int b = c.open_new();
  CHECK(c.ask(b, delete_key("same") + delete_key("more")) == i64(1) + i64(1));
  CHECK(c.store.memory() == 0);
  c.say(b, push("q", "item") + pop("q"));
  CHECK(c.store.memory() == 0);
}

TEST_CASE("torch store: waits, watches and barriers are counted, and given back with their client") {
  const auto waits = [](int i) { return wait({"a" + std::to_string(i), "b" + std::to_string(i)}); };
  const auto watches = [](int i) { return u8(7) + bytes("k" + std::to_string(i)); };
  const auto barriers = [](int i) { return barrier("b" + std::to_string(i), 9); };
  SECTION("waits") {
    Clients c;
    std::vector<int> clients;
    for (int i = 0; i < 100; ++i) c.say(clients.emplace_back(c.open_new()), waits(i));
    CHECK(c.store.memory() > 100 * 2 * 2 * 96);
    for (std::size_t i = 0; i < 50; ++i) c.close(clients[i]);
    for (std::size_t i = 50; i < 75; ++i) c.say(clients[i], cancel_wait());
    const int other = c.open_new();
    for (int i = 75; i < 100; ++i) {
      for (const char* key : {"a", "b"}) c.say(other, set(key + std::to_string(i), ""));
      for (const char* key : {"a", "b"}) c.say(other, delete_key(key + std::to_string(i)));
    }
    CHECK(c.store.memory() == 0);
  }
  SECTION("watches, each once") {
    Clients c;
    const int a = c.open();
    for (int i = 0; i < 100; ++i) c.say(a, watches(i) + watches(i));
    CHECK(c.store.memory() > 100 * 2 * 96);
    CHECK(c.store.memory() < 100 * 3 * 96);
    c.close(a);
    CHECK(c.store.memory() == 0);
  }
  SECTION("barriers") {
    Clients c;
    std::vector<int> clients;
    for (int i = 0; i < 10; ++i) c.say(clients.emplace_back(c.open_new()), barriers(i));
    const std::size_t before = c.store.memory();
    for (const int client : clients) c.close(client);
    CHECK(before - c.store.memory() > 10 * 2 * 96);
  }
  SECTION("too many") {
    Clients c(2, {.memory = 10'000, .unsent = 1000, .answer = 1000});
    const int a = c.open();
    const int b = c.open_new();
    for (int i = 0; i < 100; ++i) c.say(a, watches(i));
    CHECK(c.faults[a] == "the store is full");
    CHECK(c.ask(b, set("k", "v") + get("k")) == bytes("v"));
  }
}

TEST_CASE("torch store: who watches and does not read gives way, not who writes") {
  Clients c(2, {.memory = 100'000, .unsent = 1000, .answer = 50'000});
  const int a = c.open_new();
  const int watcher = c.open();
  c.slow.insert(watcher);
  c.say(watcher, u8(7) + bytes("k"));
  for (int i = 0; i < 100; ++i) c.say(a, set("k", std::string(1000, 'v')));
  CHECK(c.faults[watcher] == "it does not take its answers, and the store is full");
  CHECK_FALSE(c.faults.contains(a));
  c.close(watcher);
  CHECK(c.ask(a, delete_key("k")) == i64(1));
  CHECK(c.store.memory() == 0);
}

TEST_CASE("torch store: a value that grows piece by piece is bounded") {
  Clients c(2, {.memory = 1U << 20, .unsent = 1000, .answer = 1000});
  const int a = c.open_new();
  for (int i = 0; i < 20; ++i) c.say(a, append("k", std::string(100, 'v')));
  CHECK(c.faults[a] == "APPEND: the value is too long");
}

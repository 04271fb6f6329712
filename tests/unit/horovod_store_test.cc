#include "launcher/agent/stores/horovod_store.h"

#include <map>
#include <optional>

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::agent;
using namespace std::chrono_literals;
using namespace std::string_literals;

namespace {

// As Horovod's own client writes it: Host without port, Content-Length on every method, nothing else.
std::string request(const std::string& method, const std::string& target, const std::string& body = "") {
  return method + " " + target + " HTTP/1.1\r\nHost: 10.0.0.1\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

std::string answer(const std::string& status, const std::string& body = "") {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" +
         body;
}

const std::string kOk = answer("200 OK");
const std::string kMissing = answer("404 Not Found");

class Callers {
 public:
  explicit Callers(HorovodStoreLimits limits = {}) : store(limits) {}

  int open() {
    store.opened(ClientId(next_), now);
    return static_cast<int>(next_++);
  }
  // A connection for one request; what it has been answered so far.
  int call(const std::string& bytes, std::size_t piece = 1 << 20) {
    const int caller = open();
    for (std::size_t at = 0; at < bytes.size(); at += piece) say(caller, bytes.substr(at, piece));
    return caller;
  }
  std::string ask(const std::string& bytes) { return heard[call(bytes)]; }
  void say(int caller, const std::string& bytes) {
    store.received(ClientId(static_cast<std::uint32_t>(caller)), bytes, now);
    settle();
  }
  void pass(Duration d) {
    now += d;
    store.pass(now);
    settle();
  }
  void settle() {
    for (auto effects = store.take_effects(); !effects.empty(); effects = store.take_effects()) {
      for (const Effect& effect : effects) {
        const int caller = static_cast<int>(effect.client.value());
        heard[caller] += effect.bytes;
        if (!effect.fault.empty()) faults[caller] = effect.fault;
        CHECK(effect.then != Effect::Then::Stay);
        CHECK(store.closed(effect.client).empty());
      }
    }
  }

  HorovodStore store;
  TimePoint now{1h};
  std::map<int, std::string> heard;
  std::map<int, std::string> faults;

 private:
  std::uint32_t next_ = 0;
};

}  // namespace

TEST_CASE("horovod store: what is put can be got") {
  Callers c;
  const std::string binary = "\0\xff\r\n\r\nGET / HTTP/1.1"s;
  CHECK(c.ask(request("PUT", "/global/rank_0", binary)) == kOk);
  CHECK(c.ask(request("GET", "/global/rank_0")) == answer("200 OK", binary));
  CHECK(c.ask(request("PUT", "/global/rank_0", "new")) == kOk);
  CHECK(c.ask(request("GET", "/global/rank_0")) == answer("200 OK", "new"));
  CHECK(c.ask(request("PUT", "/local_algo-1/0", "")) == kOk);
  CHECK(c.ask(request("GET", "/local_algo-1/0")) == kOk);  // empty is not absent
  CHECK(c.ask(request("GET", "/global/rank_1")) == kMissing);
  CHECK(c.ask(request("GET", "/cross_0/rank_0")) == kMissing);
  CHECK(c.ask(request("PUT", "/worker_addresses/algo-1:0", "any scope")) == kOk);
  CHECK(c.faults.empty());
}

TEST_CASE("horovod store: the header is spelt as the client looks for it") {
  Callers c;
  c.ask(request("PUT", "/s/k", "12345"));
  CHECK(c.ask(request("GET", "/s/k")).find("\r\nContent-Length: 5\r\n") != std::string::npos);
}

TEST_CASE("horovod store: requests in any pieces") {
  Callers c;
  const std::string value(3000, 'a');
  for (const std::size_t piece : std::initializer_list<std::size_t>{1, 2, 7, 64, 1440}) {
    CHECK(c.heard[c.call(request("PUT", "/s/k", value), piece)] == kOk);
    CHECK(c.heard[c.call(request("GET", "/s/k"), piece)] == answer("200 OK", value));
  }
}

TEST_CASE("horovod store: Python's own client is understood") {
  Callers c;
  const std::string put =
      "PUT /worker_addresses/a:0 HTTP/1.1\r\nAccept-Encoding: identity\r\ncontent-length: 3\r\n"
      "Content-Type: application/x-www-form-urlencoded\r\nHost: 10.0.0.1:4711\r\n"
      "User-Agent: Python-urllib/3.11\r\nConnection: close\r\n\r\nabc";
  CHECK(c.ask(put) == kOk);
  CHECK(c.ask(request("GET", "/worker_addresses/a:0")) == answer("200 OK", "abc"));
}

TEST_CASE("horovod store: a question for a rank's addresses waits for them") {
  Callers c;
  const int early = c.call(request("GET", "/global/1"));
  const int too = c.call(request("GET", "/global/1"));
  CHECK(c.heard[early].empty());
  CHECK(c.store.deadline() == c.now + HorovodStore::kHold);
  c.ask(request("PUT", "/other/1", "x"));
  CHECK(c.heard[early].empty());
  c.ask(request("PUT", "/global/1", "addresses"));
  CHECK(c.heard[early] == answer("200 OK", "addresses"));
  CHECK(c.heard[too] == answer("200 OK", "addresses"));
}

TEST_CASE("horovod store: ... but not for long") {
  Callers c;
  const int early = c.call(request("GET", "/global/1"));
  c.pass(HorovodStore::kHold - 1ms);
  CHECK(c.heard[early].empty());
  c.pass(1ms);
  CHECK(c.heard[early] == kMissing);
  c.ask(request("PUT", "/global/1", "late"));
  CHECK(c.heard[early] == kMissing);
}

TEST_CASE("horovod store: who gives a question up is forgotten") {
  Callers c;
  const int early = c.call(request("GET", "/global/1"));
  CHECK(c.store.closed(ClientId(static_cast<std::uint32_t>(early))).empty());
  CHECK(c.ask(request("PUT", "/global/1", "addresses")) == kOk);
  CHECK(c.heard[early].empty());
  CHECK_FALSE(c.store.deadline());
}

TEST_CASE("horovod store: a rank that is done takes its two keys with it") {
  Callers c;
  for (const char* key : {"0", "rank_0", "1", "rank_1"}) c.ask(request("PUT", "/global/"s + key, "v"));
  CHECK(c.ask(request("DELETE", "/global/0")) == kOk);
  CHECK(c.ask(request("GET", "/global/rank_0")) == kMissing);
  CHECK(c.ask(request("GET", "/global/1")) == answer("200 OK", "v"));
  CHECK(c.ask(request("GET", "/global/rank_1")) == answer("200 OK", "v"));
  CHECK(c.heard[c.call(request("GET", "/global/0"))].empty());  // waits
  CHECK(c.ask(request("DELETE", "/nowhere/0")) == kOk);
  c.ask(request("DELETE", "/global/1"));
  CHECK(c.store.memory() > 0);  // of the one who waits
  c.now += HorovodStore::kHold;
  c.store.pass(c.now);
  c.settle();
  CHECK(c.store.memory() == 0);
}

// As a worker does: three communicators, twice over the same store.
TEST_CASE("horovod store: init and shutdown twenty times") {
  Callers c;
  for (int round = 0; round < 20; ++round) {
    for (const char* scope : {"global", "local_a", "global_process_set_hash_d2e1"}) {
      for (int rank = 0; rank < 3; ++rank) {
        const std::string base = "/"s + scope + "/";
        const std::string value = std::to_string(round) + "." + std::to_string(rank);
        CHECK(c.ask(request("PUT", base + "rank_" + std::to_string(rank), "host")) == kOk);
        for (int i = 0; i < rank; ++i)
          CHECK(c.ask(request("GET", base + "rank_" + std::to_string(i))) == answer("200 OK", "host"));
        if (rank == 0) CHECK(c.heard[c.call(request("GET", base + "1"))].empty());
        CHECK(c.ask(request("PUT", base + std::to_string(rank), value)) == kOk);
      }
    }
    for (const char* scope : {"global", "local_a", "global_process_set_hash_d2e1"}) {
      for (int rank = 0; rank < 3; ++rank) {
        const std::string target = "/"s + scope + "/" + std::to_string(rank);
        CHECK(c.ask(request("GET", target)) == answer("200 OK", std::to_string(round) + "." + std::to_string(rank)));
        c.ask(request("DELETE", target));
      }
    }
  }
  CHECK(c.store.memory() == 0);
}

TEST_CASE("horovod store: what is no request of Horovod's") {
  Callers c;
  for (const char* target : {"/", "/scope", "/a/b/c", "*"}) {
    CAPTURE(target);
    CHECK(c.ask(request("GET", target)) == answer("400 Bad Request"));
  }
  CHECK(c.ask(request("POST", "/s/k", "v")) == answer("405 Method Not Allowed"));
  CHECK(c.faults.empty());
  const int garbage = c.call("\x16\x03\x01\x02\x00 what\r\n\r\n"s);
  CHECK(c.heard[garbage] == answer("400 Bad Request"));
  CHECK(c.faults[garbage] == "it sends no HTTP request");
  const int long_head = c.call("GET /" + std::string(10'000, 'a'));
  CHECK(c.heard[long_head] == answer("413 Payload Too Large"));
}

TEST_CASE("horovod store: chunks are refused, whole or not, before anything reads them") {
  const std::string head = "PUT /a/b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string& body : {"4\r\nevil\r\n0\r\n\r\n"s, "0\r\n\x0fvil\r\n0\r\n\x0f\n"s, ""s}) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{1000}}) {
      Callers callers;
      CHECK(callers.heard[callers.call(head + body, piece)] == answer("400 Bad Request"));
    }
  }
}

TEST_CASE("horovod store: values are bounded, and the whole of them") {
  Callers c({.memory = 10'000, .value = 4'000});
  const int big = c.call("PUT /s/big HTTP/1.1\r\nContent-Length: 4001\r\n\r\n");
  CHECK(c.heard[big] == answer("413 Payload Too Large"));
  CHECK(c.ask(request("PUT", "/s/1", std::string(4'000, 'v'))) == kOk);
  CHECK(c.ask(request("PUT", "/s/2", std::string(4'000, 'v'))) == kOk);
  const int full = c.call(request("PUT", "/s/3", std::string(4'000, 'v')));
  CHECK(c.heard[full] == answer("507 Insufficient Storage"));
  CHECK(c.faults[full] == "the store is full");
  CHECK(c.ask(request("DELETE", "/s/1")) == kOk);
  CHECK(c.ask(request("PUT", "/s/3", std::string(4'000, 'v'))) == kOk);
}

TEST_CASE("horovod store: half a request is given up, and so is one who says nothing") {
  Callers c;
  const int half = c.call("PUT /s/k HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc");
  const int silent = c.open();
  c.pass(HorovodStore::kRequestStall);
  CHECK(c.heard[half] == answer("408 Request Timeout"));
  CHECK(c.faults[half] == "its request makes no progress");
  CHECK_FALSE(c.faults.contains(silent));
  c.pass(Engine::kStall);
  CHECK(c.faults[silent] == "it stands still");
  const int broken = c.call("PUT /s/k HTTP/1.1\r\n");
  CHECK(c.store.closed(ClientId(static_cast<std::uint32_t>(broken))) == "it ended in the middle of a request");
  CHECK(c.store.memory() == 0);
}

TEST_CASE("horovod store: workers that were stopped are not blamed") {
  Callers c;
  const int half = c.call("PUT /s/k HTTP/1.1\r\n");
  c.now += 1h;
  c.store.restart_clocks(c.now);
  c.pass(1s);
  CHECK(c.heard[half].empty());
}

TEST_CASE("horovod store: a request that is fed bit by bit has its time") {
  Callers c;
  const int caller = c.open();
  const std::string bytes = request("PUT", "/global/0", std::string(1000, 'v'));
  int seconds = 0;
  for (; seconds < 100 && c.heard[caller].empty(); ++seconds) {
    c.say(caller, bytes.substr(static_cast<std::size_t>(seconds), 1));
    c.pass(1s);
  }
  CHECK(seconds == 60);
  CHECK(c.faults[caller] == "its request makes no progress");
}

TEST_CASE("horovod store: answers that nobody takes are counted") {
  HorovodStore store({.memory = 10'000, .value = 5'000});
  auto ask = [&, next = 0U](const std::string& bytes) mutable {
    store.opened(ClientId(next), TimePoint{1h});
    store.received(ClientId(next++), bytes, TimePoint{1h});
    return store.take_effects().back();
  };
  CHECK(ask(request("PUT", "/global/rank_0", std::string(3'000, 'v'))).bytes == kOk);
  std::vector<Effect> answers;
  for (int i = 0; i < 4; ++i) answers.push_back(ask(request("GET", "/global/rank_0")));
  CHECK(answers[1].fault.empty());
  CHECK(answers[3].fault == "the store is full");
  for (const Effect& answer : answers) store.sent(answer.client, answer.bytes.size(), TimePoint{1h});
  CHECK(ask(request("GET", "/global/rank_0")).fault.empty());
}

// ---- elastic jobs

namespace {

class Heard final : public ElasticWorkers {
 public:
  void registered(std::string_view slot, std::string_view body) override {
    words += "registered " + std::string(slot) + " by " + std::string(body) + "; ";
  }
  void wants_numbers(std::string_view slot) override { words += "wants " + std::string(slot) + "; "; }
  std::string words;
};

}  // namespace

TEST_CASE("horovod store: a worker of an elastic job waits for its numbers until it gets them") {
  Callers callers;
  Heard heard;
  callers.store.set_elastic_workers(heard);
  CHECK(callers.ask(request("PUT", "/worker_addresses/a:0", "gASV")) == kOk);
  const int first = callers.call(request("GET", "/rank_and_size/a:0"));
  const int other = callers.call(request("GET", "/rank_and_size/b:1"));
  CHECK(heard.words == "registered a:0 by gASV; wants a:0; wants b:1; ");
  CHECK(callers.store.deadline() == std::nullopt);
  callers.pass(10h);
  callers.store.restart_clocks(callers.now);
  callers.pass(10h);
  CHECK(callers.heard[first].empty());
  callers.store.number("a:0", "0,1,0,1,0,1");
  callers.store.number("c:0", "1,1,1,1,1,1");  // nobody waits
  callers.settle();
  CHECK(callers.heard[first] == answer("200 OK", "0,1,0,1,0,1"));
  CHECK(callers.heard[other].empty());
  CHECK(callers.store.closed(ClientId(static_cast<std::uint32_t>(other))).empty());
  callers.store.number("b:1", "-1");
  callers.settle();
  CHECK(callers.heard[other].empty());
}

TEST_CASE("horovod store: a round begins with an empty store") {
  Callers callers;
  Heard heard;
  callers.store.set_elastic_workers(heard);
  callers.ask(request("PUT", "/worker_addresses/a:0", "gASV"));
  const std::size_t before = callers.store.memory();
  callers.ask(request("PUT", "/global/rank_0", "host"));
  callers.ask(request("PUT", "/global/0", "old"));
  callers.store.forget();
  CHECK(callers.store.memory() == before);
  CHECK(callers.ask(request("GET", "/global/rank_0")) == kMissing);
  CHECK(callers.ask(request("GET", "/worker_addresses/a:0")) == answer("200 OK", "gASV"));
}

TEST_CASE("horovod store: in a job that is not elastic nobody waits for numbers") {
  Callers callers;
  CHECK(callers.ask(request("PUT", "/worker_addresses/a:0", "gASV")) == kOk);
  CHECK(callers.ask(request("GET", "/rank_and_size/a:0")) == kMissing);
}

#include "launcher/transport/session/resumable_link.h"

#include <chrono>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "common/wire/codec.h"
#include "tests/support/catch.h"
#include "tests/support/fake_transport.h"

using namespace sml;
using namespace sml::transport;
using namespace std::string_literals;

namespace {

// A link whose frames have begun, and the transports that it asked for.
struct Stage final : TransportEvents {
  explicit Stage(std::uint32_t heartbeat_timeout_ms = 30'000) {
    far = std::make_shared<fake::TransportLog>();
    link = std::make_unique<ResumableLink>(loop.get_executor(), image, *this,
                                           std::make_unique<fake::ScriptedTransport>(far),
                                           [this](const std::string& word) {
                                             mark = word;
                                             ++made;
                                             helper = std::make_shared<fake::TransportLog>();
                                             return std::make_unique<fake::ScriptedTransport>(helper);
                                           });
    link->start();
    wire::Hello hello;
    hello.heartbeat_timeout_ms = heartbeat_timeout_ms;
    hello.hold_ms = 1000;
    const wire::Hello told = link->greet(hello);
    secret = told.return_secret;
    hold_ms = told.hold_ms;
    guardian_hold_ms = told.guardian_hold_ms;
    wire::HelloAck ack;
    ack.pid = 17;
    ack.reconnect_socket = "door";
    link->agree(ack);
  }
  void transport_step(std::string_view) override {}
  void transport_is_local() override {}
  void transport_open(std::string_view, std::string_view) override {}
  void transport_bytes(std::span<const char> bytes) override { came.append(bytes.data(), bytes.size()); }
  void transport_closed(const Error& why) override { end = why; }

  void settle() {
    loop.restart();
    loop.poll();
  }
  void breaks() { far->events->transport_closed(Error(ErrorKind::Lost, "reset")); }
  void say(const std::string& bytes) const { helper->events->transport_bytes(bytes); }
  wire::ReconnectRequest asked() const {
    wire::Decoder<wire::ToAgent> decoder;
    const std::string sent = helper->all_sent();
    decoder.feed(sent);
    return std::get<wire::ReconnectRequest>(**decoder.next());
  }

  boost::asio::io_context loop;
  AgentImage image = AgentImage::embedded();
  std::shared_ptr<fake::TransportLog> far;
  std::shared_ptr<fake::TransportLog> helper;
  std::string mark;
  std::string secret;
  std::uint32_t hold_ms = 0;
  std::uint32_t guardian_hold_ms = 0;
  int made = 0;
  std::string came;
  std::optional<Error> end;
  std::unique_ptr<ResumableLink> link;
};

}  // namespace

TEST_CASE("a connection that breaks goes on where it was") {
  Stage stage;
  stage.link->send("to the agent");
  stage.far->events->transport_bytes("from it"s);
  stage.breaks();
  CHECK_FALSE(stage.end);
  REQUIRE(stage.made == 1);
  stage.link->send(", and more");
  stage.say("noise\n" + wire::agent_line(stage.mark));
  const wire::ReconnectRequest asked = stage.asked();
  CHECK(asked.reconnect_socket == "door");
  CHECK(asked.pid == 17);
  CHECK_FALSE(asked.secret.empty());
  CHECK(asked.secret == stage.secret);
  CHECK(asked.mark == stage.mark);
  CHECK(asked.received == 7);
  stage.helper->sent.clear();
  stage.say(wire::goes_on_line(stage.mark, 3) + ", and");
  CHECK(stage.helper->all_sent() == "the agent, and more");
  stage.say(" on");
  CHECK(stage.came == "from it, and on");
  stage.settle();
  CHECK(stage.far->destroyed);
  CHECK_FALSE(stage.end);
}

TEST_CASE("an agent waits for another log-in as long as it is asked to, and for its guardian's as for what is silent") {
  CHECK(Stage().hold_ms == 1000);
  CHECK(Stage(7000).guardian_hold_ms == 7000);
}

TEST_CASE("one that is only silent is kept until another has come") {
  Stage stage;
  stage.far->events->transport_bytes("abc"s);
  stage.link->doubt();
  stage.link->doubt();
  REQUIRE(stage.made == 1);
  SECTION("it speaks again before anybody was asked") {
    stage.far->events->transport_bytes("def"s);
    CHECK(stage.helper->destroyed);
    CHECK(stage.came == "abcdef");
  }
  SECTION("what comes meanwhile is not taken twice") {
    stage.say(wire::agent_line(stage.mark));
    CHECK(stage.asked().received == 3);
    stage.far->events->transport_bytes("def"s);
    stage.say(wire::goes_on_line(stage.mark, 0) + "de");
    stage.say("fghi");
    CHECK(stage.came == "abcdefghi");
  }
  SECTION("a helper that fails changes nothing") {
    stage.say(wire::agent_line(stage.mark) + wire::cannot_return_line(stage.mark, "gone"));
    stage.far->events->transport_bytes("def"s);
    CHECK(stage.came == "abcdef");
    CHECK_FALSE(stage.end);
  }
}

TEST_CASE("whose agent has gone is lost, with the first cause") {
  Stage stage;
  stage.breaks();
  stage.say(wire::agent_line(stage.mark) + wire::cannot_return_line(stage.mark, "its agent has gone"));
  REQUIRE(stage.end);
  CHECK(stage.end->message() == "reset");
  CHECK(stage.link->far_side_ended());
}

TEST_CASE("an agent goes on when only what it was started by has been killed") {
  const bool is_reached = GENERATE(true, false);
  Stage stage(is_reached ? 3'600'000 : 100);
  stage.far->ended = stage.far->killed = true;
  stage.breaks();
  CHECK_FALSE(stage.end);
  REQUIRE(stage.made == 1);
  stage.loop.restart();
  if (is_reached) {
    // By then a connection that breaks otherwise is given up. This log-in takes longer.
    stage.loop.run_for(std::chrono::milliseconds(stage.hold_ms + 600));
    REQUIRE_FALSE(stage.end);
    stage.say(wire::agent_line(stage.mark) + wire::goes_on_line(stage.mark, 0) + "on");
    CHECK(stage.came == "on");
  } else {
    stage.loop.run();
    CHECK(stage.end);
  }
  CHECK_FALSE(stage.link->far_side_ended());  // nobody has said so
}

TEST_CASE("whose guardian has been killed is lost when the agent is not found") {
  Stage stage;
  stage.far->ended = stage.far->killed = true;
  stage.breaks();
  stage.say(wire::agent_line(stage.mark) + wire::cannot_return_line(stage.mark, "its agent has gone"));
  CHECK(stage.end);
  CHECK(stage.link->far_side_ended());
}

TEST_CASE("an agent that has ended by itself is not looked for") {
  Stage stage;
  stage.far->ended = true;
  stage.breaks();
  CHECK(stage.made == 0);
  CHECK(stage.end);
}

TEST_CASE("a host that came back with what cannot be is lost") {
  Stage stage;
  stage.link->send("abc");
  stage.breaks();
  SECTION("it has what was not sent") { stage.say(wire::agent_line(stage.mark) + wire::goes_on_line(stage.mark, 4)); }
  SECTION("nobody has asked it") { stage.say(wire::goes_on_line(stage.mark, 3)); }
  REQUIRE(stage.end);
  CHECK(stage.end->kind() == ErrorKind::Protocol);
}

TEST_CASE("who has said the last word is not called again") {
  Stage stage;
  CHECK(stage.link->say_goodbye() == wire::encode(wire::ToAgent(wire::Received{0})));
  stage.breaks();
  CHECK(stage.made == 0);
  CHECK(stage.end);
}

#include "launcher/agent/machines/rank_messages.h"

#include <chrono>

#include "common/core/pickle.h"
#include "tests/support/catch.h"
#include "tests/support/nvrx_messages.h"

using namespace sml;
using namespace sml::agent;
using namespace std::chrono_literals;

namespace {

template <class Message>
Message read_as(const std::string& bytes) {
  const Result<RankMessage> message = read_rank_message(bytes);
  INFO((message ? std::string("read") : message.error().message()));
  REQUIRE(message.has_value());
  REQUIRE(std::holds_alternative<Message>(*message));
  return std::get<Message>(*message);
}

std::string fault_of(const std::string& bytes) {
  const Result<RankMessage> message = read_rank_message(bytes);
  return message ? "" : message.error().message();
}

std::string edited(std::string bytes, const std::string& from, const std::string& to) {
  const std::size_t at = bytes.find(from);
  REQUIRE(at != bytes.npos);
  return bytes.replace(at, from.size(), to);
}

const std::string kNonsense = "\x80\x04";
std::string pickled(const std::string& body) { return kNonsense + body + "."; }
const std::string kDataModule = "nvidia_resiliency_ext.fault_tolerance.data";

}  // namespace

TEST_CASE("rank messages: what a real client of NVRx writes is understood") {
  read_as<Greeting>(nvrx::kAuthkey);
  read_as<Begin>(nvrx::kInit);
  read_as<Heartbeat>(nvrx::kHeartbeat);
  CHECK(read_as<SectionChange>(nvrx::kOpen).kind == SectionChange::Kind::Open);
  CHECK(read_as<SectionChange>(nvrx::kOpen).name == "step");
  CHECK(read_as<SectionChange>(nvrx::kOpenByValue).kind == SectionChange::Kind::Open);
  CHECK(read_as<SectionChange>(nvrx::kClose).kind == SectionChange::Kind::Close);
  CHECK(read_as<SectionChange>(nvrx::kClose).name == "step");
  CHECK(read_as<SectionChange>(nvrx::kCloseAll).kind == SectionChange::Kind::CloseAll);

  const auto heartbeats = read_as<NewLimits>(nvrx::kHeartbeatLimits);
  REQUIRE(heartbeats.heartbeats);
  CHECK_FALSE(heartbeats.sections);
  CHECK(heartbeats.heartbeats->first == 12500ms);
  CHECK(heartbeats.heartbeats->next == 2250ms);

  const auto sections = read_as<NewLimits>(nvrx::kSectionLimits);
  REQUIRE(sections.sections);
  CHECK_FALSE(sections.heartbeats);
  CHECK(sections.sections->outside == 7500ms);
  CHECK(sections.sections->named == std::vector<plan::SectionLimit>{{"step", 5000}, {"setup", 0}, {"save", 90'000}});
}

TEST_CASE("rank messages: any cut or change of a byte is read or refused") {
  for (const std::string& whole : {nvrx::kInit, nvrx::kOpen, nvrx::kSectionLimits}) {
    for (std::size_t size = 0; size < whole.size(); ++size) CHECK(read_rank_message(whole.substr(0, size)).has_error());
    for (std::size_t i = 0; i < whole.size(); ++i) {
      for (const int flip : {1, 0x80, 0xFF}) {
        std::string bytes = whole;
        bytes[i] = static_cast<char>(static_cast<unsigned char>(bytes[i]) ^ flip);
        static_cast<void>(read_rank_message(bytes));
      }
    }
  }
}

TEST_CASE("rank messages: nothing is called, imported or made but what messages have") {
  const std::string named = "it names a class that no message has";
  CHECK(fault_of("cos\nsystem\n(X\x04\x00\x00\x00"
                 "true"
                 "tR.") == named);
  CHECK(fault_of(pickled("\x8c\x08"
                         "builtins"
                         "\x8c\x04"
                         "eval"
                         "\x93"
                         "\x8c\x03"
                         "1+1"
                         "\x85R")) == named);
  CHECK(fault_of(pickled("c" + kDataModule + "\nOkMsg\n)\x81")) == named);
  const std::string no_message = "it is no message";
  CHECK(fault_of(pickled("c" + kDataModule + "\nRankInfo\n)\x81")) == no_message);
  CHECK(fault_of(pickled("K\x05")) == no_message);
  CHECK(fault_of(pickled("c" + kDataModule + "\nInitMsg\n")) == no_message);  // the class itself
  for (const char operation : std::string("ioPQ\x82\x84\x92\x97\x98"
                                          "FIS")) {
    CHECK(fault_of(pickled(std::string(1, operation))) == "it has an operation that no message needs");
  }
  CHECK(fault_of("\x80\x06N.") == "it is of a later Python");
}

TEST_CASE("rank messages: what would grow without end is refused") {
  CHECK(fault_of(std::string(Pickle::kMaxSize + 1, 'N')) == "it is too long");
  const std::string many = "it has too many values";
  CHECK(fault_of(pickled(std::string(Pickle::kMaxValues + 2, 'N'))) == many);
  CHECK(fault_of(pickled(std::string(Pickle::kMaxValues + 2, '('))) == many);
  CHECK(fault_of(pickled("Nr\xff\xff\xff\x7f")) == many);
  // Each list holds the one before twice, and then an object is made of its items, again and again.
  std::string doubled = "]q" + std::string(1, '\0') + "N";
  for (int i = 0; i < 5000; ++i) doubled += "0h" + std::string(1, '\0') + "N" + "a" + "N";
  static_cast<void>(fault_of(pickled(doubled)));
  std::string copies = "c" + kDataModule + "\nInitMsg\nq" + std::string(1, '\1') + "(" + std::string(4000, 'N') + "tq" +
                       std::string(1, '\2');
  for (int i = 0; i < 2000; ++i) copies += "0h" + std::string(1, '\1') + "h" + std::string(1, '\2') + "\x81";
  CHECK(fault_of(pickled(copies)) == many);
}

TEST_CASE("rank messages: a stack that does not hold what is taken") {
  const std::string missing = "it takes what is not there";
  for (const std::string body : {"0", "a", "b", "R", "(0", "t", "u", "e", "q\x01", "\x85", "\x94", "\x93"}) {
    INFO(body);
    const std::string fault = fault_of(pickled(body));
    CHECK((fault == missing || fault == "it adds to what cannot be added to"));
  }
  CHECK(fault_of(pickled("h\x05")) == "it recalls what it has not kept");
  CHECK(fault_of(pickled("NN")) == "it ends with other than one value");
  CHECK(fault_of(pickled("(")) == "it ends with other than one value");
  CHECK(fault_of(pickled("}(Nu")) == "it has a key without a value");
  CHECK(fault_of(pickled("NNb")) == "it gives attributes to what is no object");
  CHECK(fault_of(pickled("NNR")) == "it makes something of what is no class");
  CHECK(fault_of("") == "it ends early");
}

TEST_CASE("rank messages: limits that a script sets have bounds") {
  const auto with_first = [](const std::string& number) {
    return edited(nvrx::kHeartbeatLimits, std::string("G\x40\x29\x00\x00\x00\x00\x00\x00", 9), number);
  };
  const std::string out_of_bounds = "it has a time limit that is not between 0 and a year";
  CHECK(fault_of(with_first("K" + std::string(1, '\0'))) == out_of_bounds);
  CHECK(fault_of(with_first("J\xff\xff\xff\xff")) == out_of_bounds);
  CHECK(fault_of(with_first("J\xff\xff\xff\x7f")) == out_of_bounds);
  CHECK(fault_of(with_first(std::string("G\x7f\xf8\x00\x00\x00\x00\x00\x00", 9))) == out_of_bounds);  // NaN
  CHECK(fault_of(with_first(std::string("G\x7f\xf0\x00\x00\x00\x00\x00\x00", 9))) == out_of_bounds);  // infinity
  CHECK(fault_of(with_first("\x88")) == "it has a time limit that is no number");
  CHECK(read_as<NewLimits>(with_first("N")).heartbeats->first == Duration::zero());
  CHECK(read_as<NewLimits>(with_first("K\x07")).heartbeats->first == 7s);
  // A moment is a millisecond, not no limit.
  CHECK(read_as<NewLimits>(with_first(std::string("G\x3e\x00\x00\x00\x00\x00\x00\x00", 9))).heartbeats->first == 1ms);
  CHECK(fault_of(edited(nvrx::kOpen, "\x8c\x04step", "N")) == "it has a section whose name is none");
}

TEST_CASE("rank messages: answers have their length, and only what a client's class has") {
  const std::string ok = ok_answer();
  CHECK(ok.substr(0, 4) == std::string("\0\0\0\x37", 4));
  CHECK(ok.substr(4) ==
        "\x80\x04"
        "c" +
            kDataModule + "\nOkMsg\n)\x81.");
  const std::string error = error_answer("it is open already");
  CHECK(error.find("\nErrorMsg\n)\x81}(X") != error.npos);
  CHECK(error.ends_with("it is open alreadyub."));
  const std::string with_limits =
      ok_answer({.first_ms = 0, .heartbeat_ms = 1500, .outside_ms = 0, .sections = {{"step", 5000}, {"setup", 0}}});
  CHECK(with_limits.find("initial_rank_heartbeat_timeoutN") != with_limits.npos);
  CHECK(with_limits.find(std::string("rank_heartbeat_timeoutG\x3f\xf8\0\0\0\0\0\0", 31)) != with_limits.npos);
  CHECK(with_limits.find("skip_section_response\x89") != with_limits.npos);
}

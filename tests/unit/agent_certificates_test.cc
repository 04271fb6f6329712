#include "launcher/transport/ssh/certificates/agent_certificates.h"

#include <algorithm>
#include <array>

#include <sys/socket.h>
#include <unistd.h>

#include "common/os/fd.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::ssh;

namespace {

std::string number(std::size_t value) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xff);
  return out;
}

std::string text(const std::string& bytes) { return number(bytes.size()) + bytes; }

std::string key(const std::string& parts) { return text("ssh-ed25519") + text(parts); }
std::string certificate(const std::string& parts) {
  return text("ssh-ed25519-cert-v01@openssh.com") + text("nonce") + text(parts) + text("and more");
}

std::string keys(std::initializer_list<std::string> blobs) {
  std::string out = "\x0c" + number(blobs.size());
  for (const std::string& blob : blobs) out += text(blob) + text("a comment");
  return out;
}

std::string request(const std::string& blob) { return "\x0d" + text(blob) + text("to be signed") + number(4); }

}  // namespace

TEST_CASE("a key of the ssh agent has its certificates before it", "[ssh]") {
  AgentCertificates agent({certificate("one"), certificate("three")});
  CHECK(agent.extended(keys({key("zero"), key("one")})) == keys({key("zero"), certificate("one"), key("one")}));
  CHECK(agent.has_key_of(certificate("one")));
  CHECK_FALSE(agent.has_key_of(certificate("three")));
  CHECK(agent.extended(keys({certificate("one"), key("one")})) == keys({certificate("one"), key("one")}));
  for (const std::string& other :
       {std::string("\x05"), std::string("\x0e"), std::string(), "\x0c" + number(1) + text("key")}) {
    CHECK(agent.extended(other) == other);
  }
}

TEST_CASE("the ssh agent signs for a certificate with its key", "[ssh]") {
  AgentCertificates agent({certificate("one")});
  CHECK(agent.for_agent(request(certificate("one"))) == request(certificate("one")));  // nothing is known yet
  CHECK_FALSE(agent.extended(keys({key("one")})).empty());
  CHECK(agent.for_agent(request(certificate("one"))) == request(key("one")));
  CHECK(agent.for_agent(request(key("two"))) == request(key("two")));
  CHECK(agent.for_agent("\x0b") == "\x0b");
}

TEST_CASE("what stands for the ssh agent passes on what both say", "[ssh]") {
  auto ends = os::make_socketpair();
  REQUIRE(ends.has_value());
  const auto ask = [](int fd, const std::string& message) { return os::write_all(fd, text(message)); };
  const auto hear = [](int fd, std::size_t size) {
    std::string out(size + 4, '\0');
    out.resize(static_cast<std::size_t>(std::max<ssize_t>(::recv(fd, out.data(), out.size(), MSG_WAITALL), 0)));
    return out;
  };
  CertifiedAgent agent((*ends)[0].get(), {certificate("one")});
  REQUIRE(ask(agent.fd(), "\x0b"));
  CHECK(hear((*ends)[1].get(), 1) == text("\x0b"));
  REQUIRE(ask((*ends)[1].get(), keys({key("one")})));
  const std::string both = keys({certificate("one"), key("one")});
  CHECK(hear(agent.fd(), both.size()) == text(both));
  REQUIRE(ask(agent.fd(), request(certificate("one"))));
  CHECK(hear((*ends)[1].get(), request(key("one")).size()) == text(request(key("one"))));
  agent.end();
  CHECK(agent.certificates().has_key_of(certificate("one")));
  CHECK(hear(agent.fd(), 1).empty());
}

TEST_CASE("without a certificate the ssh agent is asked itself", "[ssh]") { CHECK(CertifiedAgent(7, {}).fd() == 7); }

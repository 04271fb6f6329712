#include "launcher/attempt/dynamic/elastic_notice.h"

#include <string>

#include "tests/support/catch.h"

using namespace sml;
using attempt::is_heard;
using attempt::notice;
using attempt::NotificationEndpoint;
using attempt::read_registration;

namespace {

// What Horovod 0.28.1 puts: ({"lo": [("127.0.0.1", 40123)]}, 32 bytes of secret).
constexpr std::string_view kRegistration =
    "gASVQgAAAAAAAAB9lIwCbG+UXZSMCTEyNy4wLjAuMZRNu5yGlGFzQyAAAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eH5SGlC4=";

std::string reason(std::string_view text) {
  const Result<NotificationEndpoint> endpoint = read_registration(text);
  return endpoint ? "" : endpoint.error().message();
}

std::string hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    out += kDigits[static_cast<unsigned char>(c) >> 4];
    out += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

NotificationEndpoint endpoint() { return *read_registration(kRegistration); }

}  // namespace

TEST_CASE("elastic notice: where a worker listens") {
  CHECK(endpoint().port == 40123);
  CHECK(endpoint().secret.size() == 32);
  CHECK(endpoint().secret[31] == '\x1f');
}

TEST_CASE("elastic notice: registrations that are none") {
  CHECK(reason("") == "it is not base64");
  CHECK(reason("gAS") == "it is not base64");
  CHECK(reason("????") == "it is not base64");
  CHECK(reason("====") == "it is not base64");
  CHECK(reason("A===") == "it is not base64");
  CHECK(reason("gAJ=LAS4") == "it is not base64");
  CHECK(reason(" AJLAS4=") == "it is not base64");
  CHECK(reason("gAJLAS4=\n\n\n\n") == "it is not base64");
  CHECK(reason("gAJLAS4=") == "it is not a pair of addresses and a secret");             // 1
  CHECK(reason("gAJdXYYu") == "its addresses are not in a dict");                        // [], []
  CHECK(reason("gAJ9XYYu") == "its secret is not a few bytes");                          // {}, []
  CHECK(reason("gAN9QwFzhi4=") == "it has no address with a port");                      // {}, b"s"
  CHECK(reason("gAJjb3MKc3lzdGVtClgCAAAAaWSFUi4=").find("class") != std::string::npos);  // os.system
}

TEST_CASE("elastic notice: what a worker is told, as Python reads it") {
  // hmac.new(bytes(range(32)), body, "sha256"), and body = pickle.dumps(HostsUpdatedRequest(1700000000, 3), 2)
  const std::string told = notice(endpoint(), 1'700'000'000);
  CHECK(hex(told.substr(32)) ==
        "5e000000800263686f726f766f642e72756e6e65722e656c61737469632e776f726b65720a486f73747355706461746564526571756573"
        "740a29817d28580900000074696d657374616d708a0800f153650000000058030000007265734b0375622e");
  CHECK(hex(told.substr(0, 32)) == "04e1acbbc8e914ab84c6b7846ab6c8a489236ab891b3091c53f04e6394b9d342");
}

TEST_CASE("elastic notice: whether it has heard") {
  const std::string body =
      "\x80\x02"
      "chorovod.runner.common.util.network\nAckResponse\n)\x81.";
  const std::string digest = "b7bf5ae3861b7eac9191c2426e8229b12349e7b979f5fb6cf1e6abea27cba480";
  std::string answer;
  for (std::size_t i = 0; i < digest.size(); i += 2)
    answer += static_cast<char>(std::stoi(digest.substr(i, 2), nullptr, 16));
  answer += std::string{static_cast<char>(body.size()), 0, 0, 0} + body;
  CHECK(is_heard(endpoint(), answer));
  CHECK_FALSE(is_heard(endpoint(), answer.substr(0, answer.size() - 1)));
  CHECK_FALSE(is_heard(endpoint(), answer + "x"));
  CHECK_FALSE(is_heard(endpoint(), ""));
  CHECK_FALSE(is_heard(NotificationEndpoint{1, "another"}, answer));
  CHECK_FALSE(is_heard(endpoint(), notice(endpoint(), 1)));  // is the worker's own word, but no answer
}

#include "launcher/attempt/dynamic/elastic_notice.h"

#include <algorithm>
#include <array>
#include <vector>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "common/core/pickle.h"

namespace sml::attempt {

namespace {

constexpr std::size_t kDigest = 32;
constexpr std::size_t kLength = 4;
constexpr std::size_t kMostSecret = 256;  // bytes; Horovod's secret has 32

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

// OpenSSL's decoder skips blanks and accepts padding anywhere, so it may write fewer bytes than the buffer holds.
Result<std::string> from_base64(std::string_view text) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::size_t digits = std::min(text.find_first_not_of(kAlphabet), text.size());
  const std::size_t padding = text.size() - digits;
  const bool is_whole = digits > 0 && text.size() % 4 == 0 && text.size() <= Pickle::kMaxSize;
  if (!is_whole || padding > 2 || text.substr(digits) != std::string_view("==").substr(0, padding)) {
    return Error(ErrorKind::Protocol, "it is not base64");
  }
  std::string out(text.size() / 4 * 3, '\0');
  auto* to = reinterpret_cast<unsigned char*>(out.data());
  if (::EVP_DecodeBlock(to, bytes_of(text), static_cast<int>(text.size())) < 0) {
    return Error(ErrorKind::Protocol, "it is not base64");
  }
  out.resize(out.size() - padding);
  return out;
}

// The port of the first address of any interface: a worker listens on all of them at one port.
std::uint16_t port_in(const Pickle& pickle, const Pickle::Value& interfaces) {
  for (std::size_t i = 1; i < interfaces.items.size(); i += 2) {
    for (const Pickle::Place place : pickle.at(interfaces.items[i]).items) {
      const Pickle::Value& address = pickle.at(place);
      if (address.items.size() != 2) continue;
      const Pickle::Value& port = pickle.at(address.items[1]);
      const bool is_port = port.kind == Pickle::Kind::Int && port.number > 0 && port.number <= 65535;
      if (is_port) return static_cast<std::uint16_t>(port.number);
    }
  }
  return 0;
}

std::string digest(const NotificationEndpoint& endpoint, std::string_view body) {
  std::array<unsigned char, kDigest> out{};
  ::HMAC(::EVP_sha256(), endpoint.secret.data(), static_cast<int>(endpoint.secret.size()), bytes_of(body), body.size(),
         out.data(), nullptr);
  return {out.begin(), out.end()};
}

std::string little(std::uint64_t number, std::size_t bytes) {
  std::string out;
  for (std::size_t i = 0; i < bytes; ++i) out += static_cast<char>(number >> (8 * i));
  return out;
}

std::string pickled_text(std::string_view text) { return "X" + little(text.size(), 4) + std::string(text); }

}  // namespace

Result<NotificationEndpoint> read_registration(std::string_view text) {
  const Result<std::string> bytes = from_base64(text);
  if (!bytes) return bytes.error();
  const Result<Pickle> pickle = Pickle::read(*bytes, {});
  if (!pickle) return pickle.error();
  const Pickle::Value& root = pickle->root();
  if (root.kind != Pickle::Kind::List || root.items.size() != 2) {
    return Error(ErrorKind::Protocol, "it is not a pair of addresses and a secret");
  }
  const Pickle::Value& interfaces = pickle->at(root.items[0]);
  const Pickle::Value& secret = pickle->at(root.items[1]);
  if (interfaces.kind != Pickle::Kind::Dict) return Error(ErrorKind::Protocol, "its addresses are not in a dict");
  if (secret.kind != Pickle::Kind::Bytes || secret.text.empty() || secret.text.size() > kMostSecret) {
    return Error(ErrorKind::Protocol, "its secret is not a few bytes");
  }
  const std::uint16_t port = port_in(*pickle, interfaces);
  if (port == 0) return Error(ErrorKind::Protocol, "it has no address with a port");
  return NotificationEndpoint{port, std::string(secret.text)};
}

// An object of Horovod's request class, in pickle protocol 2, which every Python reads; a plain number stands for its
// enum.
std::string notice(const NotificationEndpoint& endpoint, std::int64_t timestamp) {
  constexpr char kRemovedAndAdded = 3;  // of HostUpdateResult, horovod/runner/elastic/worker.py
  const std::string attributes = pickled_text("timestamp") + "\x8a\x08" +
                                 little(static_cast<std::uint64_t>(timestamp), 8) + pickled_text("res") + "K" +
                                 kRemovedAndAdded;
  const std::string body =
      "\x80\x02"
      "chorovod.runner.elastic.worker\nHostsUpdatedRequest\n)\x81}(" +
      attributes + "ub.";
  return digest(endpoint, body) + little(body.size(), kLength) + body;
}

bool is_heard(const NotificationEndpoint& endpoint, std::string_view answer) {
  if (answer.size() <= kDigest + kLength) return false;
  const std::string_view body = answer.substr(kDigest + kLength);
  const bool is_whole = answer.substr(kDigest, kLength) == little(body.size(), kLength);
  const std::string own = digest(endpoint, body);
  return is_whole && ::CRYPTO_memcmp(own.data(), answer.data(), kDigest) == 0 && body.find("AckResponse") != body.npos;
}

}  // namespace sml::attempt

#include "launcher/transport/ssh/host_keys/hashed_name.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>

#include <openssl/evp.h>

namespace sml::ssh {
namespace {

constexpr std::size_t kDigest = 20;
constexpr std::size_t kEncoded = 28;  // size of a digest, and of the salt, in base64
constexpr std::size_t kBlock = 64;

using Digest = std::array<std::uint8_t, kDigest>;

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

std::optional<Digest> decoded(std::string_view text) {
  std::array<std::uint8_t, kEncoded / 4 * 3> bytes{};
  if (text.size() != kEncoded || text.find('=') != kEncoded - 1) return std::nullopt;
  const auto* begin = reinterpret_cast<const std::uint8_t*>(text.data());
  if (EVP_DecodeBlock(bytes.data(), begin, kEncoded) != static_cast<int>(bytes.size())) return std::nullopt;
  Digest digest{};
  std::copy_n(bytes.begin(), kDigest, digest.begin());
  return digest;
}

Digest sha1(EVP_MD_CTX* context, std::span<const std::uint8_t> begin, std::span<const std::uint8_t> rest) {
  static const EVP_MD* const kind = EVP_MD_fetch(nullptr, "SHA1", nullptr);  // fetched once, since that is slow
  Digest digest{};
  if (kind == nullptr || EVP_DigestInit_ex(context, kind, nullptr) != 1 ||
      EVP_DigestUpdate(context, begin.data(), begin.size()) != 1 ||
      EVP_DigestUpdate(context, rest.data(), rest.size()) != 1 ||
      EVP_DigestFinal_ex(context, digest.data(), nullptr) != 1) {
    throw std::runtime_error("OpenSSL computes no SHA-1, which hashed names in known_hosts need");
  }
  return digest;
}

// Own HMAC: OpenSSL's takes ten times as long for each new key, and each line has its own.
Digest hmac(const Digest& key, std::string_view text) {
  static thread_local const std::unique_ptr<EVP_MD_CTX, FreeContext> context(EVP_MD_CTX_new());
  std::array<std::uint8_t, kBlock> inner{}, outer{};
  inner.fill(0x36);
  outer.fill(0x5c);
  for (std::size_t i = 0; i < key.size(); ++i) {
    inner[i] ^= key[i];
    outer[i] ^= key[i];
  }
  const Digest first = sha1(context.get(), inner, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  return sha1(context.get(), outer, first);
}

}  // namespace

bool hashed_name_matches(const std::string& name, const std::string& field) {
  constexpr std::string_view kMagic = "|1|";
  std::string_view rest = field;
  if (!rest.starts_with(kMagic)) return false;
  rest.remove_prefix(kMagic.size());
  const auto bar = rest.find('|');
  if (bar == std::string_view::npos) return false;
  const auto salt = decoded(rest.substr(0, bar));
  const auto hash = decoded(rest.substr(bar + 1));
  return salt && hash && hmac(*salt, name) == *hash;
}

}  // namespace sml::ssh

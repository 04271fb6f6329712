#include "launcher/dialin/key.h"

#include <fmt/format.h>

#include <array>
#include <memory>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>

namespace sml::dialin {

Result<Key> derive_key(std::string_view secret, std::string_view purpose) {
  const std::unique_ptr<EVP_KDF, decltype(&::EVP_KDF_free)> kdf(::EVP_KDF_fetch(nullptr, "HKDF", nullptr),
                                                                &::EVP_KDF_free);
  const std::unique_ptr<EVP_KDF_CTX, decltype(&::EVP_KDF_CTX_free)> context(
      kdf ? ::EVP_KDF_CTX_new(kdf.get()) : nullptr, &::EVP_KDF_CTX_free);
  std::string hash = "SHA256";
  std::string input(secret);
  std::string info(purpose);
  const std::array<OSSL_PARAM, 4> parameters{
      ::OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, hash.data(), hash.size()),
      ::OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, input.data(), input.size()),
      ::OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info.data(), info.size()), ::OSSL_PARAM_construct_end()};
  Key key{};
  if (!context || ::EVP_KDF_derive(context.get(), key.data(), key.size(), parameters.data()) <= 0) {
    return Error(ErrorKind::Internal, "the crypto library derives no key");
  }
  return key;
}

Result<Key> derive_slowly(std::string_view facts, std::string_view purpose) {
  constexpr std::uint64_t kCost = 1 << 16;
  constexpr std::uint64_t kBlock = 8;
  constexpr std::uint64_t kMemory = std::uint64_t{128} << 20;  // more than scrypt needs
  Key key{};
  const auto* salt = reinterpret_cast<const unsigned char*>(purpose.data());
  if (::EVP_PBE_scrypt(facts.data(), facts.size(), salt, purpose.size(), kCost, kBlock, 1, kMemory, key.data(),
                       key.size()) != 1) {
    return Error(ErrorKind::Internal, "the crypto library derives no key");
  }
  return key;
}

Result<Key> random_key() {
  Key key{};
  if (::RAND_bytes(key.data(), static_cast<int>(key.size())) != 1) {
    return Error(ErrorKind::Internal, "the crypto library has no random bytes");
  }
  return key;
}

std::string digest(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned size = 0;
  ::EVP_Digest(text.data(), text.size(), bytes.data(), &size, ::EVP_sha256(), nullptr);
  std::string out;
  for (unsigned i = 0; i < size; ++i) out += fmt::format("{:02x}", bytes[i]);
  return out;
}

}  // namespace sml::dialin

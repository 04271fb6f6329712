#include "launcher/transport/ssh/certificates/certificate.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace sml::ssh {
namespace {

// Empty: it is none.
std::string from_base64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text.substr(0, text.find('='))) {
    const auto digit = kDigits.find(c);
    if (digit == std::string_view::npos) return {};
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  return bytes;
}

// Returns the bytes behind a string of the wire format (its length in four bytes, and so many bytes); may be empty.
std::string_view after_string(std::string_view bytes) {
  if (bytes.size() < 4) return {};
  std::size_t length = 0;
  for (int i = 0; i < 4; ++i) length = length << 8 | static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
  return length > bytes.size() - 4 ? std::string_view() : bytes.substr(4 + length);
}

}  // namespace

bool certifies(std::string_view certificate, std::string_view key) {
  return certifies_key(from_base64(certificate), from_base64(key));
}

bool certifies_key(std::string_view certificate, std::string_view key) {
  const std::string_view key_parts = after_string(key);                        // behind its type
  const std::string_view certified = after_string(after_string(certificate));  // behind its type and a nonce
  return !key_parts.empty() && certified.starts_with(key_parts);
}

std::string certificate_in(std::string_view file) {
  const std::string_view line = file.substr(0, file.find_first_of("\r\n"));
  const std::size_t type = line.find_first_of(" \t");
  const std::size_t begin = line.find_first_not_of(" \t", type);
  if (begin == std::string_view::npos || line.substr(0, type).find("-cert-") == std::string_view::npos) return {};
  const std::string_view text = line.substr(begin);
  return from_base64(text.substr(0, text.find_first_of(" \t")));
}

}  // namespace sml::ssh

// ELF files of 64 bits, little-endian, with not much in them but what they need.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace sml::test {

inline std::string number(std::uint64_t value, std::size_t size) {
  std::string out;
  for (std::size_t i = 0; i < size; ++i, value >>= 8) out += static_cast<char>(value & 0xff);
  return out;
}

inline std::string segment(std::uint32_t type, std::uint64_t offset, std::uint64_t address, std::uint64_t size) {
  return number(type, 4) + number(0, 4) + number(offset, 8) + number(address, 8) + number(address, 8) +
         number(size, 8) + number(size, 8) + number(8, 8);
}

// As ld makes one: header, three segments, the notes at 0x200, the dynamic section at 0x1000 (mapped at 0x401000), the
// names behind it.
// `imports`: names of functions; `note`: the bytes of its notes.
inline std::string elf(const std::vector<std::string>& needed, const std::vector<std::string>& run_path = {},
                       const std::vector<std::string>& imports = {}, const std::string& note = {}) {
  constexpr std::uint64_t kDynamic = 0x1000, kNames = 0x1800, kBase = 0x400000;
  std::string names(1, '\0'), dynamic;
  const auto name = [&](std::uint64_t tag, const std::string& one) {
    dynamic += number(tag, 8) + number(names.size(), 8);
    names += one + '\0';
  };
  for (const std::string& one : needed) name(1, one);
  for (const std::string& one : run_path) name(29, one);
  for (const std::string& one : imports) names += one + '\0';
  dynamic += number(10, 8) + number(names.size(), 8);
  dynamic += number(5, 8) + number(kBase + kNames, 8) + number(0, 16) + number(1, 8) + number(1, 8);
  std::string out("\177ELF\2\1\1", 7);
  out.resize(32);
  out += number(64, 8) + number(0, 14) + number(56, 2) + number(3, 2);
  out.resize(64);
  out += segment(1, 0, kBase, 0x2000) + segment(2, kDynamic, kBase + kDynamic, dynamic.size()) +
         segment(4, 0x200, kBase + 0x200, note.size());
  out.resize(0x200);
  out += note;
  out.resize(kDynamic);
  out += dynamic;
  out.resize(kNames);
  return out + names;
}

}  // namespace sml::test

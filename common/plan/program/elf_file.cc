#include "common/plan/program/elf_file.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace sml::plan {

namespace {

// The format is in elf(5). Numbers are read byte by byte.

constexpr std::uint64_t kHeaderSize = 64;
constexpr std::uint64_t kSegmentSize = 56;
constexpr std::uint64_t kEntrySize = 16;
constexpr std::uint64_t kMostSegments = 128;
constexpr std::uint64_t kMostEntries = 1024;
constexpr std::size_t kLongestLibraryName = 1024;

constexpr std::uint64_t kMostOfAllNotes = std::uint64_t{64} << 10;  // bytes
constexpr std::uint64_t kMostNotes = std::uint64_t{4} << 10;

constexpr std::uint64_t kLoad = 1, kDynamic = 2, kNote = 4;  // p_type
constexpr std::uint64_t kEnd = 0, kNeeded = 1, kNameTable = 5, kNameTableSize = 10, kOldRunPath = 15,
                        kRunPath = 29;  // d_tag

// Bytes beyond the end count as 0.
std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t out = 0;
  for (std::size_t i = size; i-- > 0;)
    out = out << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0);
  return out;
}

struct Segment {
  std::uint64_t type, offset, address, size;
};

std::vector<Segment> segments_of(const ReadAt& read) {
  constexpr std::string_view kMagic("\177ELF\2\1", 6);  // 64 bits, little-endian
  const std::string header = read(0, kHeaderSize);
  if (header.size() < kHeaderSize || !header.starts_with(kMagic)) return {};
  const std::uint64_t count = std::min(number_at(header, 56, 2), kMostSegments);
  if (number_at(header, 54, 2) != kSegmentSize) return {};
  const std::string table = read(number_at(header, 32, 8), count * kSegmentSize);
  std::vector<Segment> out;
  for (std::size_t at = 0; at + kSegmentSize <= table.size(); at += kSegmentSize) {
    out.push_back({number_at(table, at, 4), number_at(table, at + 8, 8), number_at(table, at + 16, 8),
                   number_at(table, at + 32, 8)});
  }
  return out;
}

// The offset in the file of an address of the running program; nullopt if no loaded segment contains it.
std::optional<std::uint64_t> offset_of(std::uint64_t address, const std::vector<Segment>& segments) {
  for (const Segment& s : segments) {
    if (s.type == kLoad && address >= s.address && address - s.address < s.size) {
      return s.offset + (address - s.address);
    }
  }
  return std::nullopt;
}

struct Entry {
  std::uint64_t tag, value;
};

// The dynamic section of the file, and the offset and size of its table of names.
struct Dynamic {
  std::vector<Entry> entries;
  std::optional<std::uint64_t> names;
  std::uint64_t size_of_names = 0;
};

Dynamic dynamic_of(const ReadAt& read) {
  Dynamic out;
  const std::vector<Segment> segments = segments_of(read);
  const auto found =
      std::find_if(segments.begin(), segments.end(), [](const Segment& s) { return s.type == kDynamic; });
  if (found == segments.end()) return out;
  const std::string entries = read(found->offset, std::min(found->size, kMostEntries * kEntrySize));
  for (std::size_t at = 0; at + kEntrySize <= entries.size(); at += kEntrySize) {
    const Entry entry{number_at(entries, at, 8), number_at(entries, at + 8, 8)};
    if (entry.tag == kEnd) break;
    if (entry.tag == kNameTable) out.names = offset_of(entry.value, segments);
    if (entry.tag == kNameTableSize) out.size_of_names = entry.value;
    out.entries.push_back(entry);
  }
  return out;
}

// The names that the dynamic section has under these tags.
std::vector<std::string> names_of(const ReadAt& read, std::initializer_list<std::uint64_t> tags) {
  const Dynamic dynamic = dynamic_of(read);
  std::vector<std::string> out;
  for (const Entry& entry : dynamic.entries) {
    if (!dynamic.names || std::find(tags.begin(), tags.end(), entry.tag) == tags.end()) continue;
    std::string text = read(*dynamic.names + entry.value, kLongestLibraryName);
    text.resize(std::min(text.find('\0'), text.size()));
    if (!text.empty()) out.push_back(std::move(text));
  }
  return out;
}

}  // namespace

std::vector<std::string> needed_libraries(const ReadAt& read) { return names_of(read, {kNeeded}); }

std::vector<std::string> library_folders(const ReadAt& read) { return names_of(read, {kOldRunPath, kRunPath}); }

std::string symbol_names(const ReadAt& read, std::uint64_t most) {
  const Dynamic dynamic = dynamic_of(read);
  if (!dynamic.names || dynamic.size_of_names > most) return {};
  std::string out = read(*dynamic.names, dynamic.size_of_names);
  if (out.size() != dynamic.size_of_names) out.clear();  // the file is truncated
  return out;
}

std::string notes(const ReadAt& read) {
  std::string out;
  for (const Segment& s : segments_of(read)) {
    if (s.type == kNote && out.size() < kMostOfAllNotes) out += read(s.offset, std::min(s.size, kMostNotes));
  }
  return out;
}

}  // namespace sml::plan

#include "common/plan/mpi_use.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <optional>

#include "common/plan/worker_env.h"

namespace sml::plan {

namespace {

// ---- ELF: see elf(5). Numbers are read byte by byte: the file may hold anything, anywhere.

constexpr std::uint64_t kHeaderSize = 64;
constexpr std::uint64_t kSegmentSize = 56;
constexpr std::uint64_t kEntrySize = 16;
constexpr std::uint64_t kMostSegments = 128;
constexpr std::uint64_t kMostEntries = 1024;
constexpr std::size_t kLongestName = 1024;

constexpr std::uint64_t kLoad = 1, kDynamic = 2;                                                 // p_type
constexpr std::uint64_t kEnd = 0, kNeeded = 1, kNameTable = 5, kOldRunPath = 15, kRunPath = 29;  // d_tag

// 0 beyond the end.
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

// Where in the file an address of the running program comes from.
std::optional<std::uint64_t> offset_of(std::uint64_t address, const std::vector<Segment>& segments) {
  for (const Segment& s : segments) {
    if (s.type == kLoad && address >= s.address && address - s.address < s.size) {
      return s.offset + (address - s.address);
    }
  }
  return std::nullopt;
}

// What the dynamic section names under these tags.
std::vector<std::string> names_of(const ReadAt& read, std::initializer_list<std::uint64_t> tags) {
  const std::vector<Segment> segments = segments_of(read);
  const auto dynamic =
      std::find_if(segments.begin(), segments.end(), [](const Segment& s) { return s.type == kDynamic; });
  if (dynamic == segments.end()) return {};
  const std::string entries = read(dynamic->offset, std::min(dynamic->size, kMostEntries * kEntrySize));
  std::vector<std::uint64_t> names;
  std::optional<std::uint64_t> table;
  for (std::size_t at = 0; at + kEntrySize <= entries.size(); at += kEntrySize) {
    const std::uint64_t tag = number_at(entries, at, 8), value = number_at(entries, at + 8, 8);
    if (tag == kEnd) break;
    if (std::find(tags.begin(), tags.end(), tag) != tags.end()) names.push_back(value);
    if (tag == kNameTable) table = offset_of(value, segments);
  }
  std::vector<std::string> out;
  for (const std::uint64_t name : names) {
    if (!table) break;
    std::string text = read(*table + name, kLongestName);
    text.resize(std::min(text.find('\0'), text.size()));
    if (!text.empty()) out.push_back(std::move(text));
  }
  return out;
}

// ---- names

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Parts of an MPI library of its own, which need it and use nothing.
bool belongs_to_mpi(std::string_view path) {
  const std::string_view name = file_name(path);
  return is_mpi_library(path) || name.starts_with("mca_") || path.find("/openmpi/") != std::string_view::npos;
}

bool uses_horovod_mpi(std::span<const std::string> environment) {
  const auto asked = [](const std::string& entry) { return entry == "HOROVOD_CONTROLLER=mpi"; };
  return std::any_of(environment.begin(), environment.end(), asked);
}

bool meets_without_mpi(std::string_view path, std::span<const std::string> environment) {
  if (file_name(path).starts_with("libtorch")) return true;
  return path.find("/horovod/") != std::string_view::npos && !uses_horovod_mpi(environment);
}

std::string mpi_library_among(const std::vector<std::string>& names) {
  const auto found = std::find_if(names.begin(), names.end(), is_mpi_library);
  return found == names.end() ? std::string() : *found;
}

}  // namespace

std::vector<std::string> needed_libraries(const ReadAt& read) { return names_of(read, {kNeeded}); }

std::vector<std::string> library_folders(const ReadAt& read) { return names_of(read, {kOldRunPath, kRunPath}); }

bool is_mpi_library(std::string_view path) {
  constexpr std::array<std::string_view, 6> kNames{"libmpi.so", "libmpi_",    "libmpich",
                                                   "libmpicxx", "libmpifort", "libmpi++"};
  const std::string_view name = file_name(path);
  if (name.find(".so") == std::string_view::npos) return false;
  return std::any_of(kNames.begin(), kNames.end(), [name](std::string_view begin) { return name.starts_with(begin); });
}

// Open MPI counts its libraries from 0 (1.2) over 20 (2) to 40 (4, 5) and 80 (6); 12 is what MPICH, Intel MPI and
// MVAPICH agree on, and was Open MPI's for 1.7 to 1.10, which spoke neither.
MpiSpeech speech_of(std::string_view library) {
  constexpr std::array<std::string_view, 5> kOpenMpi{"libmpi.so.20", "libmpi.so.40", "libmpi.so.80", "libmpi_mpifh.so",
                                                     "libmpi_usempi"};
  constexpr std::array<std::string_view, 5> kPmi{"libmpi.so.12", "libmpich", "libmpicxx.so.12", "libmpifort.so.12",
                                                 "libmpi_cray"};
  const auto begins = [name = file_name(library)](std::string_view begin) { return name.starts_with(begin); };
  if (std::any_of(kOpenMpi.begin(), kOpenMpi.end(), begins)) return MpiSpeech::Pmix;
  return std::any_of(kPmi.begin(), kPmi.end(), begins) ? MpiSpeech::Pmi : MpiSpeech::Unknown;
}

bool offers_pmi(MpiMeeting meeting, MpiSpeech speech) {
  const bool at_all = meeting != MpiMeeting::None && meeting != MpiMeeting::Pmix;
  return at_all && speech != MpiSpeech::Pmix;
}

bool offers_pmix(MpiMeeting meeting, MpiSpeech speech) {
  return meeting == MpiMeeting::Pmix || (meeting == MpiMeeting::Auto && speech == MpiSpeech::Pmix);
}

bool brings_together(MpiMeeting meeting, MpiSpeech speech) {
  if (meeting == MpiMeeting::Pmix) return speech != MpiSpeech::Pmi;
  return offers_pmi(meeting, speech) || offers_pmix(meeting, speech);
}

std::string linked_mpi_library(const ReadAt& program) { return mpi_library_among(needed_libraries(program)); }

std::vector<std::string> process_manager_entries(std::span<const std::string> environment) {
  constexpr std::array<std::string_view, 3> kNames{"PMI_FD", "PMI_PORT", "PMIX_NAMESPACE"};
  std::vector<std::string> out;
  std::copy_if(environment.begin(), environment.end(), std::back_inserter(out), [&kNames](const std::string& entry) {
    return std::find(kNames.begin(), kNames.end(), name_of(entry)) != kNames.end();
  });
  return out;
}

bool has_process_manager(std::span<const std::string> environment) {
  return !process_manager_entries(environment).empty();
}

std::vector<std::string> mapped_files(std::string_view maps) {
  std::vector<std::string> out;
  while (!maps.empty()) {
    const std::string_view line = maps.substr(0, maps.find('\n'));
    maps.remove_prefix(std::min(line.size() + 1, maps.size()));
    const std::size_t at = line.find('/');  // the only column that may hold one
    if (at == std::string_view::npos) continue;
    const std::string_view path = line.substr(at);
    // Pieces of one file follow each other.
    if (out.empty() || out.back() != path) out.emplace_back(path);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::string mpi_library_in_use(std::span<const std::string> mapped, std::span<const std::string> environment,
                               const ReadFileAt& read) {
  const auto library = std::find_if(mapped.begin(), mapped.end(), is_mpi_library);
  if (library == mapped.end() || has_process_manager(environment)) return {};
  bool excused = false;
  for (const std::string& file : mapped) {
    if (belongs_to_mpi(file)) continue;
    const auto of_file = [&](std::uint64_t offset, std::size_t size) { return read(file, offset, size); };
    if (linked_mpi_library(of_file).empty()) continue;
    if (!meets_without_mpi(file, environment)) return *library;
    excused = true;
  }
  return excused ? std::string() : *library;  // whom nobody needs has been loaded by hand
}

}  // namespace sml::plan

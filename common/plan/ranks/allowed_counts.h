// The numbers of ranks with which a program may be spawned: the info key "soft" of MPI_Comm_spawn (MPI 4.1, section
// 11.8.4). Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace sml::plan {

// first, first + step, ..., up to last; step is positive.
struct CountRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::uint32_t step = 1;
  void fields(auto& a) { a(first, last, step); }
  bool operator==(const CountRange&) const = default;
};

// Reads Fortran's triplets, separated by commas: "2", "1:8", "8:2:-2". Leaves out what is below 1. Returns nullopt for
// any other text, and for one that allows no count.
std::optional<std::vector<CountRange>> parse_allowed_counts(std::string_view text);

// The largest allowed count that is at most `most`; nullopt: there is none.
std::optional<std::uint32_t> largest_allowed(std::span<const CountRange> ranges, std::uint32_t most);

}  // namespace sml::plan

// Lists of thousands of hosts in a few bytes: names and ids that count up are stored, and sent, as runs. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "common/core/strong.h"

namespace sml {

// A few received bytes can claim a list of any length, so size() and all() stop at this number.
inline constexpr std::size_t kMostInRuns = 1'000'000;

// Ids in the order in which they were added; any id may occur, and more than once.
class HostIdRuns {
 public:
  HostIdRuns() = default;
  HostIdRuns(std::initializer_list<HostId> ids) {
    for (const HostId id : ids) push_back(id);
  }
  void push_back(HostId id);
  bool empty() const { return runs_.empty(); }
  std::size_t size() const;
  std::vector<HostId> all() const;
  void fields(auto& a) { a(runs_); }
  bool operator==(const HostIdRuns&) const = default;

 private:
  struct Run {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    void fields(auto& a) { a(first, count); }
    bool operator==(const Run&) const = default;
  };
  std::vector<Run> runs_;
};

// Names such as algo-1 to algo-4096, node001 to node099.local, and any others.
class NameRuns {
 public:
  NameRuns() = default;
  NameRuns(std::initializer_list<std::string> names) {
    for (const std::string& name : names) push_back(name);
  }
  void push_back(const std::string& name);
  bool empty() const { return runs_.empty(); }
  std::size_t size() const;
  std::string operator[](std::size_t index) const;  // empty: there is no such name
  std::vector<std::string> all() const;
  void fields(auto& a) { a(runs_); }
  bool operator==(const NameRuns&) const = default;

 private:
  struct Run {
    std::string head;          // before the number; with count 1, the whole name
    std::string tail{};        // after the number
    std::uint32_t first = 0;   // the number in the first name
    std::uint32_t digits = 0;  // at least so many, with zeros before the number
    std::uint32_t count = 1;   // of names
    std::string name(std::size_t index) const;
    void fields(auto& a) { a(head, tail, first, digits, count); }
    bool operator==(const Run&) const = default;
  };
  static bool extend(Run& run, const std::string& name);  // false: the name does not continue the run, which stays

  std::vector<Run> runs_;
};

}  // namespace sml

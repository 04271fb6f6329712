// Parses Python's pickle format, as far as messages of plain data need it. Safe for untrusted input: it builds a graph
// of values, in which a value may contain itself, recognizes only the classes that it is given, by their names, and
// never imports, calls or instantiates anything. Pure.
//
// Source: Lib/pickletools.py of Python 3.11, the operations that protocols 2 to 5 write for numbers, text, bytes,
// tuples, lists, sets, dicts and objects with a dict of attributes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/core/error.h"

namespace sml {

class Pickle {
 public:
  static constexpr std::size_t kMaxSize = std::size_t{64} << 10;  // bytes of the input
  static constexpr std::size_t kMaxValues = 8192;  // also the most items added to lists, dicts and objects

  enum class Kind : std::uint8_t { None, Bool, Int, Float, Text, Bytes, List, Dict, Class, Object };
  using Place = std::uint32_t;  // index of a value in the pickle
  struct Value {
    Kind kind = Kind::None;
    std::int64_t number = 0;     // Bool, Int
    double real = 0;             // Float
    std::string_view text{};     // Text, Bytes: a view of the input; Class, Object: the name, as in `classes`
    std::vector<Place> items{};  // List (also for tuples and sets); Dict: key, value, key, value; Object: arguments
    Place state = 0;             // Object: its attributes; 0: none
  };

  // `classes` holds the permitted classes as "module name". The result refers to both arguments, which must outlive it.
  // Error (Protocol): what is wrong, as a part of a sentence whose subject is "it".
  static Result<Pickle> read(std::string_view bytes, std::span<const std::string_view> classes);

  const Value& root() const { return values_[root_]; }
  const Value& at(Place place) const { return values_[place]; }
  // The value of a key of a dict; nullptr if it has none, or is not a dict.
  const Value* find(const Value& dict, std::string_view key) const;
  // The same for an object's attributes.
  const Value* attribute(const Value& object, std::string_view name) const;

 private:
  friend class PickleReader;
  std::vector<Value> values_;  // the first one is None
  Place root_ = 0;
};

}  // namespace sml

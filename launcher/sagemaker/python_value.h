// Reads and writes JSON as Python's json module does, and prints values in Python's notation. Pure.
//
// The training toolkit is a Python program, so user code sees hyperparameters as Python converts them. Python's JSON is
// wider than the standard (NaN, Infinity, numbers of any size), which the JSON library rejects; hence this reader.
// Sources: Python 3.11, Lib/json/decoder.py, Lib/json/encoder.py, Objects/unicodeobject.c (unicode_repr),
// Python/pystrtod.c (float repr). Unlike in Python, a lone surrogate is an error, and unassigned characters count as
// printable.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/core/error.h"

namespace sml::sagemaker {

struct None {
  bool operator==(const None&) const = default;
};
struct Integer {
  std::string digits;  // as printed by Python: of any size
  bool operator==(const Integer&) const = default;
};

struct Value;
struct Member;
using List = std::vector<Value>;
using Object = std::vector<Member>;  // unique keys, in the order of their first occurrence

struct Value {
  std::variant<None, bool, Integer, double, std::string, List, Object> data;
};

// A key of an object and its value. (No std::pair: its constructors check properties of Value before Value is
// complete.)
struct Member {
  Member(std::string key, Value value) : first(std::move(key)), second(std::move(value)) {}
  std::string first;
  Value second;
};

// The value of a key; null if it is missing.
const Value* find(const Object& object, std::string_view key);

// Reads one JSON value. Strings in the result are valid UTF-8. The error (Config) names the position, "line 2, column
// 7". Nesting deeper than 256 levels is an error, too.
Result<Value> parse_json(std::string_view text);

// As Python's str(): strings unchanged, all other values as by to_repr().
std::string to_str(const Value& value);
// As Python's repr().
std::string to_repr(const Value& value);

enum class JsonStyle : std::uint8_t {
  Default,  // json.dumps(value): blanks after ',' and ':', keys in their order
  Compact,  // json.dumps(value, sort_keys=True, separators=(",", ":"))
};
std::string to_json(const Value& value, JsonStyle style);

}  // namespace sml::sagemaker

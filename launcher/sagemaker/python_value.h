// JSON as Python's json module reads and writes it, and Python's own spelling of what it holds. Pure.
//
// The training toolkit is a Python program: what user code sees of a hyperparameter is what Python makes of it.
// Python's JSON is wider than the standard (NaN, Infinity, numbers of any size), which the JSON library refuses; hence
// a reader of our own. Sources: Python 3.11, Lib/json/decoder.py, Lib/json/encoder.py, Objects/unicodeobject.c
// (unicode_repr), Python/pystrtod.c (float repr). Unlike Python, a lone surrogate is an error, and unassigned
// characters count as printable.
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
  std::string digits;  // as Python prints it: of any size
  bool operator==(const Integer&) const = default;
};

struct Value;
struct Member;
using List = std::vector<Value>;
using Object = std::vector<Member>;  // unique keys, in the order in which they were first given

struct Value {
  std::variant<None, bool, Integer, double, std::string, List, Object> data;
};

// A key of an object and its value. (No std::pair: its constructors ask what Value can do before Value is complete.)
struct Member {
  Member(std::string key, Value value) : first(std::move(key)), second(std::move(value)) {}
  std::string first;
  Value second;
};

// The value of a key; a null pointer when there is none.
const Value* find(const Object& object, std::string_view key);

// Error (Config): "line 2, column 7". Nested deeper than 256 levels is an error too. Strings come out as valid UTF-8.
Result<Value> parse_json(std::string_view text);

// str(): strings as they are, everything else as repr().
std::string to_str(const Value& value);
std::string to_repr(const Value& value);

enum class JsonStyle : std::uint8_t {
  Default,  // json.dumps(value): blanks after ',' and ':', keys in their order
  Compact,  // json.dumps(value, sort_keys=True, separators=(",", ":"))
};
std::string to_json(const Value& value, JsonStyle style);

}  // namespace sml::sagemaker

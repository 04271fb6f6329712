// Building blocks of the protocol validators: the error for a broken rule, and frequently used checks. Pure.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "common/core/error.h"
#include "common/wire/limits.h"
#include "common/wire/message_rules.h"

namespace sml::transport {

// Error (Protocol): the broken rule, as a part of a sentence without the host's name, such as "sent 7 bindings, more
// than 4".
using ValidationResult = Result<void>;

inline Error broken(std::string rule) { return Error(ErrorKind::Protocol, std::move(rule)); }
inline std::string number(std::uint64_t value) { return std::to_string(value); }

// Error unless count <= limit. `what`: the items in plural, for the message.
inline ValidationResult at_most(std::size_t count, std::size_t limit, std::string_view what) {
  if (count <= limit) return {};
  return broken("sent " + number(count) + " " + std::string(what) + ", more than " + number(limit));
}

// Items received so far, by their names in wire::Most.
using ItemCounts = std::map<std::string_view, std::size_t>;

// Calls `f` with each number and byte string of a message, those of its lists and structs included; serves as the
// archive of fields() in place of wire::Writer.
template <class F>
class FieldWalk {
 public:
  explicit FieldWalk(F f) : f_(std::move(f)) {}

  template <class... T>
  void operator()(const T&... values) {
    (look(values), ...);
  }

 private:
  template <class T>
  void look(const T& value) {
    if constexpr (requires(T & t, FieldWalk & archive) { t.fields(archive); }) {
      const_cast<T&>(value).fields(*this);  // fields() only reads when given this
    } else if constexpr (!std::is_convertible_v<const T&, std::string_view> && requires { value.begin(); }) {
      for (const auto& item : value) look(item);
    } else {
      f_(value);
    }
  }

  F f_;
};

// The length in bytes of the longest text in a message; 0: there is none.
template <class Message>
std::size_t longest_text(const Message& message) {
  std::size_t longest = 0;
  FieldWalk([&longest]<class T>(const T& value) {
    if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      longest = std::max(longest, std::string_view(value).size());
    }
  })(message);
  return longest;
}

// Error if a text of the message has more than kMaxText bytes. Passes messages whose rules have limits of their own.
template <class Message>
ValidationResult texts_fit(const Message& message) {
  if constexpr (wire::rules_of<Message>().text_size == wire::TextSize::Text) {
    if (const std::size_t longest = longest_text(message); longest > wire::kMaxText)
      return broken("sent a text of " + number(longest) + " bytes, more than " + number(wire::kMaxText));
  }
  return {};
}

}  // namespace sml::transport

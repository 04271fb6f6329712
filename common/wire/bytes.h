// Serializes numbers and byte strings: big-endian, lengths before contents. Knows nothing about messages.
//
// One member function `fields(archive)` per struct serves both directions: it passes its fields to the archive, a
// Writer, which appends each of them, or a Reader, which fills it.
#pragma once
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/core/strong.h"

namespace sml::wire {

template <class T>
concept Number = std::integral<T> || std::is_enum_v<T>;

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  template <class... T>
  void operator()(const T&... values) {
    (put(values), ...);
  }

 private:
  template <Number T>
  void put(const T& value) {
    const auto bits = static_cast<std::uint64_t>(value);
    for (std::size_t shift = sizeof(T) * 8; shift > 0; shift -= 8) {
      out_.push_back(static_cast<char>(static_cast<unsigned char>(bits >> (shift - 8))));
    }
  }
  void put(const char& value) { out_.push_back(value); }  // the same byte, whether char is signed or not
  template <class Tag>
  void put(const Strong<Tag>& value) {
    put(value.value());
  }
  void put(std::string_view bytes) {
    put(static_cast<std::uint32_t>(bytes.size()));
    out_ += bytes;
  }
  template <class T>
  void put(const std::vector<T>& list) {
    put(static_cast<std::uint32_t>(list.size()));
    for (const T& item : list) put(item);
  }
  template <class T>
  requires requires(T& t, Writer& w) { t.fields(w); }
  void put(const T& value) {
    const_cast<T&>(value).fields(*this);  // fields() only reads when given a Writer
  }

  std::string& out_;
};

// Reads what Writer wrote, from bytes of any origin. After the first field that does not fit, ok() is false and every
// later field keeps its value. The input's size, not what it claims, bounds the memory. An enum may get a number that
// none of its enumerators has.
class Reader {
 public:
  explicit Reader(std::string_view in) : in_(in) {}

  template <class... T>
  void operator()(T&... values) {
    (get(values), ...);
  }
  bool ok() const { return ok_; }
  // Whether all of the input has been read; a message with bytes left over is malformed.
  bool at_end() const { return in_.empty(); }

 private:
  std::string_view take(std::size_t n) {
    if (!ok_ || n > in_.size()) {
      ok_ = false;
      return {};
    }
    const std::string_view taken = in_.substr(0, n);
    in_.remove_prefix(n);
    return taken;
  }
  template <Number T>
  void get(T& value) {
    const std::string_view bytes = take(sizeof(T));
    std::uint64_t bits = 0;
    for (const char c : bytes) bits = bits << 8 | static_cast<unsigned char>(c);
    if (ok_) value = static_cast<T>(bits);
  }
  template <class Tag>
  void get(Strong<Tag>& value) {
    std::uint32_t number = value.value();
    get(number);
    value = Strong<Tag>(number);
  }
  void get(std::string& bytes) {
    std::uint32_t size = 0;
    get(size);
    const std::string_view taken = take(size);
    if (ok_) bytes.assign(taken);
  }
  void get(std::string_view& bytes) {  // a view of the input itself
    std::uint32_t size = 0;
    get(size);
    const std::string_view taken = take(size);
    if (ok_) bytes = taken;
  }
  template <class T>
  void get(std::vector<T>& list) {
    std::uint32_t size = 0;
    get(size);
    list.clear();
    for (std::uint32_t i = 0; i < size && ok_; ++i) {  // ends at the first item that the input does not hold
      T item{};
      get(item);
      if (ok_) list.push_back(std::move(item));
    }
  }
  template <class T>
  requires requires(T& t, Reader& r) { t.fields(r); }
  void get(T& value) { value.fields(*this); }

  std::string_view in_;
  bool ok_ = true;
};

}  // namespace sml::wire

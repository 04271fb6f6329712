// Messages of a protocol whose fields all hold something, made from their fields().
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/wire/bytes.h"

namespace sml::testing {

// Sets each number to another value, each text to `text`, and gives each list two items.
class FieldFiller {
 public:
  // Fields that are views refer to `text`, which must last as long as they.
  explicit FieldFiller(std::string_view text) : text_(text) {}

  template <class... T>
  void operator()(T&... values) {
    (fill(values), ...);
  }

 private:
  template <wire::Number T>
  void fill(T& value) {
    value = static_cast<T>(++last_);
  }
  template <class Tag>
  void fill(Strong<Tag>& value) {
    value = Strong<Tag>(++last_);
  }
  void fill(std::string& bytes) { bytes = text_; }
  void fill(std::string_view& bytes) { bytes = text_; }
  template <class T>
  void fill(std::vector<T>& list) {
    list.resize(2);
    for (T& item : list) fill(item);
  }
  template <class T>
  requires requires(T& t, FieldFiller& filler) { t.fields(filler); }
  void fill(T& value) { value.fields(*this); }

  std::string_view text_;
  std::uint32_t last_ = 0;
};

// Two of each alternative of a variant of messages: as it is by default, and with every field set.
template <class Message>
std::vector<Message> message_samples(std::string_view text) {
  std::vector<Message> out;
  [&]<std::size_t... index>(std::index_sequence<index...>) {
    const auto add = [&]<class One>(One one) {
      out.push_back(one);
      FieldFiller filler(text);
      one.fields(filler);
      out.push_back(std::move(one));
    };
    (add(std::variant_alternative_t<index, Message>{}), ...);
  }
  (std::make_index_sequence<std::variant_size_v<Message>>());
  return out;
}

}  // namespace sml::testing

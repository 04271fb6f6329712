#include "launcher/transport/session/protocol_trace.h"

#include <fmt/format.h>

#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "common/core/strong.h"
#include "common/core/text.h"
#include "common/wire/codec.h"

namespace sml::transport {

namespace {

constexpr std::size_t kItemsShown = 8;

// Serves as the archive of fields() in place of wire::Writer.
class FieldText {
 public:
  template <class... T>
  void operator()(const T&... values) {
    (item(values), ...);
  }
  std::string take() { return "[" + std::exchange(out_, {}) + "]"; }

 private:
  template <class T>
  void item(const T& value) {
    if (!out_.empty()) out_ += ',';
    out_ += text(value);
  }
  template <wire::Number T>
  static std::string text(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      return std::to_string(static_cast<std::int64_t>(value));
    } else {
      return std::to_string(value);
    }
  }
  template <class Tag>
  static std::string text(const Strong<Tag>& value) {
    return std::to_string(value.value());
  }
  static std::string text(std::string_view bytes) { return fmt::format("{{\"bytes\":{}}}", bytes.size()); }
  template <class T>
  static std::string text(const std::vector<T>& list) {
    std::string out;
    for (std::size_t i = 0; i < list.size() && i < kItemsShown; ++i) out += (i == 0 ? "" : ",") + text(list[i]);
    if (list.size() > kItemsShown) out += fmt::format(",{{\"more\":{}}}", list.size() - kItemsShown);
    return "[" + out + "]";
  }
  template <class T>
  requires requires(T& t, FieldText& f) { t.fields(f); }
  static std::string text(const T& value) {
    FieldText inner;
    const_cast<T&>(value).fields(inner);  // fields() only reads when given this
    return inner.take();
  }

  std::string out_;
};

template <class Message>
std::string line_of(double seconds, std::string_view host, std::string_view to, const Message& message) {
  return std::visit(
      [&]<class T>(const T& one) {
        FieldText fields;
        const_cast<T&>(one).fields(fields);
        return fmt::format("{{\"t\":{:.6f},\"host\":\"{}\",\"to\":\"{}\",\"message\":\"{}\",\"fields\":{}}}\n", seconds,
                           show(host), to, wire::message_name<T>(), fields.take());
      },
      message);
}

}  // namespace

void ProtocolTrace::sent(std::string_view host, std::string_view frames) {
  wire::Decoder<wire::ToAgent> decoder;
  decoder.feed(frames);
  for (;;) {
    const Result<std::optional<wire::ToAgent>> next = decoder.next();
    if (!next || !next->has_value()) return;
    std::string line = line_of(in_seconds(Clock::now() - begin_), host, "agent", **next);
    write_(line);
  }
}

void ProtocolTrace::received(std::string_view host, const wire::ToLauncher& message) {
  std::string line = line_of(in_seconds(Clock::now() - begin_), host, "launcher", message);
  write_(line);
}

}  // namespace sml::transport

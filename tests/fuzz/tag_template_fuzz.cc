// Any text: a template of tags is refused, or can be filled in; with its braces doubled it stands for itself.
#include "launcher/output/tag_template.h"

#include <cstdint>

#include "tests/fuzz/require.h"

using sml::fuzz::require;

namespace {

using namespace sml::output;

std::string filled(const TagTemplate& tag) {
  TagSubject subject{.ranks = {}, .local_ranks = {}, .hosts = {"a-1", "a-2"}};
  subject.ranks.add(3);
  subject.local_ranks.add(1);
  return tag.fill(subject, {.rank = 1000, .local_rank = 10}).at(WallTime());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed = TagTemplate::parse(text);
  if (parsed) {
    require(filled(*parsed).size() <= 40 * text.size());
  } else {
    require(parsed.error().kind() == sml::ErrorKind::Usage);
    require(parsed.error().message().find('\n') == std::string::npos);
  }
  std::string doubled;
  for (const char c : text) doubled.append(c == '{' || c == '}' ? 2 : 1, c);
  const auto literal = TagTemplate::parse(doubled);
  require(literal.has_value());
  require(filled(*literal) == text);
  return 0;
}

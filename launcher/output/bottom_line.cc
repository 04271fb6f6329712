#include "launcher/output/bottom_line.h"

namespace sml::output {

namespace {

constexpr std::string_view kErase = "\r\x1b[J";  // all of it, even if wrapped: nothing else is below
constexpr std::string_view kUp = "\x1b[A";

}  // namespace

void BottomLine::erase(std::string& out) {
  if (place_ == Place::Nowhere) return;
  out += kErase;
  if (place_ == Place::Below) out += kUp;
  place_ = Place::Nowhere;
}

void BottomLine::draw(std::string_view text, OutputEnd end, std::string& out) {
  erase(out);
  if (text.empty() || end == OutputEnd::Text) return;
  place_ = end == OutputEnd::Line ? Place::Here : Place::Below;
  if (place_ == Place::Below) out += '\n';  // text that ends with \r must stay visible
  out += text;
  out += '\r';
}

}  // namespace sml::output

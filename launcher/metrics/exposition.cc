#include "launcher/metrics/exposition.h"

#include <fmt/format.h>

#include <iterator>

#include "common/core/text.h"

namespace sml::metrics {

namespace {

std::string_view suffix(Kind kind) {
  if (kind == Kind::Counter) return "_total";
  return kind == Kind::Info ? "_info" : "";
}

std::string_view type(Kind kind, Format format) {
  if (kind == Kind::Counter) return "counter";
  return kind == Kind::Info && format == Format::OpenMetrics ? "info" : "gauge";
}

void append_escaped(std::string& out, std::string_view value) {
  for (const char c : value) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
}

bool is_plain(std::string_view value) {
  for (const char c : value) {
    if (c < ' ' || c > '~') return false;
  }
  return true;
}

}  // namespace

std::string_view content_type(Format format) {
  return format == Format::OpenMetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                       : "text/plain; version=0.0.4; charset=utf-8";
}

void Exposition::family(std::string_view name, Kind kind, std::string_view unit, std::string_view help) {
  name_ = name;
  kind_ = kind;
  unit_ = unit;
  help_ = help;
  described_ = false;
}

void Exposition::describe() {
  described_ = true;
  const std::string_view suffix_there = format_ == Format::OpenMetrics ? "" : suffix(kind_);
  fmt::format_to(std::back_inserter(out_), "# HELP {0}{1} {2}\n# TYPE {0}{1} {3}\n", name_, suffix_there, help_,
                 type(kind_, format_));
  if (format_ == Format::OpenMetrics && !unit_.empty()) {
    fmt::format_to(std::back_inserter(out_), "# UNIT {} {}\n", name_, unit_);
  }
}

void Exposition::begin_sample(std::initializer_list<Label> labels) {
  if (!described_) describe();
  out_ += name_;
  out_ += suffix(kind_);
  char before = '{';
  for (const Label& label : labels) {
    out_ += before;
    before = ',';
    out_ += label.name;
    out_ += "=\"";
    append_escaped(out_, is_plain(label.value) ? std::string(label.value) : show(label.value));
    out_ += '"';
  }
  out_ += labels.size() > 0 ? "} " : " ";
}

void Exposition::sample(std::initializer_list<Label> labels, double value) {
  begin_sample(labels);
  fmt::format_to(std::back_inserter(out_), "{:.15g}\n", value);
}

void Exposition::sample(std::initializer_list<Label> labels, std::uint64_t value) {
  begin_sample(labels);
  fmt::format_to(std::back_inserter(out_), "{}\n", value);
}

std::string Exposition::finish() && {
  if (format_ == Format::OpenMetrics) out_ += "# EOF\n";
  return std::move(out_);
}

}  // namespace sml::metrics

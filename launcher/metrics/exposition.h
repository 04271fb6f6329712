// Writes metrics in the two text formats of Prometheus. Pure.
//
// Sources: the text format 0.0.4 (prometheus.io, "Exposition formats") and OpenMetrics 1.0.0 (RFC draft
// draft-richih-opsawg-openmetrics), whose counters are named without _total in the lines that describe them.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace sml::metrics {

enum class Format : std::uint8_t { Text, OpenMetrics };
std::string_view content_type(Format format);

enum class Kind : std::uint8_t { Gauge, Counter, Info };

struct Label {
  std::string_view name;
  std::string_view value;  // any bytes; those that are not UTF-8 are shown escaped
};

class Exposition {
 public:
  explicit Exposition(Format format) : format_(format) {}

  // Begins a family of metrics: the samples that follow belong to it. `name` is without _total and _info, and ends in
  // `unit` unless that is empty. A family without samples is left out. The texts must live until the next family
  // begins, or until finish().
  void family(std::string_view name, Kind kind, std::string_view unit, std::string_view help);
  void sample(std::initializer_list<Label> labels, double value);
  void sample(std::initializer_list<Label> labels, std::uint64_t value);
  // The whole text, with the end mark that OpenMetrics requires.
  std::string finish() &&;

 private:
  void begin_sample(std::initializer_list<Label> labels);
  void describe();

  Format format_;
  std::string out_;
  std::string_view name_;
  std::string_view unit_;
  std::string_view help_;
  Kind kind_ = Kind::Gauge;
  bool described_ = false;
};

}  // namespace sml::metrics

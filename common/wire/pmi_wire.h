// The encoding of PMI messages: PMI-1 as lines of "key=value" with blanks between, PMI-2 as "key=value;" after six
// characters that hold the length. Pure.
//
// Sources: MPICH's src/pmi (maint/pmi-1.1.txt, maint/pmi-2.0.txt, src/pmi_wire.c), Slurm's contribs/pmi2, Flux RFC 13.
// The first message of each client is a line, whatever dialect follows.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/core/error.h"

namespace sml::wire {

enum class PmiDialect : std::uint8_t { One, Two };

inline constexpr std::size_t kPmiKey = 64;           // bytes of a key
inline constexpr std::size_t kPmiValue = 1024;       // bytes of a value
inline constexpr std::size_t kPmiMessage = 8 << 10;  // bytes of one message; MPICH's clients send 1 KB and read no more
inline constexpr std::size_t kPmiSpawn = 64 << 10;   // bytes of a message with programs to spawn, and of any in PMI-2

struct PmiMessage {
  std::string name;                                        // the value of "cmd" or "mcmd"
  std::vector<std::pair<std::string, std::string>> pairs;  // in order; without "cmd" or "mcmd"

  // The first value of that key; null: none.
  const std::string* find(std::string_view key) const;
};

// Cuts the bytes of one client into messages; takes pieces of any size.
class PmiReader {
 public:
  void feed(std::string_view bytes);
  // The next whole message; nullopt if more bytes are needed. Error (Protocol): the rest of a sentence that begins with
  // "it"; the stream is unusable then.
  Result<std::optional<PmiMessage>> next(PmiDialect dialect);
  std::size_t size() const { return buffer_.size(); }  // of the buffered bytes

 private:
  Result<std::optional<PmiMessage>> next_line();
  Result<std::optional<PmiMessage>> next_spawn();
  Result<std::optional<PmiMessage>> next_frame();

  std::string buffer_;
};

// Builds one message for a client. Values must not contain a blank, newline or semicolon; see has_pmi_form().
class PmiWriter {
 public:
  PmiWriter(PmiDialect dialect, std::string_view name);
  PmiWriter& add(std::string_view key, std::string_view value);
  PmiWriter& add(std::string_view key, std::int64_t value);
  PmiDialect dialect() const { return dialect_; }
  std::string take();  // ends the message and returns it; to be called once

 private:
  PmiDialect dialect_;
  std::string text_;
};

// Whether the value can be sent in every dialect: no blank, no control character, no semicolon.
bool has_pmi_form(std::string_view value);

}  // namespace sml::wire

// The messages that a PMI-1.1 or PMI-2 client may send, as a table: their names, the fields that are checked, and the
// names of the replies. Pure.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/core/error.h"
#include "common/wire/pmi_wire.h"

namespace sml::agent {

// The operations, whatever the dialect.
enum class PmiVerb : std::uint8_t {
  Init,      // the client's greeting, which selects the dialect
  FullInit,  // PMI-2: joins the world; in PMI-1, Init does
  Finalize,
  Abort,
  Maxes,      // asks for the longest key, value and name of a key space
  Universe,   // asks for the number of ranks for which there is room
  AppNumber,  // asks for the index of the rank's program
  KeySpace,   // asks for the name of the key space
  Put,
  Get,
  Fence,
  JobAttribute,  // asks for a value about the job, or one that its spawner has given
  PutNode,       // Put and Get of values that only ranks of the same host see
  GetNode,
  Publish,
  Unpublish,
  LookUp,
  Spawn,
};

// Number: a decimal number. Key, Value: a text that PMI can carry (wire::has_pmi_form()), at most as long as a key or a
// value may be; a key is not empty.
enum class PmiForm : std::uint8_t { Number, Key, Value };
struct PmiField {
  std::string_view key;
  PmiForm form = PmiForm::Value;
  enum class Need : std::uint8_t { Must, May } need = Need::Must;
};

struct PmiRow {
  wire::PmiDialect dialect;
  std::string_view name;
  PmiVerb verb;
  std::string_view answer;         // the name of the reply; empty: there is none
  std::array<PmiField, 3> fields;  // the fields that are checked; an empty key: none
};

// Null: there is no such message.
const PmiRow* find_pmi_row(wire::PmiDialect dialect, std::string_view name);

// Checks that the required fields of the row are present, and that each field of the row has its form. Error
// (Protocol): a part of a sentence that follows "it".
Result<void> check_pmi(const PmiRow& row, const wire::PmiMessage& message);

// The value of a field; `without` or an empty text if it is missing.
std::int64_t pmi_number(const wire::PmiMessage& message, std::string_view key, std::int64_t without);
std::string_view pmi_text(const wire::PmiMessage& message, std::string_view key);
// The client's name for the thread that sends the message; empty if it has none.
std::string pmi_thread(const wire::PmiMessage& message);

}  // namespace sml::agent

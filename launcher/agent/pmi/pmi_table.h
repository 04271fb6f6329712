// The messages of PMI-1.1 and PMI-2 as a table: their names, the fields that are checked, and the names of the replies.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/core/error.h"
#include "common/wire/pmi_wire.h"

namespace sml::agent {

enum class PmiVerb : std::uint8_t {
  Init,
  FullInit,
  Finalize,
  Abort,
  Maxes,
  Universe,
  AppNumber,
  KeySpace,
  Put,
  Get,
  Fence,
  JobAttribute,
  PutNode,
  GetNode,
  Publish,
  Unpublish,
  LookUp,
  Spawn,
};

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
  std::string_view answer;
  std::array<PmiField, 3> fields;  // the fields that are checked; an empty key: none
};

// Null: there is no such message.
const PmiRow* find_pmi_row(wire::PmiDialect dialect, std::string_view name);

// Checks that all fields of the row that must be present are, and that each has its form. Error (Protocol): a clause
// that follows "it".
Result<void> check_pmi(const PmiRow& row, const wire::PmiMessage& message);

// The value of a checked field; `without` if it is missing.
std::int64_t pmi_number(const wire::PmiMessage& message, std::string_view key, std::int64_t without);
std::string_view pmi_text(const wire::PmiMessage& message, std::string_view key);
// The client's name for the thread that sends the message; empty if it has none.
std::string pmi_thread(const wire::PmiMessage& message);

}  // namespace sml::agent

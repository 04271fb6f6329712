// The messages of PMI-1.1 and PMI-2 as a table: what clients may say, in which form, and what the answer is called.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/core/error.h"
#include "common/rendezvous/pmi_wire.h"

namespace sml::rendezvous {

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
  PmiDialect dialect;
  std::string_view name;
  PmiVerb verb;
  std::string_view answer;
  std::array<PmiField, 3> fields;  // those that are looked at; without a key: none
};

// Null: there is no such message.
const PmiRow* find_pmi_row(PmiDialect dialect, std::string_view name);

// Whether all that the row asks for is there and has its form. Error (Protocol): a clause that follows "it".
Result<void> check_pmi(const PmiRow& row, const PmiMessage& message);

// Of a field that has been checked; `without` where it is not there.
std::int64_t pmi_number(const PmiMessage& message, std::string_view key, std::int64_t without);
std::string_view pmi_text(const PmiMessage& message, std::string_view key);
// What the client calls the thread that sends it; empty where it has none.
std::string pmi_thread(const PmiMessage& message);

}  // namespace sml::rendezvous

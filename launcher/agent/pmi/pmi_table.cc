#include "launcher/agent/pmi/pmi_table.h"

#include <algorithm>
#include <optional>

#include "common/core/text.h"

namespace sml::agent {

namespace {

constexpr auto kMay = PmiField::Need::May;
constexpr PmiField number(std::string_view key) { return {key, PmiForm::Number}; }
constexpr PmiField number_perhaps(std::string_view key) { return {key, PmiForm::Number, kMay}; }
constexpr PmiField kKeyField{"key", PmiForm::Key};
constexpr PmiField kValueField{"value", PmiForm::Value};
constexpr PmiField text(std::string_view key) { return {key, PmiForm::Value}; }
constexpr PmiField text_perhaps(std::string_view key) { return {key, PmiForm::Value, kMay}; }

using D = wire::PmiDialect;
using V = PmiVerb;

constexpr PmiRow kRows[] = {
    {D::One, "init", V::Init, "response_to_init", {number("pmi_version"), number("pmi_subversion")}},
    {D::One, "finalize", V::Finalize, "finalize_ack", {}},
    {D::One, "abort", V::Abort, "", {number_perhaps("exitcode")}},
    {D::One, "get_maxes", V::Maxes, "maxes", {}},
    {D::One, "get_universe_size", V::Universe, "universe_size", {}},
    {D::One, "get_appnum", V::AppNumber, "appnum", {}},
    {D::One, "get_my_kvsname", V::KeySpace, "my_kvsname", {}},
    {D::One, "put", V::Put, "put_result", {kKeyField, kValueField, text_perhaps("kvsname")}},
    {D::One, "get", V::Get, "get_result", {kKeyField, text_perhaps("kvsname")}},
    {D::One, "barrier_in", V::Fence, "barrier_out", {}},
    {D::One, "publish_name", V::Publish, "publish_result", {text("service"), text("port")}},
    {D::One, "unpublish_name", V::Unpublish, "unpublish_result", {text("service")}},
    {D::One, "lookup_name", V::LookUp, "lookup_result", {text("service")}},
    {D::One, "spawn", V::Spawn, "spawn_result", {}},

    {D::Two, "fullinit", V::FullInit, "fullinit-response", {number_perhaps("pmirank")}},
    {D::Two, "finalize", V::Finalize, "finalize-response", {}},
    {D::Two, "abort", V::Abort, "", {number_perhaps("exitcode")}},
    {D::Two, "job-getid", V::KeySpace, "job-getid-response", {}},
    {D::Two, "info-getjobattr", V::JobAttribute, "info-getjobattr-response", {kKeyField}},
    {D::Two, "info-putnodeattr", V::PutNode, "info-putnodeattr-response", {kKeyField, kValueField}},
    {D::Two, "info-getnodeattr", V::GetNode, "info-getnodeattr-response", {kKeyField}},
    {D::Two, "kvs-put", V::Put, "kvs-put-response", {kKeyField, kValueField}},
    {D::Two, "kvs-get", V::Get, "kvs-get-response", {kKeyField, text_perhaps("jobid")}},
    {D::Two, "kvs-fence", V::Fence, "kvs-fence-response", {}},
    {D::Two, "name-publish", V::Publish, "name-publish-response", {text("name"), text("port")}},
    {D::Two, "name-unpublish", V::Unpublish, "name-unpublish-response", {text("name")}},
    {D::Two, "name-lookup", V::LookUp, "name-lookup-response", {text("name")}},
    {D::Two, "spawn", V::Spawn, "spawn-response", {}},
};

Error broken(const PmiRow& row, const std::string& what) {
  return Error(ErrorKind::Protocol, "sent \"" + std::string(row.name) + "\" " + what);
}

Result<void> check_field(const PmiRow& row, const PmiField& field, const std::string& value) {
  const std::string key(field.key);
  switch (field.form) {
    case PmiForm::Number:
      if (parse_number<std::int64_t>(value)) return {};
      return broken(row, "with \"" + show(value, 40) + "\" as " + key + ", which is no number");
    case PmiForm::Key:
      if (value.size() > wire::kPmiKey) {
        return broken(row, "with a key of " + std::to_string(value.size()) + " bytes; PMI allows " +
                               std::to_string(wire::kPmiKey));
      }
      if (!value.empty() && wire::has_pmi_form(value)) return {};
      return broken(row, "with \"" + show(value, 40) + "\" as key, which is none");
    case PmiForm::Value:
      if (value.size() > wire::kPmiValue) {
        return broken(row, "with a value of " + std::to_string(value.size()) + " bytes; PMI allows " +
                               std::to_string(wire::kPmiValue));
      }
      if (wire::has_pmi_form(value)) return {};
      return broken(row, "with a " + key + " that PMI cannot carry: \"" + show(value, 40) + "\"");
  }
  return {};
}

}  // namespace

const PmiRow* find_pmi_row(wire::PmiDialect dialect, std::string_view name) {
  const auto* found = std::find_if(std::begin(kRows), std::end(kRows),
                                   [&](const PmiRow& row) { return row.dialect == dialect && row.name == name; });
  return found == std::end(kRows) ? nullptr : found;
}

Result<void> check_pmi(const PmiRow& row, const wire::PmiMessage& message) {
  for (const PmiField& field : row.fields) {
    if (field.key.empty()) continue;
    const std::string* value = message.find(field.key);
    if (value == nullptr) {
      if (field.need == kMay) continue;
      return broken(row, "without " + std::string(field.key));
    }
    if (Result<void> good = check_field(row, field, *value); !good) return good;
  }
  return {};
}

std::int64_t pmi_number(const wire::PmiMessage& message, std::string_view key, std::int64_t without) {
  const std::string* value = message.find(key);
  return value == nullptr ? without : parse_number<std::int64_t>(*value).value_or(without);
}

std::string_view pmi_text(const wire::PmiMessage& message, std::string_view key) {
  const std::string* value = message.find(key);
  return value == nullptr ? std::string_view() : std::string_view(*value);
}

std::string pmi_thread(const wire::PmiMessage& message) { return std::string(pmi_text(message, "thrid")); }

}  // namespace sml::agent

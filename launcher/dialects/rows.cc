#include "launcher/dialects/rows.h"

#include <fmt/format.h>

#include "common/core/text.h"

namespace sml::dialects {

OptionTranslation one(std::string option, std::string value) {
  OptionTranslation out;
  out.options.push_back({std::move(option), std::move(value)});
  return out;
}

OptionTranslation note_of(std::string_view written, std::string_view detail) {
  OptionTranslation out;
  out.note = detail.empty() ? std::string(written) : fmt::format("{} {}", written, show(detail, 60));
  return out;
}

Row computed(std::string_view names, std::size_t values, Translate translate) {
  return {names, values, std::move(translate)};
}

Row optional(Row flag) {
  flag.optional = OptionalValue::AfterEquals;
  return flag;
}

Row one_of(std::string_view choice, Row row) {
  row.choice = choice;
  return row;
}

Row as_option(std::string_view names, std::string_view option) {
  return computed(names, 1, [option](std::string_view, Values values) { return one(std::string(option), values[0]); });
}

Row as_per_host(std::string_view names) {
  return computed(names, 1, [](std::string_view, Values values) {
    OptionTranslation out = one("--nproc-per-node", values[0]);
    out.options.push_back({"--ranks-per-host", values[0]});
    return out;
  });
}

Row as_fixed(std::string_view names, std::vector<SetOption> options) {
  return computed(names, 0, [options = std::move(options)](std::string_view, Values) {
    OptionTranslation out;
    out.options = options;
    return out;
  });
}

Row as_variable(std::string_view names, std::string_view variable) {
  return computed(names, 1, [variable](std::string_view, Values values) {
    return one("-x", fmt::format("{}={}", variable, values[0]));
  });
}

Row as_variable_set(std::string_view names, std::string_view assignment) {
  return as_fixed(names, {{"-x", std::string(assignment)}});
}

Row as_program(std::string_view names, Program kind) {
  return computed(names, 0, [kind](std::string_view, Values) -> Result<OptionTranslation> {
    OptionTranslation out;
    out.program = kind;
    return out;
  });
}

Row as_rendezvous_option(std::string_view names, std::optional<WrittenOption> RendezvousOptions::*member) {
  return computed(names, 1, [member](std::string_view written, Values values) -> Result<OptionTranslation> {
    OptionTranslation out;
    out.rendezvous.*member = {std::string(written), values[0]};
    return out;
  });
}

Row as_is(std::string_view names, std::size_t values) {
  return computed(names, values, [](std::string_view, Values) { return OptionTranslation(); });
}

Row noted(std::string_view names, std::size_t values) {
  return computed(names, values, [](std::string_view written, Values) { return note_of(written); });
}

Row refused(std::string_view names, std::size_t values, std::string_view why) {
  return computed(names, values, [why](std::string_view, Values) { return Error(ErrorKind::Usage, std::string(why)); });
}

}  // namespace sml::dialects

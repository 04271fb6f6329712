// Any text as an array file of two fields: refused with one line, or every line has two fields without commas, and
// comes back when it is written again.
#include "launcher/plan/array_file.h"

#include <cstdint>

#include "tests/fuzz/require.h"

using sml::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto file = sml::plan::parse_array_file(text, "f", {"A", "B"});
  if (file.has_error()) {
    require(file.error().kind() == sml::ErrorKind::Config);
    require(file.error().message().find('\n') == std::string::npos && file.error().message().size() < 200);
    return 0;
  }
  require(!file->lines.empty());
  std::string again = "\xEF\xBB\xBF";  // of which one is dropped
  for (const auto& fields : file->lines) {
    require(fields.size() == 2);
    for (const std::string& field : fields) require(field.find_first_of(std::string_view(",\n\0", 3)) == field.npos);
    again += fields[0] + "," + fields[1] + "\n";
  }
  const auto reread = sml::plan::parse_array_file(again, "f", {"A", "B"});
  require(reread.has_value() && reread->lines == file->lines);
  for (std::uint32_t index = 0; index < 8 && index < file->lines.size(); ++index) {
    const auto task = sml::plan::find_task(*file, {index, 0, "test"});
    require(task.has_value());
    require(sml::plan::fill_in("{A}", file->names, *task) == task->values[0]);
    static_cast<void>(sml::plan::fill_in(text.substr(0, 200), file->names, *task));
  }
  return 0;
}

// The page of --timeline: launcher/report/events/timeline.html, compiled in at build time.
#pragma once
#include <string_view>

namespace sml::report {

// "{{DATA}}" marks where the job's data are inserted, as JSON.
std::string_view timeline_page();

}  // namespace sml::report

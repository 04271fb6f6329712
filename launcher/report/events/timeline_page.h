// The page of --timeline: launcher/report/events/timeline.html, compiled in at build time.
#pragma once
#include <string_view>

namespace sml::report {

// The page's HTML; "{{DATA}}" marks where the caller inserts the job's data, as JSON.
std::string_view timeline_page();

}  // namespace sml::report

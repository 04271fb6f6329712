// The page of --timeline, launcher/report/timeline.html as it was when we were built.
#pragma once
#include <string_view>

namespace sml::report {

// "{{DATA}}" stands where the job's data go, as JSON.
std::string_view timeline_page();

}  // namespace sml::report

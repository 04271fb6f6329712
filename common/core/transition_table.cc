#include "common/core/transition_table.h"

namespace sml {

std::string ignored(std::string_view event, std::string_view before) {
  return "ignored \"" + std::string(event) + "\" while " + std::string(before);
}

}  // namespace sml

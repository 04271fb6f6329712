// Expands one pattern into the names of many hosts: "n[001-003,7]-ib[0-1]". Numbers keep the width of the lower bound,
// as in Slurm's src/common/hostlist.c and pdsh.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"

namespace sml::hosts {

// The bracket that varies fastest if a name has several.
enum class PatternOrder : std::uint8_t {
  LastBracketFastest,  // the order in which a person would list the names
  Slurm,               // the last bracket, then the first, the second, ...: lists of task counts use this order
};

// NAME = 1*( text | "[" range *( "," range ) "]" ); range = number [ "-" number ]. Returns at most `limit` names: a
// larger pattern is refused before it is expanded. The names are not checked with valid_host_name(). Error messages
// (kind Usage) continue a sentence that begins with the quoted name: "has a range that runs backwards; ...".
Result<std::vector<std::string>> expand_name_pattern(std::string_view pattern, PatternOrder order, std::size_t limit);

}  // namespace sml::hosts

// Names of many hosts written as one: "n[001-003,7]-ib[0-1]". Numbers keep the width of the lower bound, as in Slurm's
// src/common/hostlist.c and pdsh.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"

namespace sml::hosts {

// What varies fastest when a name has several brackets.
enum class PatternOrder : std::uint8_t {
  LastBracketFastest,  // as one would write the names by hand
  Slurm,               // the last bracket, then the first, then the second, ...: ranks and task counts pair up by it
};

// NAME = 1*( text | "[" range *( "," range ) "]" ); range = number [ "-" number ]. At most `limit` names: more are
// refused before anything is expanded. What comes out is not yet known to be valid host names. Errors (kind Usage) are
// clauses that go on after the quoted name: "has a range that runs backwards; ...".
Result<std::vector<std::string>> expand_name_pattern(std::string_view pattern, PatternOrder order, std::size_t limit);

}  // namespace sml::hosts

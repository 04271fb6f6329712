// Determines the files of a channel, and their order. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"

namespace sml::fifos {

inline constexpr std::size_t kLargestManifest = std::size_t{256} << 20;

// Parses a manifest in the form of SageMaker's ManifestFile: [{"prefix": "P"}, "key", ...] means the files P + key. A
// prefix that is not absolute is relative to `folder`, the folder of the manifest. Error (Config) names the byte and
// what was expected there: wrong form, no key, an empty key, a NUL byte, or an s3:// prefix.
Result<std::vector<std::string>> parse_manifest(std::string_view text, std::string_view folder);

// The order of `count` objects in an epoch, as indices. It depends only on the seed and the epoch, so it is the same on
// every machine.
std::vector<std::uint32_t> shuffled(std::uint32_t count, std::uint64_t seed, std::uint32_t epoch);

}  // namespace sml::fifos

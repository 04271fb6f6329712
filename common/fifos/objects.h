// Which files make up a channel, and in which order they come. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"

namespace sml::fifos {

inline constexpr std::size_t kLargestManifest = std::size_t{256} << 20;

// A manifest as SageMaker's ManifestFile has it: [{"prefix": "P"}, "key", ...] stands for the files P + key. A prefix
// that is not absolute is relative to `folder`, which is that of the manifest. Error (Config) names the byte and what
// was expected there: not that form, no key, an empty one, a NUL byte, a prefix of s3://.
Result<std::vector<std::string>> parse_manifest(std::string_view text, std::string_view folder);

// Where each of `count` objects is taken from in an epoch: drawn from the seed and the epoch, and the same on every
// machine.
std::vector<std::uint32_t> shuffled(std::uint32_t count, std::uint64_t seed, std::uint32_t epoch);

}  // namespace sml::fifos

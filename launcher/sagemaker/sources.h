// What a job keeps in S3: the archive of its sources, and files that options name. Fetched with the platform's own
// program, aws, or with Python's boto3: no client of ours, no credentials of ours.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "launcher/inputs/this_host.h"
#include "launcher/options/options.h"

namespace sml {

bool is_in_s3(std::string_view path);  // "s3://..."

// The contents of an object, at most `limit` bytes. Blocks as long as the download takes; what the program says goes to
// our stderr. Error (Config) says what could not be done, without the object's name.
Result<std::string> read_from_s3(const std::string& uri, std::size_t limit, const ThisHost& here);

// A file, or an object where `path` is s3://BUCKET/KEY.
Result<std::string> read_file_or_object(const std::string& path, std::size_t limit, const ThisHost& here);

// Puts the sources of a training job where its program is looked for: fetches the archive that
// sagemaker_submit_directory names, or takes it from a file, and unpacks it into FOLDER/code, if that is empty or not
// there; a folder that holds the program already is left alone. Nothing that is unpacked leads out of the folder: an
// archive with such a link, with a device or a FIFO is refused as a whole. Answers warnings. Errors (Config) name the
// archive. Fetches nothing for --dry-run and --check.
Result<std::vector<std::string>> fetch_sources(const Options& options, const ThisHost& here);

}  // namespace sml

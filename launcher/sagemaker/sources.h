// Fetches files of a job from S3: the archive of its sources, and files that options name. Runs the program aws, or
// Python's boto3, of the container; sml-run has neither an S3 client nor credentials of its own.
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

// The contents of an object, at most `limit` bytes. Blocks during the download; output of the program goes to stderr.
// Error (Config) gives the cause, without the object's name.
Result<std::string> read_from_s3(const std::string& uri, std::size_t limit, const ThisHost& here);

// Puts the sources of a training job where its program is looked for. Fetches the archive of
// sagemaker_submit_directory, or takes it from a file, and unpacks it into FOLDER/code if that is empty or missing.
// Changes nothing if some folder has the program already, or the command line names one. Rejects an archive as a whole
// if it has a link that leads out of the folder, a device or a FIFO. Returns warnings. Errors (Config) name the
// archive: also if FOLDER/code has other files, and for --dry-run and --check, which fetch nothing.
Result<std::vector<std::string>> fetch_sources(const Options& options, const ThisHost& here);

}  // namespace sml

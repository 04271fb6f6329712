// Translates custom_mpi_options of a SageMaker job, which are arguments for mpirun, to settings of sml-run. Pure.
// Sources: SageMaker Python SDK, "distribution" of its estimators; mpirun(1) of Open MPI 4.1.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"

namespace sml::sagemaker {

struct MpiOptions {
  // As arguments of -x: NAME or NAME=VALUE, in order; each name once, with its last value.
  std::vector<std::string> export_words;
  std::optional<std::uint32_t> np;  // nullopt: not given
  bool oversubscribe = false;
  bool verbose = false;
  std::vector<std::string> ignored;  // options that affect only mpirun itself, as written
};

// Splits the text into words as a POSIX shell does, but expands no variables or patterns, and parses the words.
Result<MpiOptions> parse_mpi_options(std::string_view text);

// Understands -x, --NCCL_DEBUG, -np (-n, -c), -mca KEY VALUE (OMPI_MCA_KEY=VALUE), --oversubscribe, -verbose. Options
// for mpirun's mapping, binding and output are added to `ignored`. Options have one or two dashes; VALUE is the next
// word or follows "=". The last value wins. Errors (Config) quote the word: any other word, including -h and --help; a
// list of hosts, which the platform provides; a missing value.
Result<MpiOptions> parse_mpi_options(std::span<const std::string> words);

}  // namespace sml::sagemaker

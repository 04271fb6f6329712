// The user's program in a SageMaker container: where it is, of what kind, and the words that start it. No shell.
// Sources: sagemaker-training-toolkit 5.1, _entry_point_type.py, entry_point.py, process.py; SageMaker Python SDK v3,
// sm_train.sh.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "launcher/sagemaker/contract.h"

namespace sml::sagemaker {

enum class EntryKind : std::uint8_t {
  Script,      // python3 NAME
  Package,     // the folder has a setup.py: installed, then python3 -m NAME
  Module,      // python3 -m NAME, as it stands in the folder
  Executable,  // begins with "#!", or is no text: ./NAME
  ShellText,   // any other text: /bin/sh ./NAME
};

struct EntryPoint {
  EntryKind kind = EntryKind::Script;
  std::string name;    // as the job says it
  std::string folder;  // the working directory
};

// The archive in which the sources of a job lie.
struct Archive {
  std::string name;    // s3://..., or a path that ends in .tar.gz; empty: there is none
  std::string holder;  // the folder that holds the program without it; empty: none does
};

// That of sagemaker_submit_directory, else of SAGEMAKER_SUBMIT_DIRECTORY.
Archive find_archive(const Contract& contract, const plan::Environment& environment, const Files& files);

// The name is the hyperparameter sagemaker_program, else SAGEMAKER_PROGRAM, else SM_ENTRY_SCRIPT. The folder is the
// first that holds it of: FOLDER/code, FOLDER/input/data/code, SM_SOURCE_DIR, the parameter sagemaker_submit_directory,
// else SAGEMAKER_SUBMIT_DIRECTORY. Kinds are told apart in this order: *.sh; a folder with setup.py; *.py; a module of
// Python's; a command. Errors (Config): no name, one that leads out of the folder, not found (with the folders that
// were looked at), sources that are still in an archive.
Result<EntryPoint> find_entry_point(const Contract& contract, const plan::Environment& environment, const Files& files);

// Program and arguments.
std::vector<std::string> command_of(const EntryPoint& entry, const std::vector<std::string>& arguments);

// What is to be run in the folder before any worker, once on each host; each a program with its arguments.
std::vector<std::vector<std::string>> installations_of(const EntryPoint& entry, const Files& files);

}  // namespace sml::sagemaker

// Finds the user's program in a SageMaker container: its folder, its kind, and the command that starts it, without a
// shell.
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
  Package,     // the folder has a setup.py: is installed, then python3 -m NAME
  Module,      // python3 -m NAME, directly in the folder
  Executable,  // begins with "#!", or is binary: ./NAME
  ShellText,   // any other text: /bin/sh ./NAME
};

struct EntryPoint {
  EntryKind kind = EntryKind::Script;
  std::string name;    // as given in the job
  std::string folder;  // the working directory
};

// The archive with the sources of a job.
struct Archive {
  std::string name;    // s3://..., or a path that ends in .tar.gz; empty: none
  std::string holder;  // the folder that already has the program; empty: none
};

// The archive of sagemaker_submit_directory, else of SAGEMAKER_SUBMIT_DIRECTORY.
Archive find_archive(const Contract& contract, const plan::Environment& environment, const FileAccess& files);

// Finds the program. Its name is the hyperparameter sagemaker_program, else SAGEMAKER_PROGRAM, else SM_ENTRY_SCRIPT.
// Its folder is the first with that program among: FOLDER/code, FOLDER/input/data/code, SM_SOURCE_DIR, the parameter
// sagemaker_submit_directory, else SAGEMAKER_SUBMIT_DIRECTORY. FOLDER is Contract::folder. Its kind is determined in
// this order: *.sh; a folder with setup.py; *.py; a Python module; a command.
// In a job of version 3 of the SDK, SM_ENTRY_SCRIPT, else the entry_script of sourcecode.json, comes before the other
// names, FOLDER/input/data/code before the other folders, and a setup.py has no effect.
// Errors (Config): no name; a name that leads out of the folder; not found (lists the folders searched); sources that
// are still in an archive.
Result<EntryPoint> find_entry_point(const Contract& contract, const plan::Environment& environment,
                                    const FileAccess& files);

// The command of the workers: the program, started as its kind requires, and `arguments`.
std::vector<std::string> command_of(const EntryPoint& entry, const std::vector<std::string>& arguments);

// The commands to run in the folder before any worker starts, once on each host; each a program with its arguments. In
// a job of version 3 of the SDK its own script has installed what is wanted.
std::vector<std::vector<std::string>> installations_of(const EntryPoint& entry, const FileAccess& files);

}  // namespace sml::sagemaker

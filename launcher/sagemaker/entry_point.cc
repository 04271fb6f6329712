#include "launcher/sagemaker/entry_point.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/core/text.h"

namespace sml::sagemaker {

namespace {

constexpr std::string_view kPython = "python3";

std::string join(const std::string& folder, std::string_view name) {
  return fmt::format("{}{}{}", folder, folder.ends_with('/') ? "" : "/", name);
}

// The entry script of a job of version 3 of the SDK; empty if it has none, which its environment.py writes as "null".
std::string entry_script(const Contract& contract, const plan::Environment& environment, const FileAccess& files) {
  constexpr std::size_t kMostOfFile = std::size_t{1} << 20;
  const std::string_view name = plan::variable(environment, "SM_ENTRY_SCRIPT");
  if (!name.empty() && name != "null") return std::string(name);
  const std::string path = contract.folder + std::string(kV3Scripts) + "/sourcecode.json";
  const Result<std::string> text =
      files.exists(path) ? read_job_file(files, path, kMostOfFile) : Result<std::string>("");
  const Result<Value> root = parse_json(text ? *text : "");
  const auto* object = root ? std::get_if<Object>(&root->data) : nullptr;
  const Value* script = object == nullptr ? nullptr : find(*object, "entry_script");
  const auto* written = script == nullptr ? nullptr : std::get_if<std::string>(&script->data);
  return written == nullptr ? std::string() : *written;
}

std::string name_of_program(const Contract& contract, const plan::Environment& environment, const FileAccess& files) {
  if (contract.sdk == Sdk::V3) {
    if (std::string script = entry_script(contract, environment, files); !script.empty()) return script;
  }
  if (std::optional<std::string> name = parameter_text(contract, "sagemaker_program")) return *name;
  const std::string_view name = plan::variable(environment, "SAGEMAKER_PROGRAM");
  return std::string(name.empty() ? plan::variable(environment, "SM_ENTRY_SCRIPT") : name);
}

// True if the name stays within the folder, and a program cannot mistake it for an option.
bool stays_inside(std::string_view name) {
  const bool odd = name.starts_with('/') || name.starts_with('-') || name.find('\0') != name.npos;
  const std::string framed = fmt::format("/{}/", name);
  return !odd && framed.find("/../") == framed.npos;
}

std::string module_file(std::string_view name) {
  std::string path(name);
  std::replace(path.begin(), path.end(), '.', '/');
  return path;
}

bool is_module(const std::string& folder, const std::string& name, const FileAccess& files) {
  const std::string path = join(folder, module_file(name));
  return files.exists(path + ".py") || files.exists(path + "/__main__.py");
}

bool is_package(const std::string& folder, Sdk sdk, const FileAccess& files) {
  return sdk == Sdk::V2 && files.exists(join(folder, "setup.py"));
}

bool holds(const std::string& folder, const std::string& name, Sdk sdk, const FileAccess& files) {
  const bool package = is_package(folder, sdk, files);
  return package || files.exists(join(folder, name)) || is_module(folder, name, files);
}

// With "#!", or binary: the kernel can execute it.
EntryKind kind_of_command(const std::string& path, const FileAccess& files) {
  constexpr std::size_t kMaxScript = std::size_t{1} << 20;
  const Result<std::string> text = files.read(path, kMaxScript);
  const bool shell = text && !text->starts_with("#!") && text->find('\0') == std::string::npos;
  return shell ? EntryKind::ShellText : EntryKind::Executable;
}

EntryKind kind_of(const std::string& folder, const std::string& name, Sdk sdk, const FileAccess& files) {
  const std::string path = join(folder, name);
  if (name.ends_with(".sh")) return kind_of_command(path, files);
  if (is_package(folder, sdk, files)) return EntryKind::Package;
  if (name.ends_with(".py")) return EntryKind::Script;
  if (!files.exists(path) || files.exists(path + "/__main__.py")) return EntryKind::Module;
  return kind_of_command(path, files);
}

std::string submitted_of(const Contract& contract, const plan::Environment& environment) {
  std::string submitted = parameter_text(contract, "sagemaker_submit_directory").value_or("");
  if (submitted.empty()) submitted = plan::variable(environment, "SAGEMAKER_SUBMIT_DIRECTORY");
  return submitted;
}

bool is_archive(std::string_view submitted) {
  return submitted.find("://") != submitted.npos || submitted.ends_with(".tar.gz");
}

// The folders that may have the program, in order of preference.
std::vector<std::string> folders_of(const Contract& contract, const plan::Environment& environment) {
  std::vector<std::string> folders{contract.folder + "/code", contract.folder + std::string(kV3Sources)};
  if (contract.sdk == Sdk::V3) std::reverse(folders.begin(), folders.end());
  if (const std::string_view source = plan::variable(environment, "SM_SOURCE_DIR"); !source.empty())
    folders.emplace_back(source);
  std::string submitted = submitted_of(contract, environment);
  if (!submitted.empty() && !is_archive(submitted)) folders.push_back(std::move(submitted));
  return folders;
}

// The first folder with the program; empty if none has it.
std::string find_folder(const std::vector<std::string>& folders, const std::string& name, Sdk sdk,
                        const FileAccess& files) {
  const auto found = std::find_if(folders.begin(), folders.end(),
                                  [&](const std::string& folder) { return holds(folder, name, sdk, files); });
  return found == folders.end() ? std::string() : *found;
}

bool is_taken(std::string_view archive) { return archive.starts_with("s3://") || archive.ends_with(".tar.gz"); }

Error not_in_archive(const std::string& name, const std::string& archive) {
  const std::string what = "sagemaker_submit_directory " + show(archive);
  return Error(ErrorKind::Config, is_taken(archive) ? fmt::format("{}: it has no {}", what, show(name, 80))
                                                    : what + ": sources are fetched from S3 only")
      .with_hint("put the sources into the image's /opt/ml/code, or into an input channel named code");
}

}  // namespace

Archive find_archive(const Contract& contract, const plan::Environment& environment, const FileAccess& files) {
  const std::string submitted = submitted_of(contract, environment);
  if (!is_taken(submitted)) return {};
  const std::string name = name_of_program(contract, environment, files);
  const bool usable = !name.empty() && stays_inside(name);
  return {submitted, usable ? find_folder(folders_of(contract, environment), name, contract.sdk, files) : ""};
}

Result<EntryPoint> find_entry_point(const Contract& contract, const plan::Environment& environment,
                                    const FileAccess& files) {
  const bool v3 = contract.sdk == Sdk::V3;
  const std::string name = name_of_program(contract, environment, files);
  if (name.empty() && v3) {
    return Error(ErrorKind::Config, "the job names no program: its SourceCode has no entry_script")
        .with_hint("give the entry_script beside the command, or write sml-run train -- python3 train.py");
  }
  if (name.empty()) {
    return Error(ErrorKind::Config,
                 "the job names no program: neither the hyperparameter sagemaker_program nor "
                 "SAGEMAKER_PROGRAM is set")
        .with_hint("give it behind the options: sml-run train -- python3 train.py");
  }
  if (!stays_inside(name)) {
    return Error(ErrorKind::Config, fmt::format("{} \"{}\" leads out of the folder of the sources; "
                                                "expected a name within it",
                                                v3 ? "entry_script" : "sagemaker_program", show(name, 80)));
  }
  const std::vector<std::string> folders = folders_of(contract, environment);
  const std::string folder = find_folder(folders, name, contract.sdk, files);
  if (!folder.empty()) return EntryPoint{kind_of(folder, name, contract.sdk, files), name, folder};
  if (const std::string submitted = submitted_of(contract, environment); is_archive(submitted)) {
    return not_in_archive(name, submitted);
  }
  return Error(ErrorKind::Config, fmt::format("there is no {} in {}", show(name, 80),
                                              show(fmt::format("{}", fmt::join(folders, ", ")), 400)));
}

std::vector<std::string> command_of(const EntryPoint& entry, const std::vector<std::string>& arguments) {
  std::vector<std::string> out;
  const std::string module = entry.name.ends_with(".py") ? entry.name.substr(0, entry.name.size() - 3) : entry.name;
  switch (entry.kind) {
    case EntryKind::Script: out = {std::string(kPython), entry.name}; break;
    case EntryKind::Package:
    case EntryKind::Module: out = {std::string(kPython), "-m", module}; break;
    case EntryKind::Executable: out = {"./" + entry.name}; break;
    case EntryKind::ShellText: out = {"/bin/sh", "./" + entry.name}; break;
  }
  out.insert(out.end(), arguments.begin(), arguments.end());
  return out;
}

std::vector<std::vector<std::string>> installations_of(const EntryPoint& entry, const FileAccess& files) {
  const bool requirements = files.exists(join(entry.folder, "requirements.txt"));
  const bool package = entry.kind == EntryKind::Package;
  if (!requirements && !package) return {};
  std::vector<std::string> pip{std::string(kPython), "-m", "pip", "install"};
  if (package) pip.emplace_back(".");
  if (requirements) pip.insert(pip.end(), {"-r", "requirements.txt"});
  return {std::move(pip)};
}

}  // namespace sml::sagemaker

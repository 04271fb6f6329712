#include "launcher/sagemaker/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>
#include <variant>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/core/input_error.h"
#include "common/core/text.h"
#include "common/os/fd.h"
#include "common/os/own_file.h"
#include "common/os/spawn.h"
#include "common/os/trust.h"
#include "launcher/hosts/resource_config.h"
#include "launcher/report/live/own_line.h"
#include "launcher/sagemaker/contract.h"
#include "launcher/sagemaker/entry_point.h"

namespace sml {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUnfinished = ".sml-sources-";

// ---- programs

// The file to run for a program's name; empty if there is none, or if a printed warning explains why it is not used.
std::string find_helper(const std::string& name, const ThisHost& here) {
  std::vector<std::string> candidates = os::program_candidates(name, here.process.environment);
  std::erase_if(candidates, [](const std::string& file) { return !file.starts_with('/'); });
  const os::TrustedProgram found = os::find_trusted_program(candidates);
  for (const std::string& why : found.passed_over) {
    os::write_all(STDERR_FILENO, report::own_line("warning: " + why) + "\n");
  }
  return found.file;
}

// Runs a command and returns its exit status; its output goes to stderr.
Result<ExitStatus> run(const std::string& file, const std::vector<std::string>& argv, const ThisHost& here) {
  const Result<os::UniqueFd> null = os::open_dev_null();
  if (!null) return null.error();
  const std::vector<int> ignored = os::ignored_signals();
  plan::Environment environment = here.process.environment;  // the program may start others by name, as tar does
  os::keep_trusted_lists(environment);
  const auto spawned = os::spawn_worker({.program = file,
                                         .argv = argv,
                                         .environment = environment,
                                         .working_directory = "/",
                                         .stdin_fd = null->get(),
                                         .stdout_fd = STDERR_FILENO,
                                         .stderr_fd = STDERR_FILENO,
                                         .descriptor_limit = 0,
                                         .ignored_signals = ignored});
  if (const auto* why = std::get_if<SpawnFailed>(&spawned)) return ExitStatus(*why);
  int raw = 0;
  while (::waitpid(std::get<pid_t>(spawned), &raw, 0) < 0) {
    if (errno != EINTR) return sys_error(ErrorKind::Config, argv.front(), errno);
  }
  if (WIFSIGNALED(raw)) return ExitStatus(Signaled{WTERMSIG(raw), false});
  return ExitStatus(Exited{WEXITSTATUS(raw)});
}

Result<void> expect_success(const std::string& file, const std::vector<std::string>& argv, const ThisHost& here) {
  const Result<ExitStatus> status = run(file, argv, here);
  if (!status) return status.error();
  const auto* exited = std::get_if<Exited>(&*status);
  if (exited != nullptr && exited->code == 0) return {};
  return config_error("{} {}", argv.front(), describe(*status));
}

// ---- S3

constexpr int kNoBoto3 = 97;
constexpr std::string_view kFetchScript =
    "import os, sys\n"
    "try:\n"
    "    import boto3\n"
    "except ImportError:\n"
    "    sys.exit(97)\n"
    "bucket, _, key = sys.argv[1][5:].partition('/')\n"
    "s3 = boto3.resource('s3', region_name=sys.argv[3] or None, endpoint_url=sys.argv[4] or None)\n"
    "s3.Bucket(bucket).download_file(key, sys.argv[2])\n";

Result<void> fetch(const std::string& uri, const std::string& file, const ThisHost& here) {
  if (uri.find('\0') != std::string::npos) return config_error("the name holds a NUL byte");
  const std::string region = variable(here, "AWS_REGION");
  const std::string endpoint = variable(here, "S3_ENDPOINT_URL");
  if (const std::string aws = find_helper("aws", here); !aws.empty()) {
    std::vector<std::string> argv{"aws", "s3", "cp", "--only-show-errors"};
    if (!region.empty()) argv.insert(argv.end(), {"--region", region});
    if (!endpoint.empty()) argv.insert(argv.end(), {"--endpoint-url", endpoint});
    argv.insert(argv.end(), {uri, file});
    return expect_success(aws, argv, here);
  }
  Error neither = config_error("there is neither the program aws nor Python's boto3 to fetch it with");
  const std::string python = find_helper("python3", here);
  if (python.empty()) return neither;
  const Result<ExitStatus> status =
      run(python, {"python3", "-c", std::string(kFetchScript), uri, file, region, endpoint}, here);
  if (!status) return status.error();
  const auto* exited = std::get_if<Exited>(&*status);
  if (exited != nullptr && exited->code == kNoBoto3) return neither;
  if (exited != nullptr && exited->code == 0) return {};
  return config_error("python3, with boto3, " + describe(*status));
}

// A temporary folder; removed with its contents by the destructor.
class Scratch {
 public:
  static Result<Scratch> make(const std::string& where) {
    std::string path = fmt::format("{}/{}XXXXXX", where, kUnfinished);
    if (::mkdtemp(path.data()) == nullptr) return sys_error(ErrorKind::Config, where, errno);
    return Scratch(std::move(path));
  }
  // Error (Config): another user can exchange the folder, or what is in it.
  static Result<Scratch> make_where_nobody_else_writes(const std::string& where) {
    Result<Scratch> made = make(where);
    if (!made) return made;
    const Result<void> trusted = os::check_trust(made->path_);
    if (trusted) return made;
    ::rmdir(std::exchange(made->path_, {}).c_str());  // not what another may have put in its place
    return config_error("nothing is put into {}, as {}", show(where), trusted.error().message());
  }
  Scratch(Scratch&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  explicit Scratch(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// ---- archives

bool is_below(const fs::path& path, const fs::path& folder) {
  const auto [end, unused] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end();
}

// A file with several names must have all of them in the folder: otherwise another name belongs to a file outside.
using Links = std::map<std::pair<dev_t, ino_t>, std::pair<nlink_t, nlink_t>>;  // names found, link count

Result<void> check_entry(const fs::path& path, const fs::path& root, Links& links) {
  const auto shown = [&] { return show(path.lexically_relative(root).string(), 100); };
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return sys_error(ErrorKind::Config, shown(), errno);
  if (S_ISLNK(status.st_mode)) {
    std::error_code error;
    const fs::path target = fs::read_symlink(path, error);
    const fs::path whole = (path.parent_path() / target).lexically_normal();
    if (!error && target.is_relative() && is_below(whole, root)) return {};
    return config_error("{} is a link that leads out of the folder", shown());
  }
  if (S_ISDIR(status.st_mode)) return {};
  if (!S_ISREG(status.st_mode)) return config_error("{} is no file, folder or link", shown());
  if (status.st_nlink > 1) {
    auto& [found, all] = links[{status.st_dev, status.st_ino}];
    found += 1;
    all = status.st_nlink;
  }
  constexpr mode_t kUsual = 0777;  // without the set-user-ID, set-group-ID and sticky bits
  return ::chmod(path.c_str(), status.st_mode & kUsual) == 0 ? Result<void>()
                                                             : sys_error(ErrorKind::Config, shown(), errno);
}

Result<void> check_tree(const fs::path& root) {
  Links links;
  std::error_code error;
  for (fs::recursive_directory_iterator at(root, error), end; !error && at != end; at.increment(error)) {
    if (Result<void> checked = check_entry(at->path(), root, links); !checked) return checked;
  }
  if (error) return config_error(error.message());
  for (const auto& [file, counts] : links) {
    if (counts.first != counts.second) return config_error("it holds a link to a file outside");
  }
  return {};
}

// The tar of GNU and of BusyBox writes nothing outside of the folder; the contents are checked before they are used.
Result<void> unpack(const std::string& archive, const std::string& folder, const Scratch& scratch,
                    const ThisHost& here) {
  const fs::path tree = fs::path(scratch.path()) / "tree";
  std::error_code error;
  fs::create_directory(tree, error);
  if (error) return config_error(error.message());
  const std::string tar = find_helper("tar", here);
  if (tar.empty()) return config_error("there is no program tar to unpack it with");
  Result<void> unpacked = expect_success(tar, {"tar", "-x", "-z", "-o", "-f", archive, "-C", tree.string()}, here);
  if (!unpacked) return unpacked;
  if (Result<void> checked = check_tree(tree); !checked) return checked;
  for (fs::directory_iterator at(tree, error), end; !error && at != end; at.increment(error)) {
    fs::rename(at->path(), fs::path(folder) / at->path().filename(), error);
    if (error) break;
  }
  return error ? Result<void>(config_error(error.message())) : Result<void>();
}

// True if the folder has nothing but remains of an interrupted attempt.
bool is_empty(const std::string& folder) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (!at->path().filename().string().starts_with(kUnfinished)) return false;
  }
  return true;
}

bool close_to_others(int folder, struct stat status) {
  const std::string name = fmt::format("/proc/self/fd/{}", folder);
  status.st_mode &= 07775;
  if (os::others_can_write(folder, status)) status.st_mode &= 07755;
  return ::chmod(name.c_str(), status.st_mode) == 0;
}

// Creates the folder if needed, and checks that no other user has put, or can put, a program there. A folder in which
// others may write but delete only own files, like /tmp, is shared on purpose: its mode is not changed, and it is
// rejected. So is one below a folder that others can change, other than SageMaker's own.
Result<void> claim_folder(const std::string& folder) {
  const Result<os::Place> place = os::find_place(folder + "/" + std::string(kUnfinished), os::Folders::AreMade);
  if (!place) return config_error(place.error().message());
  struct stat status {};
  const int fd = place->folder.get();
  if (::fstat(fd, &status) != 0) return config_error("{}: {}", show(folder), errno_text(errno));
  if (status.st_uid != 0 && status.st_uid != ::geteuid()) {
    return config_error("{} belongs to user {}, who could change the program", show(folder), status.st_uid);
  }
  if (os::others_can_write(fd, status)) {
    const bool shared = (status.st_mode & S_ISVTX) != 0;
    if (shared || !close_to_others(fd, status)) {
      return config_error("others can write in {}, and so change the program", show(folder));
    }
  }
  const Result<void> trusted = hosts::belongs_to_sagemaker(folder) ? Result<void>() : os::check_trust(folder);
  return trusted ? trusted : config_error("others could change the program, as " + trusted.error().message());
}

Result<void> put_sources(const std::string& archive, const std::string& folder, const ThisHost& here) {
  if (Result<void> claimed = claim_folder(folder); !claimed) return claimed;
  const Result<Scratch> scratch = Scratch::make(folder);
  if (!scratch) return scratch.error();
  if (!is_in_s3(archive)) return unpack(archive, folder, *scratch, here);
  const std::string file = scratch->path() + "/archive";
  if (Result<void> fetched = fetch(archive, file, here); !fetched) return fetched;
  return unpack(file, folder, *scratch, here);
}

}  // namespace

bool is_in_s3(std::string_view path) { return path.starts_with("s3://"); }

Result<std::string> read_from_s3(const std::string& uri, std::size_t limit, const ThisHost& here) {
  const std::string temporary = variable(here, "TMPDIR");
  const Result<Scratch> scratch = Scratch::make_where_nobody_else_writes(temporary.empty() ? "/tmp" : temporary);
  if (!scratch) return scratch.error();
  const os::UniqueFd folder(::open(scratch->path().c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) return sys_error(ErrorKind::Config, show(scratch->path()), errno);
  if (Result<void> fetched = fetch(uri, scratch->path() + "/object", here); !fetched) return fetched.error();
  return here.files.read(fmt::format("/proc/self/fd/{}/object", folder.get()), limit);
}

Result<std::vector<std::string>> fetch_sources(const Options& options, const ThisHost& here) {
  const Result<sagemaker::Contract> contract =
      sagemaker::read_contract(here.process.environment, here.files, here.names.own);
  if (!contract) return contract.error();
  const sagemaker::Archive archive = sagemaker::find_archive(*contract, here.process.environment, here.files);
  std::vector<std::string> warnings;
  if (archive.name.empty()) return warnings;
  const std::string what = "sagemaker_submit_directory " + show(archive.name);
  if (!options.command.empty() || !archive.holder.empty()) {
    const std::string why =
        options.command.empty() ? archive.holder + " holds the program" : "the command line names one";
    warnings.push_back(fmt::format("{} is not fetched: {}", what, show(why)));
    return warnings;
  }
  const std::string folder = contract->folder + "/code";
  if (!is_empty(folder)) {
    return config_error("{} is not fetched: {} is not empty, and has no program of that name", what, show(folder));
  }
  if (options.dry_run || options.check == Preflight::Yes) {
    return config_error("{}: --dry-run and --check fetch nothing, and the program is in there", what);
  }
  if (Result<void> put = put_sources(archive.name, folder, here); !put) {
    return config_error("{}: {}", what, put.error().message())
        .with_hint("put the sources into the image's /opt/ml/code, or into an input channel named code");
  }
  return warnings;
}

}  // namespace sml

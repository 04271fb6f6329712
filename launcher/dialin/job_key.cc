#include "launcher/dialin/job_key.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include <boost/asio/ip/address.hpp>

#include "common/core/text.h"
#include "launcher/dialin/key.h"
#include "launcher/dialin/munge.h"
#include "launcher/dialin/step_space.h"
#include "launcher/inputs/hosts/host_source.h"
#include "launcher/inputs/secret_file.h"
#include "launcher/sagemaker/shared_facts.h"

namespace sml {

namespace {

using std::string_view;

// ---- secrets

struct Secret {
  std::string text;
  std::string source;
};
using FoundSecret = Result<std::optional<Secret>>;

FoundSecret secret_of_file(const ThisHost& here, const std::string& path, SecretKind kind, std::string source) {
  Result<std::string> text = here.secrets.read(path, kind);
  if (!text) return Error(text.error()).in(show(source));
  return std::optional(Secret{std::move(*text), std::move(source)});
}

FoundSecret given_secret(const Options& options, const ThisHost& here) {
  const DialInOptions& o = options.dial_in;
  if (!o.secret_file.empty()) {
    return secret_of_file(here, o.secret_file, SecretKind::Named, "--secret-file " + o.secret_file);
  }
  if (std::string text = variable(here, kSecretVariable); !text.empty()) {
    return std::optional(Secret{std::move(text), fmt::format("${}", kSecretVariable)});
  }
  return std::optional<Secret>();
}

// The secret for all jobs of the user.
FoundSecret own_secret(const ThisHost& here) {
  const std::string folder = here.secrets.config_folder();
  const std::string own = default_secret_file(folder);
  if (folder.empty() || !here.files.exists(own)) return std::optional<Secret>();
  return secret_of_file(here, own, SecretKind::Default, own);
}

Result<void> check_length(const Secret& secret) {
  if (secret.text.size() >= kLeastSecret) return {};
  return Error(ErrorKind::Config, fmt::format("{}: the secret has {} bytes; it must have at least {}, and be random",
                                              show(secret.source), secret.text.size(), kLeastSecret))
      .with_hint("sml-run --make-secret makes one, and so does head -c 32 /dev/urandom | base64");
}

Result<JobKey> key_of_secret(const Secret& secret) {
  if (Result<void> checked = check_length(secret); !checked) return checked.error();
  const Result<dialin::Key> key = dialin::derive_key(secret.text, "sml-run dial-in: secret");
  if (!key) return key.error();
  return JobKey{.key = *key, .proof = "the secret of " + show(secret.source)};
}

// ---- without a secret

// A platform that lets no one else into the network of a job's hosts, and the facts that it gives to all of them.
struct Platform {
  string_view name;
  std::string facts;
};

// The job id has 122 random bits; the other values are the same on all nodes of a job.
std::string facts_of_batch(const ThisHost& here) {
  const std::string id = variable(here, "AWS_BATCH_JOB_ID");
  if (id.empty()) return "";
  return fmt::format("{}\n{}\n{}", id.substr(0, id.find('#')),  // each node of a job has its own "#N"
                     variable(here, "AWS_BATCH_JQ_NAME"), variable(here, "AWS_BATCH_JOB_NUM_NODES"));
}

std::optional<Platform> find_platform(const ThisHost& here) {
  if (std::string facts = facts_of_batch(here); !facts.empty()) return Platform{"AWS Batch", std::move(facts)};
  std::string facts = sagemaker::shared_facts(here.process.environment, here.files);
  if (!facts.empty()) return Platform{"SageMaker", std::move(facts)};
  return std::nullopt;
}

Error no_secret() {
  return Error(ErrorKind::Config, "the hosts of this job share no secret, by which they know each other")
      .with_hint(std::string(advice_on_secrets()));
}

Result<JobKey> key_of_facts(const std::string& facts, const dialin::Settings& settings, std::string advice) {
  const std::string all = fmt::format("{}\n{}\n{}", facts, settings.job, fmt::join(settings.hosts, "\n"));
  const Result<dialin::Key> key = dialin::derive_slowly(all, "sml-run dial-in: job");
  if (!key) return key.error();
  return JobKey{.key = *key, .proof = "facts that all of them get", .advice = std::move(advice)};
}

// ---- in a step of a batch system

using FoundKey = Result<std::optional<JobKey>>;
FoundKey no_key() { return std::optional<JobKey>(); }

FoundKey key_in_space(const Options& options, const ThisHost& here, const dialin::Settings& settings,
                      const hosts::Step& step) {
  std::optional<dialin::StepSpace> space = dialin::find_space(here.process.environment);
  if (!space) return no_key();
  if (!options.dial_in.head.empty()) space->head = dialin::StepSpace::Head::Known;
  JobKey out{.proof = fmt::format("a key in the key space (PMI) of the step of {}", step.starter)};
  if (settings.own_index == 0) {
    Result<dialin::Key> key = dialin::random_key();
    if (!key) return key.error();
    out.key = *key;
  }
  out.space = std::move(space);
  return std::optional(std::move(out));
}

// pbs_mom gives the cookie to the tasks of the job, on all its hosts, and to nobody else.
FoundKey key_of_pbs(const ThisHost& here) {
  const std::string cookie = variable(here, "PBS_JOBCOOKIE");
  const std::string id = variable(here, "PBS_JOBID");
  if (cookie.size() < kLeastSecret || id.empty()) return no_key();
  const Result<dialin::Key> key = dialin::derive_key(cookie, "sml-run dial-in: PBS " + id);
  if (!key) return key.error();
  return std::optional(JobKey{.key = *key, .proof = "the cookie of this job of PBS"});
}

// Names the programs of MUNGE that are passed over, as others may have put them there; empty: none.
std::string munge_passed_over(const ThisHost& here) {
  std::vector<std::string> clauses;
  for (const char* name : {"munge", "unmunge"}) {
    if (here.programs.passed_over_of)
      std::ranges::move(here.programs.passed_over_of(name), std::back_inserter(clauses));
  }
  return clauses.empty() ? std::string() : fmt::format("warning: {}", fmt::join(clauses, "; "));
}

// The key is no secret: it only keeps apart those who call the wrong port.
FoundKey key_with_munge(const ThisHost& here, const hosts::Step& step) {
  std::vector<std::string> names;
  for (const plan::Host& host : step.named) names.push_back(host.name);
  std::shared_ptr<dialin::PeerProof> munge =
      dialin::find_munge(here.process.environment, {.user = ::geteuid(), .hosts = std::move(names)});
  if (!munge) return no_key();
  const Result<dialin::Key> key = dialin::derive_key(step.id, "sml-run dial-in: MUNGE");
  if (!key) return key.error();
  return std::optional(JobKey{
      .key = *key, .proof = "credentials of MUNGE", .advice = munge_passed_over(here), .peer = std::move(munge)});
}

FoundKey key_of_step(const Options& options, const ThisHost& here, const dialin::Settings& settings,
                     const hosts::Step& step) {
  FoundKey found = key_in_space(options, here, settings, step);
  if (found && !*found) found = key_of_pbs(here);
  if (found && !*found) found = key_with_munge(here, step);
  return found;
}

// All tasks of a step start at the same time; a client of NFS sees a new file within a minute.
constexpr Duration kSharedIsThere = std::chrono::seconds(90);

// The maker makes the file in a home that the hosts share; where they do not, the others wait in vain.
Result<JobKey> key_of_shared_home(const Options& options, const ThisHost& here, SecretMaker maker) {
  const std::string folder = here.secrets.config_folder();
  if (folder.empty() || !here.secrets.share) return no_secret();
  const std::string path = default_secret_file(folder);
  const Duration timeout = std::min(options.start_timeout, kSharedIsThere);
  if (Result<void> there = here.secrets.share(path, maker, timeout); !there) {
    return Error(there.error()).with_hint(std::string(advice_on_secrets()));
  }
  const FoundSecret secret = own_secret(here);
  if (!secret) return secret.error();
  return *secret ? key_of_secret(**secret) : no_secret();
}

// Whether the head has an address that no other machine reaches, so that all of the job are processes of this one.
bool is_here(string_view head) {
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(head, error);
  return head == "localhost" || (!error && address.is_loopback());
}

}  // namespace

string_view advice_on_secrets() {
  return "run sml-run --make-secret once and copy ~/.config/sml-run/secret to the other hosts, if they do not share "
         "this home, or give all of them SML_JOB_SECRET or --secret-file FILE; on a closed network: --insecure-job-key";
}

bool key_is_there(const ThisHost& here) {
  if (!variable(here, kSecretVariable).empty() || find_platform(here)) return true;
  const std::string folder = here.secrets.config_folder();
  return !folder.empty() && here.files.exists(default_secret_file(folder));
}

namespace {

Result<JobKey> key_without_step(const Options& options, const ThisHost& here, const dialin::Settings& settings,
                                const std::optional<hosts::Step>& step) {
  const bool insecure = options.dial_in.key == KeyRule::Insecure;
  FoundSecret secret = std::optional<Secret>();
  if (!insecure) secret = own_secret(here);
  if (!secret) return secret.error();
  if (*secret) return key_of_secret(**secret);
  const std::optional<Platform> platform = find_platform(here);
  if (platform) {
    return key_of_facts(
        platform->facts, settings,
        fmt::format(
            "the key of the connections is made of what {} gives this job; for a secret one, set SML_JOB_SECRET "
            "in the job's environment",
            platform->name));
  }
  if (!insecure && !step && !is_here(settings.head)) return no_secret();
  if (!insecure) {
    return key_of_shared_home(options, here, !step || step->rank == 0 ? SecretMaker::ThisHost : SecretMaker::Another);
  }
  return key_of_facts("", settings,
                      fmt::format("warning: --insecure-job-key: whoever reaches port {} of the head and guesses the "
                                  "names of the job and its hosts can take the place of a host or of the head",
                                  settings.port));
}

}  // namespace

Result<JobKey> find_job_key(const Options& options, const ThisHost& here, const dialin::Settings& settings,
                            const std::optional<hosts::Step>& step) {
  FoundSecret secret = given_secret(options, here);
  if (!secret) return secret.error();
  if (*secret) return key_of_secret(**secret);
  const bool asks_step = step && options.dial_in.key != KeyRule::Insecure;
  if (asks_step) {
    FoundKey found = key_of_step(options, here, settings, *step);
    if (!found) return found.error();
    if (*found) return std::move(**found);
  }
  Result<JobKey> key = key_without_step(options, here, settings, step);
  if (key && asks_step && key->advice.empty()) key->advice = munge_passed_over(here);
  return key;
}

}  // namespace sml

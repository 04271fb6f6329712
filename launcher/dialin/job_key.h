// The key by which the hosts of a job authenticate each other when they call the coordinator.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/core/error.h"
#include "launcher/dialin/peer_proof.h"
#include "launcher/dialin/settings.h"
#include "launcher/hosts/step.h"
#include "launcher/inputs/this_host.h"
#include "launcher/options/options.h"

namespace sml {

struct JobKey {
  dialin::Key key{};
  std::string proof;                          // for people: what it is, "the cookie of this job of PBS"
  std::string advice{};                       // a message for people; empty: none
  std::shared_ptr<dialin::PeerProof> peer{};  // see Settings::peer_proof
  std::optional<dialin::StepSpace> space{};   // see Settings::space
};

// Finds what the hosts know each other by, the first of:
//   1. a secret that the user gives: --secret-file, $SML_JOB_SECRET
//   2. the key space of the step that has started sml-run on each host
//   3. the cookie that PBS gives to the tasks of a job
//   4. credentials of MUNGE, in a step
//   5. the user's own secret file
//   6. what SageMaker or AWS Batch tell the hosts of a job, as those platforms isolate them
//   7. the user's own secret file, made now: in a step by the first host, and the others wait for it; by each if the
//      head has a loopback address, so that all are processes of this machine
// --insecure-job-key replaces 2 to 5, and 7, by facts that all hosts know. A key of facts takes a tenth of a second,
// which each guess of an attacker costs, too. All hosts of a job have to come to the same result, so that 2 to 4 and 7
// depend on what a step gives to all of them. Error (Usage or Config): there is nothing, with advice; or a file cannot
// be trusted.
Result<JobKey> find_job_key(const Options& options, const ThisHost& here, const dialin::Settings& settings,
                            const std::optional<hosts::Step>& step);

// Whether a key can be made without an option: from the variable, the user's own file or a platform. Does not check
// that the secret can be trusted.
bool key_is_there(const ThisHost& here);

// Advice for users that have no secret.
std::string_view advice_on_secrets();

}  // namespace sml

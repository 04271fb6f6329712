// The key by which the hosts of a job and the coordinator authenticate each other.
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
  dialin::Key key{};                          // with a `space`, no key yet, except on the first host
  std::string proof;                          // for people: where it comes from, "the cookie of this job of PBS"
  std::string advice{};                       // a message for people; empty: none
  std::shared_ptr<dialin::PeerProof> peer{};  // what each side shows beyond the key; null: the key suffices
  std::optional<dialin::StepSpace> space{};   // from which meet_in_space() takes the key; nullopt: `key` is complete
};

// Makes the key from the first of these that this host has:
//   1. a secret that the user gives: --secret-file, $SML_JOB_SECRET
//   2. the key space of the step that has started sml-run on each host
//   3. the cookie that PBS gives to the tasks of a job
//   4. credentials of MUNGE, in a step
//   5. the user's own secret file
//   6. facts that SageMaker or AWS Batch give to the hosts of a job: those platforms isolate the network of a job
//   7. the user's own secret file, made now: in a step by the first host, for which the others wait, or by any host if
//      the coordinator has a loopback address, since all hosts are then processes of this machine; else an error
// --insecure-job-key replaces 2 to 5, and 7, by facts that all hosts know and an attacker may guess. To derive a key
// from facts takes 0.1 s, for each guess of an attacker, too. All hosts of a job have to find the same key; 2 to 4 and
// 7 depend only on what a step gives to all of them. `step`: the step that has started sml-run on each host; nullopt:
// none. Blocks: reads files, may run munge, and waits for the file of 7 for 90 s at most. Error (Usage, Config or
// Timeout): no such thing is there, with advice; or a file cannot be trusted.
Result<JobKey> find_job_key(const Options& options, const ThisHost& here, const dialin::Settings& settings,
                            const std::optional<hosts::Step>& step);

// Whether a key can be made without an option and without a step: from $SML_JOB_SECRET, the user's own secret file or a
// platform. Does not check that the secret can be trusted.
bool key_is_there(const ThisHost& here);

// Advice for users that have no secret.
std::string_view advice_on_secrets();

}  // namespace sml

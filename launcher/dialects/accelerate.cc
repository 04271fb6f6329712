// accelerate launch of Hugging Face's Accelerate 1 (commands/launch.py, utils/launch.py,
// commands/config/config_args.py): passes the numbers of hosts and processes to torchrun, and other settings to the
// workers in variables.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "common/core/letters.h"
#include "common/core/text.h"
#include "common/plan/environment/worker_env.h"
#include "launcher/dialects/config_lines.h"
#include "launcher/dialects/rows.h"
#include "launcher/plan/env_file.h"

namespace sml::dialects {

namespace {

using std::string_view;

constexpr string_view kItsOwn =
    "sml-run does not prepare this; Accelerate's own launcher does, and sml-run starts that on each host: sml-run -H "
    "HOST:1,... sh -c 'python3 -m accelerate.commands.launch --machine_rank $GROUP_RANK ...'";
// Accelerate allows only one of these; on the command line, it replaces that of its file.
constexpr string_view kKind = "kind of job";
constexpr string_view kUsesFsdp = "ACCELERATE_USE_FSDP=true";
constexpr string_view kUsesCpu = "ACCELERATE_USE_CPU=true";

Result<OptionTranslation> machines(string_view written, Values values) {
  OptionTranslation out;
  set_host_count(out.rendezvous, std::string(written), values[0]);
  out.rendezvous.naming_option = "--main_process_ip ADDRESS and --machine_rank N";
  return out;
}

// In files, -1 means that the number must be given on the command line.
Result<OptionTranslation> processes(string_view, Values values) {
  return values[0] == "-1" ? OptionTranslation() : one("--np", values[0]);
}

// 0: any free port.
Result<OptionTranslation> port(string_view written, Values values) {
  if (values[0] == "0") return note_of(written, "0");
  OptionTranslation out;
  out.rendezvous.port = {std::string(written), values[0]};
  return out;
}

Result<OptionTranslation> rendezvous(string_view written, Values values) {
  return values[0] == "static" ? OptionTranslation() : torch_rendezvous_backend(written, values);
}

Result<OptionTranslation> on_processors(string_view written, Values) {
  OptionTranslation out;
  out.options = {{"-x", std::string(kUsesCpu)}};
  out.rendezvous.one_each = {std::string(written), ""};
  return out;
}

Result<OptionTranslation> mixed_precision(string_view, Values values) {
  const std::string kind = lower(values[0]);
  if (kind == "fp8") return Error(ErrorKind::Usage, std::string(kItsOwn));
  if (kind == "no" || kind == "fp16" || kind == "bf16") return one("-x", "ACCELERATE_MIXED_PRECISION=" + kind);
  return bad_value(values[0], "no, fp16, bf16 or fp8");
}

Result<OptionTranslation> dynamo_backend(string_view, Values values) {
  return one("-x", "ACCELERATE_DYNAMO_BACKEND=" + upper(values[0]));
}

Result<OptionTranslation> gpu_ids(string_view, Values values) {
  return values[0] == "all" ? OptionTranslation() : one("-x", "CUDA_VISIBLE_DEVICES=" + values[0]);
}

// An option whose value is passed as true or false in lower case.
Row as_switch_variable(string_view names, string_view variable) {
  return computed(names, 1, [variable](string_view, Values values) {
    return one("-x", fmt::format("{}={}", variable, lower(values[0])));
  });
}

bool is_assigned(std::span<const SetOption> given, string_view variable) {
  return std::any_of(given.begin(), given.end(),
                     [&](const SetOption& g) { return g.option == "-x" && plan::name_of(g.value) == variable; });
}

bool is_set(std::span<const SetOption> given, string_view assignment) {
  return std::find(given.begin(), given.end(), SetOption{"-x", std::string(assignment)}) != given.end();
}

// The defaults of Accelerate's parser.
constexpr std::array<string_view, 11> kFsdpDefaults{
    "FSDP_VERSION=1",
    "FSDP_SHARDING_STRATEGY=FULL_SHARD",
    "FSDP_RESHARD_AFTER_FORWARD=true",
    "FSDP_OFFLOAD_PARAMS=false",
    "FSDP_MIN_NUM_PARAMS=100000000",
    "FSDP_FORWARD_PREFETCH=false",
    "FSDP_USE_ORIG_PARAMS=true",
    "FSDP_CPU_RAM_EFFICIENT_LOADING=true",
    "FSDP_SYNC_MODULE_STATES=true",
    "FSDP_ACTIVATION_CHECKPOINTING=false",
    "FSDP_ACTIVATION_CHECKPOINTING_OFFLOAD=false",
};

// --num_processes counts the processes of all machines, which have equal numbers.
std::string per_machine(const DialectInput& input) {
  const std::optional<std::uint32_t> all = parse_number<std::uint32_t>(last_given(input.given, "--np"));
  const std::optional<std::uint32_t> machines =
      parse_number<std::uint32_t>(input.rendezvous.hosts ? input.rendezvous.hosts->value : "1");
  if (!all || !machines || *machines == 0) return "auto";
  return std::to_string(std::max(*all / *machines, 1U));
}

// Fully sharded data parallel: the library reads these variables in the worker.
std::vector<Row> fsdp_rows() {
  return {
      one_of(kKind, as_variable_set("use-fsdp", kUsesFsdp)),
      as_variable("fsdp-version", "FSDP_VERSION"),
      as_variable("fsdp-sharding-strategy", "FSDP_SHARDING_STRATEGY"),
      as_variable("fsdp-min-num-params", "FSDP_MIN_NUM_PARAMS"),
      as_variable("fsdp-auto-wrap-policy", "FSDP_AUTO_WRAP_POLICY"),
      as_variable("fsdp-transformer-layer-cls-to-wrap", "FSDP_TRANSFORMER_CLS_TO_WRAP"),
      as_variable("fsdp-backward-prefetch", "FSDP_BACKWARD_PREFETCH"),
      as_variable("fsdp-state-dict-type", "FSDP_STATE_DICT_TYPE"),
      as_variable("fsdp-ignored-modules", "FSDP_IGNORED_MODULES"),
      as_switch_variable("fsdp-reshard-after-forward", "FSDP_RESHARD_AFTER_FORWARD"),
      as_switch_variable("fsdp-offload-params", "FSDP_OFFLOAD_PARAMS"),
      as_switch_variable("fsdp-forward-prefetch", "FSDP_FORWARD_PREFETCH"),
      as_switch_variable("fsdp-use-orig-params", "FSDP_USE_ORIG_PARAMS"),
      as_switch_variable("fsdp-cpu-ram-efficient-loading", "FSDP_CPU_RAM_EFFICIENT_LOADING"),
      as_switch_variable("fsdp-sync-module-states", "FSDP_SYNC_MODULE_STATES"),
      as_switch_variable("fsdp-activation-checkpointing", "FSDP_ACTIVATION_CHECKPOINTING"),
      as_switch_variable("fsdp-activation-checkpointing-offload", "FSDP_ACTIVATION_CHECKPOINTING_OFFLOAD"),
  };
}

// Options of the kinds of jobs that sml-run does not prepare: without the option that selects the kind, which is
// rejected, they have no effect with Accelerate either.
std::vector<Row> rows_of_other_kinds() {
  return {
      // --use_deepspeed
      noted("deepspeed-config-file zero-stage offload-optimizer-device offload-param-device "
            "offload-optimizer-nvme-path offload-param-nvme-path gradient-accumulation-steps "
            "gradient-clipping zero3-init-flag zero3-save-16bit-model deepspeed-hostfile "
            "deepspeed-exclusion-filter deepspeed-inclusion-filter deepspeed-multinode-launcher "
            "deepspeed-moe-layer-cls-names",
            1),
      // --use_megatron_lm
      noted("megatron-lm-tp-degree megatron-lm-use-custom-fsdp megatron-lm-no-load-optim "
            "megatron-lm-eod-mask-loss megatron-lm-overlap-cpu-optimizer-d2h-h2d megatron-lm-no-save-optim "
            "megatron-lm-optimizer-cpu-offload megatron-lm-use-precision-aware-optimizer "
            "megatron-lm-decoder-last-pipeline-num-layers megatron-lm-pp-degree "
            "megatron-lm-num-micro-batches megatron-lm-sequence-parallelism "
            "megatron-lm-recompute-activations megatron-lm-use-distributed-optimizer "
            "megatron-lm-gradient-clipping megatron-lm-recompute-granularity megatron-lm-recompute-method "
            "megatron-lm-recompute-num-layers megatron-lm-attention-backend "
            "megatron-lm-expert-model-parallel-size megatron-lm-context-parallel-size "
            "megatron-lm-attention-dropout megatron-lm-hidden-dropout megatron-lm-attention-softmax-in-fp32 "
            "megatron-lm-expert-tensor-parallel-size megatron-lm-calculate-per-token-loss "
            "megatron-lm-use-rotary-position-embeddings",
            1),
      // --mixed_precision fp8
      noted("fp8-backend fp8-margin fp8-interval fp8-format fp8-amax-history-len fp8-amax-compute-algo "
            "fp8-override-linear-precision fp8-opt-level fp8-enable-fsdp-float8-all-gather fp8-pad-inner-dim",
            1),
      noted("fp8-use-autocast-during-eval", 0),
      // --use_parallelism_config
      noted("parallelism-config-dp-replicate-size parallelism-config-dp-shard-size "
            "parallelism-config-tp-size parallelism-config-cp-size parallelism-config-cp-backend "
            "parallelism-config-cp-comm-strategy parallelism-config-sp-size parallelism-config-sp-backend "
            "parallelism-config-sp-seq-length parallelism-config-sp-seq-length-is-variable "
            "parallelism-config-sp-attn-implementation",
            1),
      // compute_environment: AMAZON_SAGEMAKER
      noted("aws-access-key-id aws-secret-access-key", 1),
  };
}

}  // namespace

std::vector<SetOption> defaults_of_accelerate(const DialectInput& input) {
  std::vector<SetOption> out{{"--no-tag", ""},
                             {"--nproc-per-node", per_machine(input)},
                             {"--host-source", "local"},
                             {"--max-fruitless", "0"},
                             {"--preset", "accelerate"}};
  // Accelerate starts a single process without torchrun, and so without a store.
  if (parse_number<std::uint32_t>(last_given(input.given, "--np")).value_or(1) != 1)
    out.push_back({"--torch-store", ""});
  const auto set = [&](string_view assignment) {
    const string_view name = plan::name_of(assignment);
    const bool set_already = plan::find_variable(input.environment, name) != nullptr || is_assigned(input.given, name);
    if (!set_already) out.push_back({"-x", std::string(assignment)});
  };
  if (!is_set(input.given, kUsesCpu)) set("OMP_NUM_THREADS=1");
  if (is_set(input.given, kUsesFsdp)) {
    for (const string_view assignment : kFsdpDefaults) {
      if (!is_assigned(input.given, plan::name_of(assignment))) out.push_back({"-x", std::string(assignment)});
    }
  }
  if (is_given(input.given, {"--log-dir", "--redirects", "--tee"})) add_torch_log_defaults(input, out);
  return out;
}

std::vector<Row> accelerate_rows() {
  std::vector<Row> rows{
      computed("num-machines", 1, machines),
      as_rendezvous_option("machine-rank", &RendezvousOptions::place),
      as_rendezvous_option("main-process-ip", &RendezvousOptions::address),
      computed("main-process-port", 1, port),
      computed("num-processes", 1, processes),
      computed("mixed-precision", 1, mixed_precision),
      computed("dynamo-backend", 1, dynamo_backend),
      as_variable("dynamo-mode", "ACCELERATE_DYNAMO_MODE"),
      as_variable_set("dynamo-use-fullgraph", "ACCELERATE_DYNAMO_USE_FULLGRAPH=True"),
      as_variable_set("dynamo-use-dynamic", "ACCELERATE_DYNAMO_USE_DYNAMIC=True"),
      as_variable_set("dynamo-use-regional-compilation", "ACCELERATE_DYNAMO_USE_REGIONAL_COMPILATION=True"),
      as_variable("num-cpu-threads-per-process", "OMP_NUM_THREADS"),
      as_variable_set("enable-cpu-affinity", "ACCELERATE_CPU_AFFINITY=1"),
      as_variable_set("debug", "ACCELERATE_DEBUG_MODE=true"),
      one_of(kKind, computed("cpu", 0, on_processors)),
      one_of(kKind, as_is("multi-gpu", 0)),
      computed("gpu-ids", 1, gpu_ids),
      computed("config-file", 1,
               [](string_view, Values values) {
                 OptionTranslation out;
                 out.config_file = values[0];
                 return out;
               }),
      as_option("max-restarts", "--max-restarts"),
      as_streams("t tee", "--tee"),
      as_option("log-dir", "--log-dir"),
      as_option("role", "--role"),
      computed("rdzv-conf", 1, torch_rendezvous_settings),
      computed("rdzv-backend", 1, rendezvous),
      noted("monitor-interval", 1),
      as_is("main-training-function", 1),
      as_is("same-network q quiet no-tpu-cluster", 0),
      one_of(kHowToRun, as_program("m module", Program::Module)),
      one_of(kHowToRun, as_program("no-python", Program::Executable)),
      refused("use-deepspeed use-megatron-lm use-parallelism-config tpu tpu-cluster tpu-use-sudo downcast-bf16", 0,
              kItsOwn),
      refused("vm env mpirun-hostfile mpirun-ccl", 1, kItsOwn),
  };
  for (const std::vector<Row>& more : {fsdp_rows(), rows_of_other_kinds()}) {
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return rows;
}

// ---- Accelerate's settings file

namespace {

// Options for the kind of job that the file gives.
constexpr std::array kKinds{
    std::pair<string_view, string_view>{"FSDP", "--use_fsdp"},
    std::pair<string_view, string_view>{"DEEPSPEED", "--use_deepspeed"},
    std::pair<string_view, string_view>{"MEGATRON_LM", "--use_megatron_lm"},
    std::pair<string_view, string_view>{"XLA", "--tpu"},
    std::pair<string_view, string_view>{"TPU", "--tpu"},
};

// Sections of other kinds of jobs, which are rejected at the line that selects them.
constexpr std::array<string_view, 3> kOtherKinds{"deepspeed_config", "megatron_lm_config", "fp8_config"};

Result<std::vector<std::string>> words_of_kind(string_view kind) {
  const auto* known = std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& k) { return k.first == kind; });
  if (known == kKinds.end()) return std::vector<std::string>();
  return std::vector<std::string>{std::string(known->second)};
}

// The option for a key of the file; in sections, keys of FSDP and Dynamo may lack their prefix.
std::string option_of(const ConfigLine& line) {
  if (line.section.empty() && line.key == "use_cpu") return "--cpu";
  for (const string_view family : {"fsdp", "dynamo"}) {
    const bool bare = line.section == fmt::format("{}_config", family) && !line.key.starts_with(family);
    if (bare) return fmt::format("--{}_{}", family, line.key);
  }
  return "--" + line.key;
}

Result<std::vector<std::string>> words_of(const ConfigLine& line) {
  if (line.section.empty() && line.key == "distributed_type") return words_of_kind(line.value);
  if (line.section.empty() && line.key == "compute_environment") {
    if (line.value == "LOCAL_MACHINE") return std::vector<std::string>();
    return Error(ErrorKind::Config, "compute_environment: " + std::string(kItsOwn));
  }
  if (line.section == "parallelism_config") {  // which selects that kind of job
    return Error(ErrorKind::Config, fmt::format("{}: {}", show(line.key, 60), kItsOwn));
  }
  const std::string option = option_of(line);
  const std::optional<bool> yes = truth(line.value);
  const Row* row = find_row(Dialect::Accelerate, option);
  if (row != nullptr && row->values == 1) return std::vector<std::string>{fmt::format("{}={}", option, line.value)};
  if (yes == false) return std::vector<std::string>();
  if (row != nullptr && yes == true) return std::vector<std::string>{option};
  if (row != nullptr) {
    return Error(ErrorKind::Config, fmt::format("{}: \"{}\" is not true or false", line.key, show(line.value, 60)));
  }
  return Error(ErrorKind::Config, fmt::format("{}: {}", show(line.key, 60), kItsOwn));
}

}  // namespace

std::vector<std::string> config_files_of_accelerate(const DialectInput& input) {
  if (is_set(input.given, kUsesCpu)) return {};
  const auto value = [&](string_view name) {
    const std::string* entry = plan::find_variable(input.environment, name);
    return std::string(entry == nullptr ? "" : plan::value_of(*entry));
  };
  std::string folder = value("HF_HOME");
  const std::string cache = value("XDG_CACHE_HOME");
  const std::string home = value("HOME");
  if (folder.empty() && !cache.empty()) folder = cache + "/huggingface";
  if (folder.empty() && !home.empty()) folder = home + "/.cache/huggingface";
  if (folder.empty()) return {};
  return {folder + "/accelerate/default_config.yaml", folder + "/accelerate/default_config.json"};
}

Result<std::vector<SourcedOption>> options_of_accelerate_config(string_view text, string_view path) {
  if (path.ends_with(".json")) {
    return Error(ErrorKind::Config, show(path) + " is JSON; sml-run reads YAML, as accelerate config writes it");
  }
  Result<std::vector<ConfigLine>> lines = config_lines(text, path);
  if (!lines) return lines.error();
  std::vector<SourcedOption> out;
  for (ConfigLine& line : *lines) {
    const bool other = std::find(kOtherKinds.begin(), kOtherKinds.end(), line.section) != kOtherKinds.end();
    if (other) continue;
    Result<std::vector<std::string>> words = words_of(line);
    if (!words) return Error(words.error()).in(line.where);
    if (!words->empty()) out.push_back({std::move(line.where), std::move(*words)});
  }
  return out;
}

}  // namespace sml::dialects

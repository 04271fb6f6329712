#include "common/plan/environment/kept_back.h"

#include <algorithm>
#include <array>

namespace sml::plan {

namespace {

// How a row of the tables below is compared with a name.
enum class Match : std::uint8_t { Whole, Prefix, Suffix };
struct NamePattern {
  std::string_view text;
  Match match = Match::Whole;
  constexpr bool matches(std::string_view name) const {
    switch (match) {
      case Match::Whole: return name == text;
      case Match::Prefix: return name.starts_with(text);
      case Match::Suffix: return name.ends_with(text);
    }
    return false;
  }
};

constexpr std::array kBoundToHost{
    // the login session
    NamePattern{"HOME"},
    NamePattern{"USER"},
    NamePattern{"LOGNAME"},
    NamePattern{"USERNAME"},
    NamePattern{"SHELL"},
    NamePattern{"MAIL"},
    NamePattern{"SHLVL"},
    NamePattern{"_"},
    NamePattern{"SSH_", Match::Prefix},
    NamePattern{"SUDO_", Match::Prefix},
    NamePattern{"XDG_", Match::Prefix},
    NamePattern{"DBUS_", Match::Prefix},
    NamePattern{"GPG_AGENT_INFO"},
    NamePattern{"BASH_FUNC_", Match::Prefix},
    NamePattern{"BASH_ENV"},
    // the terminal and the display
    NamePattern{"DISPLAY"},
    NamePattern{"WAYLAND_DISPLAY"},
    NamePattern{"XAUTHORITY"},
    NamePattern{"WINDOWID"},
    NamePattern{"TMUX", Match::Prefix},
    NamePattern{"STY"},
    NamePattern{"COLUMNS"},
    NamePattern{"LINES"},
    // the location
    NamePattern{"PWD"},
    NamePattern{"OLDPWD"},
    NamePattern{"HOSTNAME"},
    NamePattern{"HOST"},
    NamePattern{"TMPDIR"},
    NamePattern{"TMP"},
    NamePattern{"TEMP"},
    // the service manager that started the launcher
    NamePattern{"NOTIFY_SOCKET"},
    NamePattern{"INVOCATION_ID"},
    NamePattern{"JOURNAL_STREAM"},
    NamePattern{"LISTEN_FDS"},
    NamePattern{"LISTEN_PID"},
    NamePattern{"LISTEN_FDNAMES"},
    NamePattern{"WATCHDOG_PID"},
    NamePattern{"WATCHDOG_USEC"},
    NamePattern{"MANAGERPID"},
    NamePattern{"SYSTEMD_EXEC_PID"},
    NamePattern{"CREDENTIALS_DIRECTORY"},
    // the devices
    NamePattern{"_VISIBLE_DEVICES", Match::Suffix},
    NamePattern{"NEURON_RT_VISIBLE_CORES"},
    NamePattern{"ZE_AFFINITY_MASK"},
    // the container: SageMaker gives each host its own values
    NamePattern{"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"},
    NamePattern{"CURRENT_HOST"},
    NamePattern{"SM_CURRENT_", Match::Prefix},
    NamePattern{"SM_RESOURCE_CONFIG"},
};

// Exceptions from the names below: settings of the user's that do not describe a worker's place.
constexpr std::array kSettings{
    NamePattern{"PMIX_MCA_", Match::Prefix},
    NamePattern{"TORCHELASTIC_ENABLE_FILE_TIMER"},
    NamePattern{"TORCHELASTIC_HEALTH_CHECK_PORT"},
    NamePattern{"TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE"},
};

constexpr std::array kSetByLaunchers{
    // torchrun and launchers that imitate it
    NamePattern{"RANK"},
    NamePattern{"WORLD_SIZE"},
    NamePattern{"LOCAL_RANK"},
    NamePattern{"LOCAL_WORLD_SIZE"},
    NamePattern{"LOCAL_SIZE"},
    NamePattern{"NODE_RANK"},
    NamePattern{"GROUP_RANK"},
    NamePattern{"GROUP_WORLD_SIZE"},
    NamePattern{"ROLE_NAME"},
    NamePattern{"ROLE_RANK"},
    NamePattern{"ROLE_WORLD_SIZE"},
    NamePattern{"CROSS_RANK"},
    NamePattern{"CROSS_SIZE"},
    NamePattern{"MASTER_ADDR"},
    NamePattern{"MASTER_PORT"},
    NamePattern{"TORCHELASTIC_", Match::Prefix},
    // sml-run
    NamePattern{"SML_", Match::Prefix},
    // horovodrun
    NamePattern{"HOROVOD_HOSTNAME"},
    NamePattern{"HOROVOD_RANK"},
    NamePattern{"HOROVOD_SIZE"},
    NamePattern{"HOROVOD_LOCAL_RANK"},
    NamePattern{"HOROVOD_LOCAL_SIZE"},
    NamePattern{"HOROVOD_CROSS_RANK"},
    NamePattern{"HOROVOD_CROSS_SIZE"},
    NamePattern{"HOROVOD_GLOO_RENDEZVOUS_", Match::Prefix},
    NamePattern{"HOROVOD_GLOO_IFACE"},
    NamePattern{"HOROVOD_CONTROLLER"},
    NamePattern{"HOROVOD_CPU_OPERATIONS"},
    NamePattern{"HOROVOD_ELASTIC"},
    NamePattern{"_HOROVOD_SECRET_KEY"},
    // mpirun of Open MPI
    NamePattern{"OMPI_COMM_WORLD_", Match::Prefix},
    NamePattern{"OMPI_UNIVERSE_SIZE"},
    NamePattern{"OMPI_COMMAND"},
    NamePattern{"OMPI_ARGV"},
    NamePattern{"OMPI_NUM_APP_CTX"},
    NamePattern{"OMPI_FIRST_RANKS"},
    NamePattern{"OMPI_APP_CTX_NUM_PROCS"},
    NamePattern{"OMPI_FILE_LOCATION"},
    NamePattern{"OMPI_MCA_ess"},
    NamePattern{"OMPI_MCA_initial_wdir"},
    NamePattern{"OMPI_MCA_orte_ess_", Match::Prefix},
    NamePattern{"OMPI_MCA_orte_hnp_uri"},
    NamePattern{"OMPI_MCA_orte_local_daemon_uri"},
    NamePattern{"OMPI_MCA_orte_precondition_transports"},
    NamePattern{"OMPI_MCA_orte_launch"},
    NamePattern{"OMPI_MCA_orte_app_num"},
    NamePattern{"OMPI_MCA_orte_num_nodes"},
    NamePattern{"PRTE_LAUNCHED"},
    NamePattern{"PMIX_", Match::Prefix},
    // mpiexec of MPICH and its relatives
    NamePattern{"PMI_", Match::Prefix},
    NamePattern{"MPI_LOCALRANKID"},
    NamePattern{"MPI_LOCALNRANKS"},
    NamePattern{"HYDI_CONTROL_FD"},
    NamePattern{"MPIR_CVAR_CH3_INTERFACE_HOSTNAME"},
    NamePattern{"MV2_COMM_WORLD_", Match::Prefix},
    NamePattern{"PALS_", Match::Prefix},
    // tasks of batch systems; the variables of the allocation stay
    NamePattern{"SLURM_PROCID"},
    NamePattern{"SLURM_LOCALID"},
    NamePattern{"SLURM_NODEID"},
    NamePattern{"SLURM_GTIDS"},
    NamePattern{"SLURM_TASK_PID"},
    NamePattern{"SLURM_STEP_", Match::Prefix},
    NamePattern{"SLURM_STEPID"},
    NamePattern{"FLUX_TASK_", Match::Prefix},
    NamePattern{"JSM_NAMESPACE_", Match::Prefix},
    // frameworks that get their place under their own names
    NamePattern{"TF_CONFIG"},
    NamePattern{"DMLC_ROLE"},
    NamePattern{"DMLC_PS_ROOT_", Match::Prefix},
    NamePattern{"DMLC_NUM_", Match::Prefix},
    NamePattern{"DMLC_NODE_HOST"},
    NamePattern{"DMLC_TASK_ID"},
    NamePattern{"DMLC_WORKER_ID"},
    NamePattern{"DMLC_SERVER_ID"},
    NamePattern{"DMLC_RANK"},
    NamePattern{"DMLC_TRACKER_", Match::Prefix},
    NamePattern{"DMLC_JOB_CLUSTER"},
    NamePattern{"JAX_COORDINATOR_ADDRESS"},
    NamePattern{"JAX_PROCESS_ID"},
    NamePattern{"JAX_NUM_PROCESSES"},
};

// Compares the first character first, as each variable is compared with each row and few of them begin alike.
template <std::size_t N>
bool any_matches(const std::array<NamePattern, N>& patterns, std::string_view name) {
  if (name.empty()) return false;
  const char first = *name.data();
  return std::any_of(patterns.begin(), patterns.end(), [&](const NamePattern& p) {
    return (p.match == Match::Suffix || *p.text.data() == first) && p.matches(name);
  });
}

// If SHLVL is missing, a bash that finds SSH_CLIENT reads .bashrc instead of BASH_ENV.
bool begins_bash(std::string_view name) { return name == "BASH_ENV" || name == "SHLVL" || names_bash_function(name); }

}  // namespace

bool bound_to_host(std::string_view name) { return any_matches(kBoundToHost, name); }

bool set_by_a_launcher(std::string_view name) {
  return any_matches(kSetByLaunchers, name) && !any_matches(kSettings, name);
}

bool is_of_slurm_job(std::span<const std::string> environment) {
  return !variable(environment, "SLURM_JOB_ID").empty() && !variable(environment, "SLURM_JOB_NODELIST").empty();
}

bool names_bash_function(std::string_view name) {
  return name.starts_with("BASH_FUNC_") && (name.ends_with("%%") || name.ends_with("()"));
}

Environment for_other_hosts(std::span<const std::string> launcher_environment) {
  const bool of_slurm = is_of_slurm_job(launcher_environment);
  const auto travels = [of_slurm](std::string_view name) {
    return !bound_to_host(name) || (of_slurm && begins_bash(name));
  };
  Environment out;
  for (const std::string& e : launcher_environment) {
    const std::string_view name = name_of(e);
    if (travels(name) && !set_by_a_launcher(name)) out.push_back(e);
  }
  return out;
}

std::string warning_of_kept_back(std::span<const std::string> environment, std::span<const std::string> user,
                                 std::string_view own_host_name) {
  constexpr std::array<std::string_view, 3> kNames{"HOST", "TMP", "TEMP"};
  std::string names, words;
  for (const std::string_view name : kNames) {
    const std::string_view value = variable(environment, name);
    const bool is_its_own =
        name == "HOST" && value.substr(0, value.find('.')) == own_host_name.substr(0, own_host_name.find('.'));
    // Grid Engine makes a folder for the job on each host, and sets all three there.
    const bool is_of_job = name != "HOST" && value == variable(environment, "TMPDIR");
    if (value.empty() || is_its_own || is_of_job || find_variable(user, name) != nullptr) continue;
    names += (names.empty() ? "" : ", ") + std::string(name);
    words += " -x " + std::string(name);
  }
  if (names.empty()) return {};
  return names +
         " of this host: workers of other hosts have what their login sets, as such variables mostly belong to "
         "one host;" +
         words + " passes it on";
}

}  // namespace sml::plan

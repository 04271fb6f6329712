#include "launcher/transport/ssh/ssh_session.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <libssh/callbacks.h>
#include <libssh/libssh.h>
#include <unistd.h>

#include "common/os/fd.h"
#include "launcher/transport/ssh/certificates/certificate.h"

namespace sml::ssh {
namespace {

constexpr std::uint32_t kWritePiece = 12 * 1024;  // libssh keeps copies until the socket has it, in powers of two
constexpr std::uint64_t kSocketRead = 4096;  // what libssh takes off the socket at a time; less: the socket is empty
constexpr int kMaxDescriptor = 0xffff;       // libssh cuts descriptors to 16 bits

struct KeyFree {
  void operator()(ssh_key key) const { ssh_key_free(key); }
};
using KeyPointer = std::unique_ptr<ssh_key_struct, KeyFree>;

struct TextFree {
  void operator()(char* text) const { ssh_string_free_char(text); }
};
using TextPointer = std::unique_ptr<char, TextFree>;

// libssh may return SSH_AGAIN even if the connection has ended, and would do so for ever.
Step step_of(ssh_session session, int rc) {
  if (rc == SSH_OK) return Step::Done;
  return rc == SSH_AGAIN && ssh_is_connected(session) != 0 ? Step::Again : Step::Failed;
}

AuthStep auth_step_of(ssh_session session, int rc) {
  switch (rc) {
    case SSH_AUTH_SUCCESS: return AuthStep::Accepted;
    case SSH_AUTH_AGAIN: return ssh_is_connected(session) != 0 ? AuthStep::Again : AuthStep::Failed;
    case SSH_AUTH_DENIED:
    case SSH_AUTH_PARTIAL: return AuthStep::Refused;
    default: return AuthStep::Failed;
  }
}

// libssh calls this for an encrypted key only. Always refuses.
int refuse_passphrase(const char*, char*, size_t, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

KeyPointer public_key(const HostKey& key) {
  ssh_key parsed = nullptr;
  const auto type = ssh_key_type_from_name(key.type.c_str());
  if (ssh_pki_import_pubkey_base64(key.base64.c_str(), type, &parsed) != SSH_OK) return nullptr;
  return KeyPointer(parsed);
}

std::string base64_of(ssh_key key) {
  char* text = nullptr;
  if (ssh_pki_export_pubkey_base64(key, &text) != SSH_OK) return {};
  return TextPointer(text).get();
}

}  // namespace

std::string fingerprint(const HostKey& key) {
  const KeyPointer parsed = public_key(key);
  unsigned char* hash = nullptr;
  std::size_t length = 0;
  if (!parsed || ssh_get_publickey_hash(parsed.get(), SSH_PUBLICKEY_HASH_SHA256, &hash, &length) != SSH_OK) return {};
  const TextPointer text(ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, length));
  ssh_clean_pubkey_hash(&hash);
  return text ? std::string(text.get()) : std::string();
}

// ---- private keys

struct PrivateKey::State {
  KeyPointer key;
};

PrivateKey::PrivateKey() : state_(std::make_unique<State>()) {}
PrivateKey::~PrivateKey() = default;

KeyState PrivateKey::load(const std::string& path) {
  if (::access(path.c_str(), F_OK) != 0) return KeyState::Missing;
  if (::access(path.c_str(), R_OK) != 0) return KeyState::Unreadable;
  bool asked = false;
  ssh_key key = nullptr;
  const int rc = ssh_pki_import_privkey_file(path.c_str(), nullptr, refuse_passphrase, &asked, &key);
  state_->key.reset(rc == SSH_OK ? key : nullptr);
  if (rc == SSH_OK) return KeyState::Usable;
  return asked ? KeyState::Encrypted : KeyState::Unreadable;
}

bool PrivateKey::certify(const std::string& path) {
  ssh_key raw = nullptr;
  if (ssh_pki_import_cert_file(path.c_str(), &raw) != SSH_OK) return false;
  const KeyPointer certificate(raw);
  return certifies(base64_of(certificate.get()), base64_of(state_->key.get())) &&
         ssh_pki_copy_cert_to_privkey(certificate.get(), state_->key.get()) == SSH_OK;
}

// ---- the session

struct SshSession::State {
  ssh_session session = nullptr;
  ssh_channel channel = nullptr;
  ssh_channel_callbacks_struct callbacks{};
  ssh_counter_struct socket_counter{};
  ssh_counter_struct raw_counter{};
  os::UniqueFd unclaimed;  // the socket until ssh_connect owns it
  std::string output;
  std::string errors;
  bool connecting = true;
  bool at_end = false;
  bool closed = false;
  std::optional<int> exit_status;
  std::string exit_signal;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  // ssh_free is enough: it closes the channel, sends what it can without waiting, and closes the duplicate of the
  // socket.
  ~State() {
    if (session == nullptr) return;
    ssh_set_blocking(session, 0);
    ssh_free(session);
  }
  static State& of(void* user) { return *static_cast<State*>(user); }
};

namespace {

template <class State>
void install_callbacks(State& state) {  // an exception here means out of memory, and ends the program
  auto& callbacks = state.callbacks;
  callbacks.userdata = &state;
  callbacks.channel_data_function = [](ssh_session, ssh_channel, void* data, std::uint32_t length, int is_stderr,
                                       void* user) noexcept {
    auto& self = State::of(user);
    (is_stderr != 0 ? self.errors : self.output).append(static_cast<const char*>(data), length);
    return static_cast<int>(length);
  };
  callbacks.channel_eof_function = [](ssh_session, ssh_channel, void* user) { State::of(user).at_end = true; };
  callbacks.channel_close_function = [](ssh_session, ssh_channel, void* user) {
    State::of(user).at_end = true;
    State::of(user).closed = true;
  };
  callbacks.channel_exit_status_function = [](ssh_session, ssh_channel, int status, void* user) {
    State::of(user).exit_status = status;
  };
  callbacks.channel_exit_signal_function = [](ssh_session, ssh_channel, const char* signal, int, const char*,
                                              const char*, void* user) {
    State::of(user).exit_signal.assign(signal, ::strnlen(signal, 32));
  };
  ssh_callbacks_init(&callbacks);
}

// Setting one of these fails if it contains a name that this libssh does not know.
Result<void> set_option(ssh_session session, ssh_options_e option, const char* name, const std::string& value) {
  if (value.empty() || ssh_options_set(session, option, value.c_str()) == SSH_OK) return {};
  return Error(ErrorKind::Config, std::string("libssh has none of the ") + name + " of the ssh config");
}

void set_fixed_options(ssh_session session, int fd) {
  const int off = 0;
  const int on = 1;
  const bool no_config = false;
  ssh_options_set(session, SSH_OPTIONS_PROCESS_CONFIG, &no_config);  // launcher/transport/ssh/ssh_config.h reads it
  ssh_options_set(session, SSH_OPTIONS_FD, &fd);
  ssh_options_set(session, SSH_OPTIONS_HOST, "host");  // unused: the socket is connected
  ssh_options_set(session, SSH_OPTIONS_SSH_DIR, "/dev/null");
  ssh_options_set(session, SSH_OPTIONS_KNOWNHOSTS,
                  "/dev/null");  // launcher/transport/ssh/host_keys/known_hosts.h reads them
  ssh_options_set(session, SSH_OPTIONS_GLOBAL_KNOWNHOSTS, "/dev/null");
  ssh_options_set(session, SSH_OPTIONS_COMPRESSION, "no");
  ssh_options_set(session, SSH_OPTIONS_NODELAY, &on);
  ssh_options_set(session, SSH_OPTIONS_PASSWORD_AUTH, &off);
  ssh_options_set(session, SSH_OPTIONS_KBDINT_AUTH, &off);
  ssh_options_set(session, SSH_OPTIONS_GSSAPI_AUTH, &off);
}

Result<void> set_chosen_options(ssh_session session, const SessionSetup& setup) {
  const struct {
    ssh_options_e option;
    const char* name;
    const std::string& value;
  } rows[] = {
      {SSH_OPTIONS_USER, "User", setup.user},
      {SSH_OPTIONS_KEY_EXCHANGE, "KexAlgorithms", setup.key_exchange},
      {SSH_OPTIONS_CIPHERS_C_S, "Ciphers", setup.ciphers},
      {SSH_OPTIONS_CIPHERS_S_C, "Ciphers", setup.ciphers},
      {SSH_OPTIONS_HMAC_C_S, "MACs", setup.macs},
      {SSH_OPTIONS_HMAC_S_C, "MACs", setup.macs},
      {SSH_OPTIONS_HOSTKEYS, "HostKeyAlgorithms", setup.host_key_algorithms},
      {SSH_OPTIONS_PUBLICKEY_ACCEPTED_TYPES, "PubkeyAcceptedAlgorithms", setup.public_key_algorithms},
  };
  for (const auto& row : rows) {
    if (auto set = set_option(session, row.option, row.name, row.value); !set) return set.error();
  }
  return {};
}

}  // namespace

SshSession::SshSession() = default;
SshSession::SshSession(std::unique_ptr<State> state) : state_(std::move(state)) {}
SshSession::~SshSession() = default;
SshSession::SshSession(SshSession&&) noexcept = default;
SshSession& SshSession::operator=(SshSession&&) noexcept = default;

Result<SshSession> SshSession::make(const SessionSetup& setup, int fd) {
  os::UniqueFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (!copy || copy.get() > kMaxDescriptor) return Error(ErrorKind::Io, "too many open files");
  auto state = std::make_unique<State>();
  state->session = ssh_new();
  if (state->session == nullptr) return Error(ErrorKind::Io, "out of memory");
  set_fixed_options(state->session, copy.get());
  if (auto set = set_chosen_options(state->session, setup); !set) return set.error();
  state->unclaimed = std::move(copy);
  ssh_set_blocking(state->session, 0);
  ssh_set_counters(state->session, &state->socket_counter, &state->raw_counter);
  return SshSession(std::move(state));
}

Step SshSession::key_exchange() {
  state_->unclaimed.release();  // from ssh_connect on, ssh_free closes it
  const Step step = step_of(state_->session, ssh_connect(state_->session));
  if (step != Step::Done) return step;
  state_->connecting = false;
  // ssh_connect() has made the socket blocking; a long write would then block the caller's thread.
  os::set_nonblocking(ssh_get_fd(state_->session));
  return step;
}

HostKey SshSession::host_key() const {
  ssh_key raw = nullptr;
  if (ssh_get_server_publickey(state_->session, &raw) != SSH_OK) return {};
  const KeyPointer key(raw);
  const std::string base64 = base64_of(key.get());
  if (base64.empty()) return {};
  const char* type = ssh_key_type(key.get()) == SSH_KEYTYPE_ECDSA ? ssh_pki_key_ecdsa_name(key.get())
                                                                  : ssh_key_type_to_char(ssh_key_type(key.get()));
  return {type == nullptr ? "" : type, base64};
}

AuthStep SshSession::authenticate_with_agent(int agent_fd) {
  if (agent_fd >= 0) {
    os::UniqueFd copy(::fcntl(agent_fd, F_DUPFD_CLOEXEC, 3));
    if (!copy) return AuthStep::Refused;
    ssh_set_agent_socket(state_->session, copy.release());
  }
  return auth_step_of(state_->session, ssh_userauth_agent(state_->session, nullptr));
}

AuthStep SshSession::authenticate(const PrivateKey& key) {
  if (!key.state_->key) return AuthStep::Refused;
  return auth_step_of(state_->session, ssh_userauth_publickey(state_->session, nullptr, key.state_->key.get()));
}

Step SshSession::open_channel() {
  if (state_->channel == nullptr) {
    state_->channel = ssh_channel_new(state_->session);
    if (state_->channel == nullptr) return Step::Failed;
    install_callbacks(*state_);
    ssh_set_channel_callbacks(state_->channel, &state_->callbacks);
  }
  return step_of(state_->session, ssh_channel_open_session(state_->channel));
}

Step SshSession::execute(const std::string& command) {
  return step_of(state_->session, ssh_channel_request_exec(state_->channel, command.c_str()));
}

std::string SshSession::last_error() const { return ssh_get_error(state_->session); }

bool SshSession::wants_write() const {
  return state_->connecting ? (ssh_get_poll_flags(state_->session) & SSH_WRITE_PENDING) != 0
                            : (ssh_get_status(state_->session) & SSH_WRITE_PENDING) != 0;
}

// ---- the channel

std::string& SshSession::output() { return state_->output; }
std::string& SshSession::errors() { return state_->errors; }

SshSession::Pumped SshSession::pump(std::size_t budget) {
  auto& counted = state_->socket_counter.in_bytes;
  const std::uint64_t start = counted;
  while (!state_->closed) {
    const std::uint64_t before = counted;
    // After the end of its output the remote side may still send its exit status; only the second call reads it.
    const int rc = state_->at_end ? ssh_channel_get_exit_status(state_->channel) : ssh_channel_poll(state_->channel, 0);
    if (rc == SSH_ERROR && (ssh_get_status(state_->session) & (SSH_CLOSED_ERROR | SSH_CLOSED)) != 0)
      return Pumped::Failed;
    if (counted - before < kSocketRead) return Pumped::Idle;
    if (counted - start >= budget) return Pumped::More;
  }
  return Pumped::Idle;
}

std::ptrdiff_t SshSession::write(std::string_view bytes) {
  if (ssh_channel_window_size(state_->channel) == 0 || wants_write()) return 0;
  const auto piece = static_cast<std::uint32_t>(std::min<std::size_t>(bytes.size(), kWritePiece));
  return ssh_channel_write(state_->channel, bytes.data(), piece);
}

Step SshSession::send_eof() { return ssh_channel_send_eof(state_->channel) == SSH_ERROR ? Step::Failed : Step::Done; }

bool SshSession::at_end() const { return state_->at_end; }
bool SshSession::closed() const { return state_->closed; }
std::optional<int> SshSession::exit_status() const { return state_->exit_status; }
std::string SshSession::exit_signal() const { return state_->exit_signal; }

}  // namespace sml::ssh

#include "launcher/launch/bootstrap_script.h"

namespace sml::launch {

namespace {

// @MARK@, @NAME@ and @SIZE@ are filled in below. A line break here is only one in this source. What the agent inherits
// is what the login has: umask and PATH are put back, and no variable has a name that a login might use, because
// assigning to an exported one would change it for the workers.
constexpr char kScript[] =
    // Programs that we run ourselves come from the system, whatever the login's PATH holds.
    "sml_path=$PATH; PATH=/usr/bin:/bin:/usr/sbin:/sbin:$PATH; sml_mask=$(umask); umask 077; trap \"\" PIPE; sml_why=; "
    "sml_run() { PATH=$sml_path; umask $sml_mask; exec \"$@\" --mark @MARK@ --silence @SILENCE@; }; "
    // A launcher that is cut off sends no end: whoever waits for its bytes leaves by itself.
    "sml_limit=; command -v timeout >/dev/null && sml_limit=\"timeout @START@\"; "
    // sml_put FOLDER NAME: asks for the bytes and stores them; fails, with all bytes consumed, when the folder does not
    // take them. -x tells noexec mounts before anything is sent.
    "sml_put() { sml_new=$1/.new-$$; "
    "(set -C; : > \"$sml_new\") 2>/dev/null || { sml_why=\"$sml_why; $1 cannot be written\"; return 1; }; "
    "chmod 700 \"$sml_new\"; "
    "[ -x \"$sml_new\" ] || { rm -f \"$sml_new\"; sml_why=\"$sml_why; $1 is mounted noexec\"; return 1; }; "
    "echo \"@MARK@ NEED $(uname -m) $1\"; "
    "{ $sml_limit head -c @SIZE@ || { rm -rf \"$sml_new\" \"$sml_dir\"; kill $$; }; } | { cat > \"$sml_new\" "
    "2>/dev/null || cat > /dev/null; }; "
    "[ \"$(wc -c < \"$sml_new\")\" -eq @SIZE@ ] || { rm -f \"$sml_new\"; sml_why=\"$sml_why; $1 is full\"; return 1; "
    "}; "
    "mv -f \"$sml_new\" \"$1/$2\"; }; "
    "sml_cache=${XDG_CACHE_HOME:-$HOME/.cache}/sml-run; "
    // -s: a host that crashed may have kept the name and lost the bytes.
    "[ -x \"$sml_cache/@NAME@\" ] && [ -s \"$sml_cache/@NAME@\" ] && [ -O \"$sml_cache/@NAME@\" ] && [ -O "
    "\"$sml_cache\" ] && "
    "sml_run \"$sml_cache/@NAME@\"; "
    "mkdir -p \"$sml_cache\" 2>/dev/null; "
    "if [ -d \"$sml_cache\" ] && [ -O \"$sml_cache\" ]; then "
    "chmod 700 \"$sml_cache\" 2>/dev/null; "
    "sml_put \"$sml_cache\" @NAME@ && sml_run \"$sml_cache/@NAME@\"; "
    "else sml_why=\"$sml_why; $sml_cache cannot be made or belongs to another user\"; fi; "
    "for sml_base in \"$XDG_RUNTIME_DIR\" /dev/shm /tmp /var/tmp \"$HOME\"; do "
    "[ -n \"$sml_base\" ] && [ -d \"$sml_base\" ] && [ -w \"$sml_base\" ] || continue; "
    "sml_dir=$(mktemp -d \"$sml_base/sml-run-XXXXXX\" 2>/dev/null) || "
    "{ sml_why=\"$sml_why; $sml_base cannot be written\"; continue; }; "
    "sml_put \"$sml_dir\" sml-run-agent && sml_run \"$sml_dir/sml-run-agent\" --remove \"$sml_dir\"; "
    "rm -rf \"$sml_dir\"; done; "
    "echo \"@MARK@ FAIL ${sml_why#; }\"";

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

}  // namespace

std::string bootstrap_script(const AgentImage& image, const std::string& mark, const StartLimits& limits) {
  std::string script = kScript;
  replace_all(script, "@MARK@", mark);
  replace_all(script, "@NAME@", image.file_name());
  replace_all(script, "@SIZE@", std::to_string(image.bytes().size()));
  replace_all(script, "@SILENCE@", std::to_string(limits.silence_ms));
  replace_all(script, "@START@", std::to_string(limits.start_s));
  return "exec /bin/sh -c '" + script + "'";
}

}  // namespace sml::launch

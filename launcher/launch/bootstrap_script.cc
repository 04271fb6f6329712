#include "launcher/launch/bootstrap_script.h"

namespace sml::launch {

namespace {

// @MARK@, @NAME@ and @SIZE@ are filled in below. A line break here is only one in this source.
constexpr char kScript[] =
    // The login's PATH is for the workers; what we run ourselves comes from the system.
    "P=$PATH; PATH=/usr/bin:/bin:/usr/sbin:/sbin:$P; umask 077; trap \"\" PIPE; W=; "
    "run() { PATH=$P; exec \"$@\" --mark @MARK@; }; "
    // put FOLDER NAME: asks for the bytes and stores them; fails, with all bytes consumed, when the folder does not
    // take them. -x tells noexec mounts before anything is sent.
    "put() { t=$1/.new-$$; (set -C; : > \"$t\") 2>/dev/null || { W=\"$W; $1 cannot be written\"; return 1; }; "
    "chmod 700 \"$t\"; [ -x \"$t\" ] || { rm -f \"$t\"; W=\"$W; $1 is mounted noexec\"; return 1; }; "
    "echo \"@MARK@ NEED $(uname -m) $1\"; "
    "head -c @SIZE@ | { cat > \"$t\" 2>/dev/null || cat > /dev/null; }; "
    "[ \"$(wc -c < \"$t\")\" -eq @SIZE@ ] || { rm -f \"$t\"; W=\"$W; $1 is full\"; return 1; }; "
    "mv -f \"$t\" \"$1/$2\"; }; "
    "c=${XDG_CACHE_HOME:-$HOME/.cache}/sml-run; "
    "[ -x \"$c/@NAME@\" ] && [ -O \"$c/@NAME@\" ] && [ -O \"$c\" ] && run \"$c/@NAME@\"; "
    "mkdir -p \"$c\" 2>/dev/null; "
    "if [ -d \"$c\" ] && [ -O \"$c\" ]; then put \"$c\" @NAME@ && run \"$c/@NAME@\"; "
    "else W=\"$W; $c cannot be made or belongs to another user\"; fi; "
    "for b in \"$XDG_RUNTIME_DIR\" /dev/shm /tmp /var/tmp \"$HOME\"; do "
    "[ -n \"$b\" ] && [ -d \"$b\" ] && [ -w \"$b\" ] || continue; "
    "d=$(mktemp -d \"$b/sml-run-XXXXXX\" 2>/dev/null) || { W=\"$W; $b cannot be written\"; continue; }; "
    "put \"$d\" sml-run-agent && run \"$d/sml-run-agent\" --remove \"$d\"; "
    "rm -rf \"$d\"; done; "
    "echo \"@MARK@ FAIL ${W#; }\"";

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

}  // namespace

std::string bootstrap_script(const AgentImage& image, const std::string& mark) {
  std::string script = kScript;
  replace_all(script, "@MARK@", mark);
  replace_all(script, "@NAME@", image.file_name());
  replace_all(script, "@SIZE@", std::to_string(image.bytes().size()));
  return "exec /bin/sh -c '" + script + "'";
}

}  // namespace sml::launch

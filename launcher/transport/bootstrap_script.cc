#include "launcher/transport/bootstrap_script.h"

#include <algorithm>

namespace sml::transport {

namespace {

// @MARK@, @NAME@ and the like are filled in below. A line break here is only one in this source. The agent inherits the
// login's environment: umask and PATH are restored, and no variable has a name that a login might use, because
// assigning to an exported one would change it for the workers. No word is left subject to splitting or globbing.
constexpr char kScript[] =
    // Resets the shell options and variables of the login; bash takes both from the environment.
    "set +aefu; unset sml_path sml_mask sml_why sml_cache sml_base sml_dir sml_at sml_top sml_uid sml_gid; "
    // The script's own programs come from the system, whatever the login's PATH holds.
    "sml_path=$PATH; PATH=/usr/bin:/bin:/usr/sbin:/sbin:$PATH; trap \"\" PIPE; "
    "sml_run() { PATH=$sml_path; [ -z \"$sml_mask\" ] || umask \"$sml_mask\"; exec \"$@\" --mark @MARK@ --silence "
    "@SILENCE@@DUTY@; }; "
    // sml_good FOLDER: succeeds if descriptor 9 is the complete agent, and nobody else can write it or its folder.
    // Reading it all is the most expensive part of a start, so a file that was found complete gets a time that any
    // later write changes.
    "sml_good() { [ -x /proc/self/fd/9 ] && [ -O /proc/self/fd/9 ] && [ -O \"$1\" ] && "
    "case $(stat -L -c =%a:%s:%Y \"$1\" /proc/self/fd/0 <&9) in "
    "=700:*=700:@SIZE@:946684800 | =?700:*=700:@SIZE@:946684800) ;; "
    "=700:*=700:@SIZE@:* | =?700:*=700:@SIZE@:*) [ \"$(cksum <&9)\" = \"@CKSUM@\" ] && "
    "{ TZ=UTC0 touch -c -t 200001010000 /proc/self/fd/0 <&9 2> /dev/null || :; } ;; "
    "*) false ;; esac; }; "
    // sml_try FOLDER NAME ARGUMENT...: runs the very file that was checked, whatever its name refers to now.
    "sml_try() { [ -f \"$1/$2\" ] && [ -r \"$1/$2\" ] && "
    "{ sml_good \"$1\" && { shift 2; sml_run /proc/self/fd/9 \"$@\"; }; } 9< \"$1/$2\"; }; "
    // A launcher that is cut off sends no end of input: the reader of its bytes times out by itself.
    "if command -v timeout > /dev/null; then sml_take() { timeout @START@ head -c @SIZE@ ; }; "
    "else sml_take() { head -c @SIZE@ ; }; fi; "
    // sml_way PATH: succeeds if nobody else can replace a folder above this path: each is owned by root, by the login
    // or by the owner of / (who may have no number here), and others cannot write it, or cannot replace what is in it;
    // a group is others, unless it is that of root or has the login's number. A link with a second name is one that
    // another user may have put there. The rules are those of os::check_trust(), but for ACLs and read-only mounts,
    // which stat does not show.
    "sml_way() { case $1 in /*) ;; *) return 1 ;; esac; sml_at=$1; set --; "
    "while sml_at=${sml_at%/*}; [ -n \"$sml_at\" ]; do set -- \"$@\" \"$sml_at\"; done; "
    "stat -c %u:%A:%h:%g / \"$@\" | (read -r sml_top && while read -r sml_at; do "
    "case ${sml_at%%:*} in 0 | \"$sml_uid\" | \"${sml_top%%:*}\") ;; *) exit 1 ;; esac; "
    "case ${sml_at#*:} in l*:1:* | d????[-]??[-]?:* | d???????[-]?:*:0 | d???????[-]?:*:\"$sml_gid\" | "
    "d????????[tT]:*) ;; "
    "*) exit 1 ;; esac; done); }; "
    // sml_make FOLDER: succeeds if the folder is the login's own, no link, and nobody else can replace it. Where it or
    // folders above are missing, first checks the one in which they are to be, by its name and without links, and then
    // makes them one by one there; another job may do the same.
    "sml_own() { case $(stat -c %u%A \"$1\") in \"${sml_uid}d\"*) ;; *) return 1 ;; esac; }; "
    "sml_make() { case $1 in /*) ;; *) return 1 ;; esac; sml_at=$1; "
    "until [ -d \"$sml_at/\" ]; do sml_at=${sml_at%/*}; done; set -- \"$1\" \"$sml_at\"; "
    "if [ \"$1\" = \"$2\" ]; then sml_own \"$1\" && sml_way \"$1\"; return; fi; "
    "sml_way \"$2/.\" && (cd -P \"$2/\" && sml_way \"${PWD:?}/.\" && sml_at=${1#\"$2\"/}/ && "
    "while [ -n \"$sml_at\" ]; do { mkdir \"./${sml_at%%/*}\" || sml_own \"./${sml_at%%/*}\"; } && "
    "cd -P \"./${sml_at%%/*}\" || exit 1; sml_at=${sml_at#*/}; done); }; "
    // The cache keeps what earlier jobs left there; a folder of mktemp must be empty, or it is not the one that was
    // made.
    // A shell that was killed while it stored an agent could not remove its file.
    "sml_kept() { sml_way \"$(pwd -P)\" && chmod 700 . && "
    "{ find . -name \".new-*\" -mmin +60 -exec rm -f {} + || :; }; }; "
    "sml_made() { [ -z \"$(ls -A)\" ]; }; "
    // sml_fill FOLDER NAME CHECK: changes to the folder, requests the bytes and stores them, all without the folder's
    // name. Fails, with all bytes consumed, if the folder cannot store them. -x detects noexec mounts before anything
    // is sent. If the connection has ended, it does not request again.
    "sml_fill() { cd -P \"$1\" && [ -O . ] && $3 && (set -C; : > .new-$$) || return 2; "
    "chmod 700 .new-$$; [ -x .new-$$ ] || { rm -f .new-$$; return 3; }; "
    "echo \"@MARK@ NEED $(uname -m) $1\" || { rm -f .new-$$; return 5; }; "
    "sml_take | { cat > .new-$$ || { cat > /dev/null; false; }; } || { rm -f .new-$$; return 4; }; "
    "[ \"$(wc -c < .new-$$)\" -eq @SIZE@ ] || { rm -f .new-$$; return 5; }; "
    "[ -h \"$2\" ] && rm -f \"$2\"; mv -f .new-$$ \"$2\"; }; "
    "sml_put() { (sml_fill \"$@\") 2> /dev/null; case $? in 0) return 0 ;; "
    "3) sml_why=\"$sml_why; $1 is mounted noexec\" ;; 4) sml_why=\"$sml_why; $1 is full\" ;; "
    "5) [ -z \"$sml_dir\" ] || rmdir \"$sml_dir\"; exit 1 ;; "
    "*) sml_why=\"$sml_why; $1 cannot be written\" ;; esac; return 1; }; "
    "sml_bad() { rm -f \"$1/$2\"; sml_why=\"$sml_why; $1 does not keep what it is given\"; }; "
    "sml_cache=${XDG_CACHE_HOME:-$HOME/.cache}; sml_cache=${sml_cache%/}/sml-run; "
    "sml_try \"$sml_cache\" @NAME@; "
    // Only here: $() creates a process, and a start from the cache needs none.
    "sml_mask=$(umask); umask 077; sml_uid=$(id -u); sml_gid=$(id -g); [ \"$sml_gid\" = \"$sml_uid\" ] || sml_gid=0; "
    "if sml_make \"$sml_cache\" 2> /dev/null; then "
    "sml_put \"$sml_cache\" @NAME@ sml_kept && { sml_try \"$sml_cache\" @NAME@; sml_bad \"$sml_cache\" @NAME@; }; "
    "else sml_why=\"$sml_why; $sml_cache cannot be made, or another user can change it or a folder above\"; fi; "
    "for sml_base in \"$XDG_RUNTIME_DIR\" /dev/shm /tmp /var/tmp \"$HOME\"; do "
    "[ -d \"$sml_base\" ] || continue; [ -w \"$sml_base\" ] || continue; "
    "{ (sml_way \"$sml_base/.\" && cd -P \"$sml_base/\" && sml_way \"$PWD/.\") && "
    "sml_dir=$(mktemp -d \"$sml_base/sml-run-XXXXXX\" 2> /dev/null); } || "
    "{ sml_why=\"$sml_why; $sml_base cannot be written, or others can change it\"; continue; }; "
    "sml_put \"$sml_dir\" sml-run-agent sml_made && { sml_try \"$sml_dir\" sml-run-agent --remove \"$sml_dir\"; "
    "sml_bad \"$sml_dir\" sml-run-agent; }; "
    "rmdir \"$sml_dir\"; sml_dir=; done; "
    "echo \"@MARK@ FAIL ${sml_why#; }\"";

constexpr std::string_view kBegin = "exec /bin/sh -c ";

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

}  // namespace

std::string bootstrap_script(const AgentImage& image, const std::string& mark, const StartLimits& limits,
                             AgentDuty duty) {
  std::string script = kScript;
  replace_all(script, "@MARK@", mark);
  replace_all(script, "@NAME@", image.file_name());
  replace_all(script, "@CKSUM@", image.cksum());
  replace_all(script, "@SIZE@", std::to_string(image.bytes().size()));
  replace_all(script, "@SILENCE@", std::to_string(limits.silence_ms));
  replace_all(script, "@DUTY@", duty == AgentDuty::Return ? " --return" : "");
  replace_all(script, "@START@", std::to_string(limits.start_s));
  return std::string(kBegin) + "'" + script + "'";
}

// A shell that unsets what is no name ends, so that lines of values that are none are left out.
std::string without_variables(std::string script, std::span<const std::string_view> names) {
  std::string whole;
  std::string patterns;
  for (const std::string_view name : names) {
    if (name.ends_with('*')) {
      patterns.append(patterns.empty() ? "" : " | ").append(name);
    } else {
      whole.append(" ").append(name);
    }
  }
  std::string begin;
  if (!whole.empty()) begin = "unset" + whole + "; ";
  if (!patterns.empty()) {
    begin +=
        "for sml_at in $(PATH=/usr/bin:/bin:$PATH; env | grep \"^[A-Z0-9_]*=\" | cut -d= -f1); do case $sml_at in " +
        patterns + ") unset \"$sml_at\" ;; esac; done; ";
  }
  script.insert(kBegin.size() + 1, begin);
  return script;
}

// Shells and commands quote the script in their own ways, but its first and last words stay.
std::string without_bootstrap_script(std::string text) {
  constexpr std::string_view kEnd = "{sml_why#; }";
  for (std::size_t begin = text.find(kBegin); begin != std::string::npos; begin = text.find(kBegin, begin + 1)) {
    const std::size_t end = text.find(kEnd, begin);
    if (end == std::string::npos) break;
    const std::size_t after = std::min(text.find_first_not_of("\"'\\", end + kEnd.size()), text.size());
    text.replace(begin, after - begin, "(the script that starts the agent)");
  }
  return text;
}

}  // namespace sml::transport

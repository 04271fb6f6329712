"""What the LGPL asks of a static program: its compiled parts, and a script that links them with another libssh."""
import pathlib
import re

import archives
import components
import release as rel

SCRIPT = r"""#!/bin/sh
# Links sml-run and sml-run-agent anew, from the compiled parts beside this script, with the C library of this machine
# and with your libssh:   ./relink [--libssh FILE/libssh.a]      Needs g++, libssh's and glibc's static libraries.
set -eu
cd "$(dirname "$0")"
cxx=${CXX:-g++}
libssh=
while [ $# -gt 0 ]; do
  case $1 in
    --libssh) libssh=${2:?--libssh needs the path of a libssh.a}; shift 2 ;;
    *) sed -n '2,3s/^# //p' "$0" >&2; exit 2 ;;
  esac
done
[ -n "$libssh" ] || libssh=$("$cxx" -print-file-name=libssh.a)
[ -f "$libssh" ] || { echo "relink: there is no $libssh; name one with --libssh" >&2; exit 1; }
@AGENT@
strip --remove-section=.comment sml-run-agent
# The agent is carried inside sml-run; as packaging/static-agent/embed.cmake does it.
cat >agent_image.S <<IMAGE
  .section .rodata.sml_agent, "a"
  .global sml_agent_image_begin
  .global sml_agent_image_end
  .global sml_agent_image_id
  .global sml_agent_image_cksum
  .balign 16
sml_agent_image_begin:
  .incbin "sml-run-agent"
sml_agent_image_end:
sml_agent_image_id:
  .asciz "$(sha256sum sml-run-agent | cut -c 1-16)"
sml_agent_image_cksum:
  .asciz "$(cksum <sml-run-agent)"
  .section .note.GNU-stack, "", %progbits
IMAGE
"$cxx" -c agent_image.S -o agent_image.o
rm -f libsml_agent_image.a
ar rc libsml_agent_image.a agent_image.o
@PROGRAM@
strip --remove-section=.comment sml-run
echo "relink: made sml-run and sml-run-agent"
"""


LINKER_SCRIPT = "-Wl,-T,"


def place_of(word):
    """Where a part of the link command lies in the archive; "" where it is the user's, or made by the script."""
    name = pathlib.PurePosixPath(word).name
    if name in ("libssh.a", "libsml_agent_image.a"):
        return ""
    if word.startswith(LINKER_SCRIPT):
        return name
    if word.startswith("/"):
        return f"lib/{name}"
    return "ours/" + re.sub("^CMakeFiles/(.*)[.]dir/.*/", r"\1-", word)


def is_part(word):
    return word.endswith((".a", ".o")) or word.startswith(LINKER_SCRIPT)


def spoken(command):
    """The link command as a line of the script."""
    words = ['"$cxx"']
    for word in command[1:]:
        name = pathlib.PurePosixPath(word).name
        if name == "libssh.a":
            words.append('"$libssh"')
        elif name == "libsml_agent_image.a":
            words.append(name)
        else:
            option = LINKER_SCRIPT if word.startswith(LINKER_SCRIPT) else ""
            words.append(option + place_of(word) if is_part(word) else word)
    return " ".join(words)


def write(release):
    stem = f"{release.stem}-relink"
    commands = {program: components.link_command(release.build, program) for program in components.PROGRAMS}
    files = {}
    for word in (word for command in commands.values() for word in command if is_part(word) and place_of(word)):
        part = release.build / word.removeprefix(LINKER_SCRIPT)
        files[place_of(word)] = rel.File(f"{stem}/{place_of(word)}", part.read_bytes(), 0o644)
    script = SCRIPT.replace("@AGENT@", spoken(commands["sml-run-agent"])).replace("@PROGRAM@", spoken(commands["sml-run"]))
    made = list(files.values())
    made.append(rel.File(f"{stem}/relink", script.encode(), 0o755))
    made += [rel.File(f"{stem}/{f.path.removeprefix('share/doc/sml-run/')}", f.data, f.mode) for f in release.all_files()
             if f.path.startswith("share/doc/sml-run/LICENSE")]
    (release.out / f"{stem}.tar.gz").write_bytes(archives.gz(archives.tar(sorted(made, key=lambda f: f.path), release.epoch)))

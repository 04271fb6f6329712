#!/bin/sh
# Runs shellcheck on the script that a login shell is given, as sml-run sends it: tests/check_start_script.sh BUILD_FOLDER
# A command that stands in for ssh keeps its last argument.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2016 # for the command
printf '#!/bin/sh\nfor last; do :; done\nprintf "%%s\\n" "$last" > %s/line\nexit 1\n' "$work" > "$work/ssh"
chmod 700 "$work/ssh"
"$1/sml-run" --ssh-command "$work/ssh" -H host.invalid true 2> "$work/said" || true
[ -s "$work/line" ] || { cat "$work/said"; exit 1; }
sed "s/^exec \/bin\/sh -c '\(.*\)'\$/\1/; s/; /;\n/g" "$work/line" > "$work/script"
# SC3067: test -O is no POSIX, and all shells have it. SC2094: the file is only read.
shellcheck --shell=sh --exclude=SC3067,SC2094 "$work/script"

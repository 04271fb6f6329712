"""What bash, zsh and fish offer for sml-run, asked of the shells themselves, held against --help."""
import contextlib
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from harness import BUILD, gate, sml_run_popen, watchdog

SML_RUN = BUILD / "sml-run"

# Answers one candidate a line for the words "$@", the last of which is being completed.
BASH = r"""
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_sml_run
printf '%s\n' "${COMPREPLY[@]}"
"""

# As bash-completion's, which changes the words that it looks at.
COMMAND_OFFSET = """
_command_offset() { COMP_WORDS=("${COMP_WORDS[@]:$1}"); COMP_CWORD=$((COMP_CWORD - $1)); COMPREPLY=(offered-by-bash-completion); }
"""

# zsh completes only where a line is edited: a terminal of its own, in which what is about to be offered is printed.
ZSH = r"""
zmodload zsh/zpty || exit 1
zpty shell zsh -f -i
say() { zpty -w shell "$1" }
say 'PROMPT=; unsetopt zle_bracketed_paste; autoload -U compinit; fpath=('"$1"' $fpath); compinit -D -u'
say 'zstyle ":completion:*" verbose no; zstyle ":completion:*" list-separator ""; bindkey "^I" complete-word'
say 'offered() { compadd() { local -a hits; builtin compadd -O hits "$@"; print -l -- "<"${^hits}">" >> '"$2"'; }; _main_complete; unfunction compadd; print done >> '"$2"' }'
say 'zle -C offered complete-word offered; bindkey "^I" offered; print ready >> '"$2"
until grep -q ready "$2" 2>/dev/null; do sleep 0.05; done
zpty -w -n shell "$3"$'\t'
until grep -q done "$2" 2>/dev/null; do sleep 0.05; done
zpty -d shell
"""


def write_script(shell, folder, name):
    path = pathlib.Path(folder, name)
    path.write_bytes(subprocess.run([SML_RUN, "--completion", shell], stdout=subprocess.PIPE, check=True, timeout=watchdog()).stdout)
    return path


def bash(*words, before=""):
    with tempfile.TemporaryDirectory() as folder:
        script = write_script("bash", folder, "sml-run")
        out = subprocess.run(["bash", "-c", before + BASH, "bash", script, *words], capture_output=True, text=True, timeout=watchdog(), check=True)
    return [line for line in out.stdout.splitlines() if line]


@contextlib.contextmanager
def running_job():
    """(its id, sml-run)"""
    with sml_run_popen("-np", "1", "sh", "-c", "echo $SML_JOB_ID; exec sleep 600") as job:
        name = job.read_until("\n").decode().split()[-1]
        yield name, SML_RUN
        job.terminate()
        job.finish()


def fish(line, more_path=""):
    with tempfile.TemporaryDirectory() as home:
        script = write_script("fish", home, "sml-run.fish")
        out = subprocess.run(["fish", "--no-config", "-c", f"source {script}; complete -C {line!r}"], capture_output=True, text=True, timeout=watchdog(), check=True,
                             env={"HOME": home, "PATH": f"{more_path}:/usr/bin:/bin".lstrip(":")})
    return [row.split("\t")[0] for row in out.stdout.splitlines()]


def zsh(line, more_path=""):
    with tempfile.TemporaryDirectory() as folder:
        found = pathlib.Path(folder, "found")
        write_script("zsh", folder, "_sml-run")
        subprocess.run(["zsh", "-f", "-c", ZSH, "zsh", folder, found, line], timeout=watchdog(), check=True,
                       env={"HOME": folder, "PATH": f"{more_path}:/usr/bin:/bin".lstrip(":"), "TERM": "dumb"}, stdin=subprocess.DEVNULL)
        return re.findall(r"<(.*?)>", found.read_text())


def options():
    """Every spelling that --help all has."""
    text = subprocess.run([SML_RUN, "--help", "all"], capture_output=True, text=True, check=True, timeout=watchdog()).stdout
    found = set()
    for paragraph in re.findall(r"^ {1,8}-.*(?:\n {20,}.*)*", text, re.M):
        head, _, rest = re.sub(r"\n {20,}", "  ", paragraph).strip().partition("  ")
        found.update(re.findall(r"(?<![\w\[-])(--?[a-zA-Z][\w-]*)", head))
        for also in re.findall(r"\bAlso ((?: *--?[\w-]+)+)", re.sub(r"\s+", " ", rest)):
            found.update(also.split())
    return found


class Completion(unittest.TestCase):
    @gate
    def test_bash_offers_all_of_help(self):
        self.assertEqual(set(bash("sml-run", "-")), options())
        self.assertEqual(set(bash("sml-run", "-np", "4", "--start-t")), {"--start-timeout"})
        self.assertEqual(set(bash("sml-run", "--np", "=", "4", "--start-t")), {"--start-timeout"})

    def test_bash_offers_values(self):
        self.assertEqual(bash("sml-run", "--export", ""), ["all", "none"])
        self.assertEqual(bash("sml-run", "--export", "=", "n"), ["none"])
        self.assertEqual(bash("sml-run", "--export", "="), ["all", "none"])
        self.assertIn(str(BUILD / "sml-run"), bash("sml-run", "--hostfile", str(BUILD / "sml-r")))
        self.assertEqual(bash("sml-run", "--np", ""), [])

    def test_bash_offers_no_option_to_the_program(self):
        self.assertIn("hostname", bash("sml-run", "-np", "2", "hostnam"))
        self.assertEqual([w for w in bash("sml-run", "-np", "2", "prog", "--sta") if w.startswith("--start")], [])
        self.assertEqual([w for w in bash("sml-run", "--", "--sta") if w.startswith("--start")], [])

    def test_bash_offers_words_and_jobs(self):
        self.assertLessEqual({"status", "stop"}, set(bash("sml-run", "st")))
        self.assertEqual(bash("sml-run", "logs", "--f"), ["--format", "--follow"])
        self.assertEqual(bash("sml-run", "ps", "--format", ""), ["text", "json"])
        with running_job() as (name, path):
            self.assertIn(name, bash(str(path), "stop", name[:6]))
            self.assertIn("SIGUSR1", bash(str(path), "signal", name, "SIGU"))

    def test_bash_offers_words_where_bash_completion_is_loaded(self):
        self.assertLessEqual({"offered-by-bash-completion", "status", "stop"}, set(bash("sml-run", "st", before=COMMAND_OFFSET)))
        self.assertEqual(bash("sml-run", "-np", "2", "st", before=COMMAND_OFFSET), ["offered-by-bash-completion"])

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed (tests/run installs it)")
    def test_fish_offers_words_and_jobs(self):
        self.assertLessEqual({"status", "stop"}, set(fish("sml-run st")))
        self.assertEqual(set(fish("sml-run logs --f")), {"--follow", "--format"})
        with running_job() as (name, path):
            self.assertIn(name, fish("sml-run stop ", path.parent))

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed (tests/run installs it)")
    def test_zsh_offers_words_and_jobs(self):
        self.assertLessEqual({"status", "stop"}, set(zsh("sml-run st")))
        with running_job() as (name, path):
            self.assertIn(name, zsh("sml-run stop ", path.parent))

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed (tests/run installs it)")
    def test_fish_offers_all_of_help(self):
        offered = set(fish("sml-run --")) | set(fish("sml-run -"))
        self.assertEqual({o for o in options() if o.startswith("--")} - offered, set())
        self.assertEqual(options() - offered, set())
        self.assertEqual(set(fish("sml-run -np 4 --start-t")), {"--start-timeout"})
        self.assertEqual(set(fish("sml-run --export ")), {"all", "none"})
        self.assertNotIn("--start-timeout", fish("sml-run prog --start"))

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed (tests/run installs it)")
    def test_zsh_offers_all_of_help(self):
        offered = {word.rstrip("=") for word in zsh("sml-run -")}
        self.assertEqual(options() - offered, set())
        self.assertEqual(set(zsh("sml-run --export ")), {"all", "none"})


if __name__ == "__main__":
    unittest.main()

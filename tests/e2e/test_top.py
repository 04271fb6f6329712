"""sml-run top, in a real terminal: tmux, 80 columns and 24 lines."""
import contextlib
import json
import re
import shutil
import unittest

from harness import SML_RUN, TestCase, gate, run, sml_run, sml_run_popen, wait_until

WORKER = 'trap "echo told $RANK" USR1; echo ready $RANK; [ $RANK = 5 ] && { echo no luck >&2; exit 7; }; while :; do sleep 0.1; done'


PROMPT = r"^[#$] ?$"


class Terminal:
    """A shell in tmux, which nobody else uses."""

    def __init__(self, test, env, columns=80, lines=24):
        if not shutil.which("tmux"):
            raise unittest.SkipTest("needs tmux (tests/run installs it)")
        self.words = ["tmux", "-S", test.temporary_directory() / "tmux", "-f", "/dev/null"]
        self.env = {"LC_ALL": "C.UTF-8", **env}
        self("new-session", "-d", "-x", str(columns), "-y", str(lines), "sh")
        test.addCleanup(self, "kill-server", check=False)
        self.wait_for(PROMPT)  # what is typed before is shown before it, and prompts then follow each other on one line

    def __call__(self, *words, check=True):
        done = run([*self.words, *words], env=self.env)
        if check and done.returncode != 0:
            raise AssertionError(done)
        return done

    def type(self, text):
        self("send-keys", "-l", text)

    def press(self, *keys):
        self("send-keys", *keys)

    def screen(self):
        return self("capture-pane", "-p").stdout

    def wait_for(self, pattern):
        return wait_until(lambda: re.search(pattern, self.screen(), re.M), lambda: self.screen())


class Top(TestCase):
    @contextlib.contextmanager
    def job(self, *words, ready):
        self.env = {"XDG_RUNTIME_DIR": str(self.temporary_directory())}
        with sml_run_popen("--on-failure", "continue", *words, env=self.env) as job:
            def listed():
                jobs = json.loads(sml_run("ps", "--format", "json", env=self.env).stdout)
                return [one["id"] for one in jobs if one["pid"] == job.pid]

            [self.name] = wait_until(listed)
            wait_until(lambda: sml_run("logs", self.name, env=self.env).stdout.count("ready") == ready)
            yield job

    @gate
    def test_a_failing_job_is_seen_asked_and_stopped(self):
        with self.job("-np", "8", "sh", "-c", WORKER, ready=8) as job:
            terminal = Terminal(self, self.env)
            terminal.type(f"cd {self.temporary_directory()}; stty -a >before\n")
            terminal.type(f"{SML_RUN} top {self.name}\n")
            terminal.wait_for(r"7 running, 1 failed")
            terminal.wait_for(r"^ +7 localhost ")  # the last row
            ranks = [line.split()[0] for line in terminal.screen().splitlines() if re.match(r" +\d+ localhost", line)]
            self.assertEqual(ranks, ["5", "0", "1", "2", "3", "4", "6", "7"])
            terminal.wait_for(r"^ +5 localhost .* exited with status 7")
            terminal.type("l")
            terminal.wait_for(r"^Last lines of rank 5")
            terminal.wait_for(r"^no luck")
            terminal.press("Escape")
            terminal.wait_for("RANK")
            terminal.press("Down", "Down")
            terminal.type("kusr1\n")
            terminal.wait_for(r"^Send SIGUSR1 to rank 1\? \(y/n\)")
            terminal.type("y")
            wait_until(lambda: "told 1" in sml_run("logs", self.name, "--ranks", "1", env=self.env).stdout)
            self.assertNotIn("told 0", sml_run("logs", self.name, env=self.env).stdout)
            terminal.type("t")
            terminal.wait_for(r"^Where the workers are")
            terminal.type("q")
            terminal.wait_for("RANK")
            terminal.type("S")
            terminal.wait_for(r"^Stop the job sml-\w+\? \(y/n\)")
            terminal.type("y")
            job.finish()
            terminal.wait_for(r"the job has ended")
            terminal.type("q")
            terminal.wait_for(PROMPT)
            terminal.type("stty -a | cmp - before && echo as it was\n")
            terminal.wait_for(r"^as it was")

    def test_512_ranks_are_one_screen(self):
        with self.job("-np", "512", "sh", "-c", "echo ready; exec sleep 600", ready=512) as job:
            terminal = Terminal(self, self.env)
            terminal.type(f"{SML_RUN} top {self.name}\n")
            terminal.wait_for(r"512 running")
            terminal.wait_for(r"^ +0-511 localhost .* 512 running")
            terminal.type("f")
            terminal.wait_for(r"^ +3 localhost ")
            terminal.press("C-c")
            terminal.wait_for(PROMPT)
            job.terminate()
            job.finish()

    @gate
    def test_a_size_that_changes_and_a_signal_that_ends_it(self):
        with self.job("-np", "8", "sh", "-c", WORKER, ready=8) as job:
            terminal = Terminal(self, self.env)
            terminal.type(f"{SML_RUN} top {self.name}\n")
            terminal.wait_for(r"7 running, 1 failed")
            terminal("resize-window", "-x", "60", "-y", "12")
            wait_until(lambda: len(terminal.screen().splitlines()) <= 12 and "RANK" in terminal.screen())
            terminal.press("C-z")
            terminal.wait_for(PROMPT)
            terminal.type("fg\n")
            terminal.wait_for("RANK")
            terminal.press("C-c")
            terminal.wait_for(PROMPT)
            terminal.type("echo left with $?\n")
            terminal.wait_for(r"^left with 0")
            job.terminate()
            job.finish()

    @gate
    def test_it_needs_a_terminal_and_a_job(self):
        env = {"XDG_RUNTIME_DIR": str(self.temporary_directory())}
        done = sml_run("top", "sml-x", env=env)
        self.assert_status(done, 1)
        self.assertIn("no job of yours", done.stderr)
        with self.job("-np", "1", "sh", "-c", "echo ready; exec sleep 600", ready=1) as job:
            done = sml_run("top", self.name, env={**self.env, "TERM": "xterm"})
            self.assert_status(done, 1)
            self.assertIn("are no terminal", done.stderr)
            job.terminate()
            job.finish()


if __name__ == "__main__":
    unittest.main()

"""Progress of the job: the status line on a terminal, --status-signal, --warn-silent, --watch."""
import fcntl
import os
import pty
import re
import select
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import termios

import schemas
from harness import SML_RUN, HostsCase, TestCase, gate, scaled, sml_run, sml_run_popen, stays, wait_until
from jobs import heartbeat

STATUS = "sml-run: 0:"


class Screen:
    """What a terminal shows: the rows so far, scrolled away or not; everything but the cursor's moves is text."""

    HEIGHT = 24

    def __init__(self):
        self.rows, self.row, self.column, self.begun = [""], 0, 0, ""

    def write(self, text):
        text = self.begun + text
        self.begun = re.search(r"(\x1b(\[[0-9;]*)?)?\Z", text)[0]  # the rest of this comes later
        text = text[:len(text) - len(self.begun)]
        for piece in re.findall(r"\x1b\[[0-9;]*[A-Za-z]|[\r\n]|[^\x1b\r\n]+|.", text, re.S):
            if piece == "\n":
                self.row += 1
                if self.row == len(self.rows):
                    self.rows.append("")
            elif piece == "\r":
                self.column = 0
            elif piece == "\x1b[J":
                del self.rows[self.row + 1:]
                self.rows[self.row] = self.rows[self.row][:self.column]
            elif piece == "\x1b[A":
                self.row = max(self.row - 1, len(self.rows) - self.HEIGHT, 0)
            elif not piece.startswith("\x1b"):
                row = self.rows[self.row].ljust(self.column)
                self.rows[self.row] = row[:self.column] + piece + row[self.column + len(piece):]
                self.column += len(piece)

    def lines(self):
        return [row for row in self.rows if row]


class OnATerminal(TestCase):
    """A shell with job control on a terminal of its own, which draws nothing itself."""

    def setUp(self):
        super().setUp()
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.execve("/bin/bash", ["bash", "--norc", "--noediting", "-i"], {"PATH": os.environ["PATH"], "PS1": "> ", "TERM": "dumb"})
        self.shell, self.screen, self.raw = pid, Screen(), ""
        self.addCleanup(self.close)
        self.resize(100)
        self.folder = self.temporary_directory()
        os.mkfifo(self.folder / "go")
        self.fifo = self.enterContext(open(self.folder / "go", "r+b", buffering=0))
        self.await_screen(lambda rows: rows[-1] == "> ")

    def close(self):
        os.close(self.terminal)
        os.kill(self.shell, signal.SIGKILL)
        os.waitpid(self.shell, 0)

    def resize(self, columns):
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", Screen.HEIGHT, columns, 0, 0))

    def type(self, text):
        os.write(self.terminal, text.encode())

    def rows(self):
        """What the screen shows by now."""
        while select.select([self.terminal], [], [], 0)[0]:
            text = os.read(self.terminal, 65536).decode(errors="replace")
            self.raw += text
            self.screen.write(text)
        return self.screen.rows

    def await_screen(self, condition):
        wait_until(lambda: condition(self.rows()), lambda: "the screen shows\n" + "\n".join(self.screen.rows))

    def stays_without(self, text, before=0):
        """For longer than a status line would take to be drawn, or drawn again."""
        return stays(lambda: self.rows() and text not in self.raw[before:], looks=75)

    def start(self, script, *options, np=2):
        """sml-run with this script for each rank; `wait` in it waits for let_go()."""
        script = script.replace("wait", f"read line < {self.folder}/go")
        self.screen = Screen()
        self.type(shlex.join(["env", "TERM=xterm", str(SML_RUN), "-np", str(np), "--all-lines", *options, "sh", "-c", script]) + "\n")

    def let_go(self, ranks=2):
        self.fifo.write(b"go\n" * ranks)
        self.await_screen(lambda rows: rows[-1] == "> ")

    def await_status(self, text):
        self.await_screen(lambda rows: rows[-1].startswith(STATUS) and text in rows[-1])

    def output(self):
        """What stands between the command and the next prompt."""
        rows = [row for row in self.screen.rows if "sh -c" not in row]
        return [row for row in rows if row.startswith("[") or STATUS in row]

    @gate
    def test_hosts_and_ranks_stand_below_the_output_and_are_gone_at_the_end(self):
        self.start('echo before $RANK; wait; echo after $RANK')
        self.await_status(" | hosts 1/1 | ranks 2 running")
        self.await_screen(lambda rows: sorted(self.output()[:-1]) == ["[0] before 0", "[1] before 1"] and STATUS in rows[-1])
        self.let_go()
        self.assertEqual(sorted(self.output()), ["[0] after 0", "[0] before 0", "[1] after 1", "[1] before 1"])

    @gate
    def test_every_line_of_a_flood_is_whole_and_once(self):
        self.start('wait; i=0; while [ $i -lt 20000 ]; do echo line $i of $RANK; i=$((i+1)); done; wait')
        self.await_status("2 running")
        self.fifo.write(b"go\n" * 2)
        self.await_screen(lambda rows: self.raw.count("line 19999 of") == 2)
        self.await_status("2 running")
        self.let_go()
        for rank in "01":
            mine = [row for row in self.output() if row.startswith(f"[{rank}]")]
            self.assertEqual(mine, [f"[{rank}] line {i} of {rank}" for i in range(20000)])
        self.assertEqual(sum(STATUS in row for row in self.screen.rows), 0)

    def test_a_progress_bar_stays_above_it(self):
        self.start(r"printf ' 10%%\r 20%%\r'; wait; printf ' 30%%\r done\n'", "--no-tag", np=1)
        self.await_screen(lambda rows: rows[-2:-1] == [" 20%"] and rows[-1].startswith(STATUS) and "1 running" in rows[-1])
        self.let_go(1)
        self.assertEqual(self.screen.lines()[-2:], [" done", "> "])

    def test_it_is_never_behind_text_that_has_not_ended(self):
        self.start('printf "%s " "name?"; wait; echo done', np=1)  # not in these letters in the command
        self.await_screen(lambda rows: rows[-1] == "name? ")
        self.assertTrue(stays(lambda: self.rows()[-1] == "name? ", looks=75))
        self.let_go(1)
        self.assertEqual(self.screen.lines()[-2:], ["name? done", "> "])
        # Before the text there may have been one, and behind it again, while the job ends.
        self.assertNotIn(STATUS, self.raw[self.raw.index("name? "):].split("name? done")[0])

    def test_a_prompt_is_shown_and_stays_below_the_lines_of_others(self):
        self.start('if [ $RANK = 0 ]; then printf "name? "; read name; echo hello $name; else wait; echo other; fi; wait')
        self.await_screen(lambda rows: rows[-1] == "[0] name? ")
        self.fifo.write(b"go\n")
        self.await_screen(lambda rows: rows[-2:] == ["[1] other", "[0] name? "])
        self.assertTrue(self.stays_without(STATUS, self.raw.rindex("other")))  # as printed, not as in the command
        self.type("you\n")
        self.await_screen(lambda rows: "[0] hello you" in rows and rows[-1].startswith(STATUS))  # the prompt has its answer
        self.assertEqual(self.screen.rows.count("[0] name? you"), 1)
        self.let_go()

    def test_a_terminal_of_another_session_is_read(self):
        self.type(shlex.join(["env", "TERM=xterm", "setsid", "--wait", str(SML_RUN), "-np", "1", "sh", "-c", "echo ask; read name; echo hello $name"]) + "\n")
        self.await_screen(lambda rows: "ask" in rows)
        self.type("you\n")
        self.await_screen(lambda rows: "hello you" in rows and rows[-1] == "> ")

    def debug_rank_0(self, words, of_the_other):
        """In pdb, once the other of two ranks has printed that."""
        self.type(shlex.join(["env", "TERM=xterm", str(SML_RUN), *words]) + "\n")
        self.await_screen(lambda rows: of_the_other in rows and rows[-1] == "[0] (Pdb) ")
        for command, answer in (("next", "[0] -> print('x is', x)"), ("x = 42", "[0] (Pdb) x = 42"), ("continue", "[0] x is 42")):
            self.type(command + "\n")
            self.await_screen(lambda rows: answer in rows and rows[-1] == "[0] (Pdb) ")  # noqa: B023
        self.type("q\n")
        self.await_screen(lambda rows: rows[-1] == "> ")

    @gate
    def test_one_rank_can_be_debugged_by_pdb(self):
        program = self.folder / "prog.py"
        program.write_text("x = 41\nprint('x is', x)\n")
        alone, in_pdb = [sys.executable, str(program)], [sys.executable, "-m", "pdb", str(program)]
        self.debug_rank_0(["-np", "1", *in_pdb, ":", "-np", "1", *alone], "[1] x is 41")
        self.assertEqual(self.screen.rows.count("[1] x is 41"), 1)
        self.screen = Screen()
        self.debug_rank_0(["-np", "2", *in_pdb], "[1] (Pdb) ")  # which finds no input, and ends

    def test_it_fits_the_terminal_at_every_size(self):
        self.start("wait")
        self.await_status("2 running")
        self.resize(30)
        self.await_screen(lambda rows: len(rows[-1]) == 29 and rows[-1].endswith("..."))
        self.resize(15)
        self.await_screen(lambda rows: rows[-1] == "")
        self.resize(120)
        self.await_status("2 running")
        self.let_go()
        self.assertEqual(self.output(), [])

    @gate
    def test_control_z_gives_the_terminal_back_and_fg_takes_it(self):
        self.start("wait; echo went on")
        self.await_status("2 running")
        self.type("\x1a")
        self.await_screen(lambda rows: rows[-1] == "> ")
        self.assertFalse([row for row in self.screen.rows if row.startswith(STATUS)])
        self.type("fg\n")
        self.await_status("2 running")
        self.let_go()
        self.assertEqual(sorted(self.output()), ["[0] went on", "[1] went on"])

    def test_in_the_background_there_is_none(self):
        self.start("wait; echo went on", "--stdin", "none")
        self.await_status("2 running")
        self.type("\x1a")
        self.await_screen(lambda rows: rows[-1] == "> ")
        before = len(self.raw)
        self.type("bg\n")
        self.await_screen(lambda rows: rows[-1] == "> " and any("&" in row for row in rows))
        self.assertTrue(self.stays_without(STATUS, before))
        self.type("fg\n")
        self.await_status("2 running")
        self.let_go()

    @gate
    def test_the_report_stands_alone(self):
        self.start("wait; exit 3")
        self.await_status("2 running")
        self.let_go()
        self.assertIn("exit status 3, that of rank", "\n".join(self.screen.rows))
        self.assertFalse([row for row in self.screen.rows if row.startswith(STATUS)])

    def test_there_is_none_where_none_is_wanted_or_could_be(self):
        for words in (["--no-status"], ["-q"], ["--sanitize", "never"]):
            with self.subTest(words=words):
                self.start("wait", *words)
                self.assertTrue(self.stays_without(STATUS))
                self.let_go()
        for redirected in ("2>/dev/null", f">{self.folder}/out"):
            with self.subTest(redirected=redirected):
                self.type(f"TERM=xterm {shlex.quote(str(SML_RUN))} -np 2 sh -c 'read line < {self.folder}/go' {redirected}\n")
                self.assertTrue(self.stays_without(STATUS))
                self.let_go()
        self.type(f"TERM=dumb {shlex.quote(str(SML_RUN))} -np 2 sh -c 'read line < {self.folder}/go'\n")
        self.assertTrue(self.stays_without(STATUS))
        self.let_go()


def read_until(job, pattern):
    """What the job prints until the pattern is in it."""
    text = ""
    while not re.search(pattern, text):
        text += job.read_until("\n").decode()
    return text


class StatusSignal(TestCase):
    @gate
    def test_a_table_of_all_and_the_workers_get_nothing(self):
        for name, signo in (("USR1", signal.SIGUSR1), ("QUIT", signal.SIGQUIT)):
            with self.subTest(signal=name), sml_run_popen(
                    "-np", "2", "--status-signal", name, "--stdin", "all", "sh", "-c",
                    f"trap 'echo got it' {name}; echo ready; read line; echo end", stdin=subprocess.PIPE,
                    stderr=subprocess.STDOUT) as job:
                read_until(job, r"(?s)ready\n.*ready\n")
                job.send_signal(signo)
                table = read_until(job, r"(?s)running \d.*running \d.*\n")
                done = job.finish(input="go\n")
                self.assert_status(done, 0)
                self.assertRegex(table, r"sml-run: status after \d+:\d\d: hosts 1/1; ranks 2 running\n")
                for rank in "01":
                    self.assertRegex(table, rf"sml-run: +{rank}  \S+ +\d+ +6 B +\d+:\d\d +running \d+:\d\d\n")
                self.assertNotIn("got it", table + done.stdout)
                self.assertEqual(done.stdout.count("] end\n"), 2)


class Silence(TestCase):
    @gate
    def test_who_is_silent_and_who_prints_again(self):
        """All print, and then one of them does not; the others have 20 times as long as they need for a line."""
        folder, limit = self.temporary_directory(), int(1000 * scaled(2))
        hush, go, printed = folder / "hush", folder / "go", [folder / f"printed{rank}" for rank in range(3)]
        script = f'while :; do echo x; : > {folder}/printed$RANK; [ $RANK = 1 ] && [ -e {hush} ] && read line < {go} && rm {hush}; ' \
                 'sleep 0.1; done'
        os.mkfifo(go)
        with sml_run_popen("-np", "3", "--warn-silent", f"{limit}ms", "--quiet-workers", "sh", "-c", script,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as job:
            wait_until(lambda: all(file.exists() for file in printed))
            hush.touch()
            read_until(job, r"sml-run: rank 1 on \S+ has printed nothing for [\d.]+ m?s, while others have \(--warn-silent\)\n")
            go.write_text("go\n")
            read_until(job, r"sml-run: rank 1 on \S+ prints again\n")
            job.send_signal(signal.SIGTERM)
            self.assert_status(job.finish(), 143)


class Watch(TestCase):
    def setUp(self):
        super().setUp()
        self.folder = self.temporary_directory()

    def goes_on(self, job, seconds):
        self.assertTrue(stays(lambda: job.poll() is None, looks=int(50 * seconds)))

    @gate
    def test_a_rank_that_stops_ends_the_job_with_123(self):
        report, events, limit = self.folder / "report", self.folder / "events", scaled(4)  # the other is never so late
        script = 'i=0; while :; do [ $RANK$i = 17 ] || echo "step $i"; i=$((i+1)); [ $RANK = 1 ] && [ $i -gt 7 ] && ' \
                 'exec sleep 600; sleep 0.05; done'
        done = sml_run("-np", "2", "--watch", f"^step [0-9]+$;first=1h;every={limit}s", "--report", report, "--events",
                       events, "sh", "-c", script)
        self.assert_status(done, 123)
        self.assertRegex(done.stderr, r'\nsml-run: stopped: rank 1 on \S+ has printed no line that matches '
                                      rf'"\^step \[0-9\]\+\$" for {limit:g} s \(--watch\)\n')
        told = schemas.checked("report", report.read_text())
        self.assertEqual(told["exit_code"], 123)
        self.assertEqual(told["no_progress"], {"ranks": [1], "pattern": "^step [0-9]+$", "limit": "every", "limit_s": limit})
        told = schemas.checked_lines("event", events.read_text())
        self.assertEqual([e["cause"] for e in told if e["event"] == "stop"], ["no_progress"])
        self.assertEqual(told[-1]["exit_code"], 123)

    def test_ranks_that_never_begin(self):
        done = sml_run("-np", "3", "--watch", "loss;first=500ms", "sh", "-c", "echo no los; exec sleep 600")
        self.assert_status(done, 123)
        # Their limits pass one after the other, in the order of their starts: a look may come in between.
        self.assertRegex(done.stderr, r'stopped: (ranks 0-[12] on \S+ have|rank 0 on \S+ has) printed no line that matches "loss" in the '
                                      r'first 500 ms \(--watch\)\n')

    def test_lines_count_wherever_they_go(self):
        """The limit for the next line begins with the first one that counts: without it there would be an hour."""
        jobs = []
        for rank in (0, 1):
            for options in (["--quiet-workers"], ["--log-dir", self.folder / f"a{rank}"], ["--dedup", "--collapse-cr"],
                            ["--log-dir", self.folder / f"b{rank}", "--log-on-host"], ["--output-filename", f"{self.folder}/c{rank}:nocopy"]):
                rule = f"step;first=1h;every=300ms;ranks={rank}"
                jobs.append((rank, options, self.enterContext(sml_run_popen(
                    "-np", "2", "--watch", rule, *options, "sh", "-c", "echo step >&2; exec sleep 600"))))
        for rank, options, job in jobs:
            with self.subTest(rank=rank, options=options):
                done = job.finish()
                self.assert_status(done, 123)
                self.assertRegex(done.stderr, rf'stopped: rank {rank} on \S+ has printed no line that matches "step" for 300 ms \(--watch\)\n')

    def test_only_named_ranks_are_watched(self):
        """Neither prints; rank 0 began first, so its limit would pass first."""
        done = sml_run("-np", "2", "--watch", "loss;first=500ms;ranks=1", "sh", "-c", "exec sleep 600")
        self.assert_status(done, 123)
        self.assertRegex(done.stderr, r'stopped: rank 1 on \S+ has printed no line that matches "loss" in the first 500 ms \(--watch\)\n')

    def test_a_reader_that_waits_makes_nobody_late(self):
        """The ranks cannot print while nobody reads; nobody is to blame for that."""
        script = "head -c 60000000 /dev/zero | tr '\\0' 'x' | fold -w 99"
        limit = scaled(3)
        with sml_run_popen("-np", "2", "--watch", f"xxx;first=1h;every={limit}s", "sh", "-c", script) as job:
            job.read_until("xxx\n")
            self.goes_on(job, limit + 1)
            wanted = int(7.9 * 2**20)  # most of what is held for the reader: no rank is given leave to go on
            while wanted > 0:
                wanted -= len(os.read(job.stdout.fileno(), min(wanted, 65536)))
            self.goes_on(job, limit + 1)
            done = job.finish(binary=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(len(done.stdout), 100_000_000)

    def test_a_job_that_prints_much_can_be_stopped_for_long(self):
        """Its output is acknowledged until the moment at which sml-run stops, and that sets nothing going again."""
        script = "yes 0123456789012345678901234567890123456789 | head -c 150000000"
        with sml_run_popen("-np", "2", *heartbeat(2)[0], "sh", "-c", script, text=False) as job:
            os.read(job.stdout.fileno(), 65536)
            job.send_signal(signal.SIGTSTP)
            while open(f"/proc/{job.pid}/stat").read().rsplit(")", 1)[1].split()[0] != "T":
                if select.select([job.stdout], [], [], 0.1)[0]:
                    os.read(job.stdout.fileno(), 1 << 20)
            self.goes_on(job, scaled(2) * 2)  # agents wait for less where a launcher is not stopped
            job.send_signal(signal.SIGCONT)
            done = job.finish(binary=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_job_that_is_stopped_makes_nobody_late(self):
        script = "while :; do echo x; sleep 0.1; done"
        limit = scaled(3)
        with sml_run_popen("-np", "2", "--watch", f"x;first=1h;every={limit}s", "sh", "-c", script,
                           stderr=subprocess.STDOUT) as job:
            job.read_until("[1] x\n")
            job.send_signal(signal.SIGTSTP)
            wait_until(lambda: "T" in open(f"/proc/{job.pid}/stat").read().rsplit(")", 1)[1].split()[0])
            self.goes_on(job, limit + 1)
            job.send_signal(signal.SIGCONT)
            read_until(job, r"(?s)(\[0\] x.*){10}\n")
            job.send_signal(signal.SIGTERM)
            self.assert_status(job.finish(), 143)

    def test_bad_rules_are_refused_before_anything_starts(self):
        for words, message in ((["--watch", "loss"], "has no time limit"),  # unit tests have the others
                               (["--watch", "x;first=1;ranks=2"], "there is no rank 2; the job's ranks are 0 to 1")):
            with self.subTest(words=words):
                done = sml_run("-np", "2", *words, "echo", "started")
                self.assert_status(done, 2)
                self.assertIn(message, done.stderr)
                self.assertEqual(done.stdout, "")


class OverSsh(HostsCase):
    @gate
    def test_a_rank_on_another_host_is_watched_there_too(self):
        script = "for i in 1 2 3 4 5; do echo step; sleep 0.1; done; " \
                 "[ $RANK = 0 ] || exec sleep 600; while :; do echo step; sleep 0.1; done"
        limit = scaled(3)
        done = self.bed.sml_run("algo-1", "-H", self.bed.hosts(), "--watch", f"step;first=1h;every={limit}s", "sh", "-c", script)
        self.assert_status(done, 123)
        self.assertIn(f'stopped: rank 1 on algo-2 has printed no line that matches "step" for {limit:g} s (--watch)', done.stderr)
        self.assertGreaterEqual(done.stdout.count("[1] step"), 5)

    def test_last_words_of_a_lost_host_come_before_the_report(self):
        script = f"{shlex.quote(str(SML_RUN))} -H {self.bed.hosts()} {shlex.join(heartbeat(2)[0])} " \
                 "--log-dir /run/logs --log-overwrite sh -c 'printf \"words without end\"; exec sleep 600' 2>&1"
        logged = self.bed.path("algo-1", "/run/logs/rank.1/stdout")
        self.addCleanup(shutil.rmtree, self.bed.path("algo-1", "/run/logs"), ignore_errors=True)
        with self.bed.popen("algo-1", ["sh", "-c", script]) as job:
            wait_until(lambda: logged.exists() and logged.read_text() == "words without end")
            self.addCleanup(self.bed.start, "algo-2")
            self.bed.kill("algo-2", fin=True)
            done = job.finish()
        self.assert_status(done, 125)
        self.assertIn("[1] words without end\n", done.stdout)
        self.assertLess(done.stdout.index("[1] words"), done.stdout.index("sml-run: algo-2: "), done.stdout)

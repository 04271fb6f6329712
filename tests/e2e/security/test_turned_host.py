"""What a host of the job that turns can not do: it has the agent's end of a connection, and says what it likes."""
import os
import pathlib
import re
import shlex

from harness import PYTHON, SML_RUN, TestCase, gate, run

AGENT = pathlib.Path(__file__).with_name("turned_agent.py")

# Runs sml-run and says, after its output, the most memory that it or what it started had, in MB.
MEASURED = ("import resource, subprocess, sys; s = subprocess.call(sys.argv[1:]); "
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024, file=sys.stderr); sys.exit(s)")


class Turned(TestCase):
    def job(self, behaviour, hosts, *words, env=None):
        home = {"XDG_CACHE_HOME": str(self.temporary_directory())}
        return run([PYTHON, "-c", MEASURED, SML_RUN, "--ssh-command", shlex.join([PYTHON, str(AGENT), behaviour]), "-H", hosts,
                    "--grace", "200ms", *words], env={**home, **(env or {})})


class Protocol(Turned):
    """Memory of the launcher, and what it takes for true, at the mercy of a host."""

    def assert_given_up(self, behaviour, rule, hosts="evil"):
        done = self.job(behaviour, hosts, "sleep", "3600")
        self.assert_status(done, 125)
        self.assertRegex(done.stderr, f"sml-run: evil: broke the protocol: {rule}\n")
        self.assertNotIn("forged", done.stdout)
        self.assertLess(int(done.stderr.splitlines()[-1]), 100, done.stderr)

    @gate
    def test_exits_without_end(self):
        self.assert_given_up("exits_without_end", "sent an error file of rank 0 again, or after its end")

    def test_a_second_exit(self):
        self.assert_given_up("second_exit", "sent the end of rank 0 twice")

    def test_output_beyond_its_credit(self):
        self.assert_given_up("output_beyond_credit", r"sent 65536 bytes of output, and was allowed \d+")

    def test_an_error_file_of_a_megabyte(self):
        self.assert_given_up("long_error_file", "sent a text of 1000000 bytes, more than 65536")

    @gate
    def test_news_of_a_rank_of_another_host(self):
        self.assert_given_up("rank_of_another_host", "named rank 0, which is not on this host", hosts="true-1,evil")

    def test_an_exit_before_the_start(self):
        self.assert_given_up("exit_before_start", "sent news of rank 0 before it had started its workers")

    def test_answers_that_nobody_asked_for(self):
        self.assert_given_up("unasked_answers", "answered a ping that nobody had sent")

    def test_a_long_remark(self):
        self.assert_given_up("long_remark", "sent a text of 100000 bytes, more than 65536")

    def test_remarks_without_end(self):
        self.assert_given_up("remarks_without_end", "sent 100001 log messages, more than 100000")


class Words(Turned):
    """Escape sequences in all that an agent says and that is shown."""

    def assert_shown(self, done, times):
        said = done.stdout + done.stderr
        self.assertIsNone(re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", said), said)
        self.assertGreaterEqual(said.count("\\x1b[2J"), times, said)
        self.assertIsNone(re.search("(?m)^sml-run: all is well", said), said)

    def test_obstacles_hints_and_warnings(self):
        done = self.job("escapes_in_an_obstacle", "evil", "true")
        self.assert_status(done, 125)
        self.assert_shown(done, 3)

    @gate
    def test_evidence_remarks_errors_and_what_is_left(self):
        done = self.job("escapes_while_it_runs", "evil", "true")
        self.assert_status(done, 128 + 9)
        self.assert_shown(done, 4)

    @gate
    def test_facts_and_addresses_of_a_check(self):
        for options in ([], ["--format", "json"]):
            with self.subTest(options=options):
                done = self.job("escapes_in_facts", "evil", "--check", *options, "true")
                self.assertNotEqual(done.returncode, 0)
                self.assert_shown(done, 1)


class Addresses(Turned):
    @gate
    def test_others_knock_at_few_addresses_that_hosts_can_have(self):
        asked = pathlib.Path(self.temporary_directory()) / "asked"
        done = self.job("many_addresses", "evil,listener", "true", env={"SML_TEST_PROBES": str(asked)})
        self.assert_status(done, 125)
        self.assertEqual(asked.read_text().split(), [f"10.1.0.{i}" for i in range(16)])


class Secrets(Turned):
    """Of the environment that sml-run has, what looks like a secret is not for every host of a job."""

    TELL = ("sh", "-c", 'echo "${HF_TOKEN-none} ${AWS_SECRET_ACCESS_KEY-none} ${LEVEL-none}"')
    ENV = {"HF_TOKEN": "hf", "AWS_SECRET_ACCESS_KEY": "aws", "LEVEL": "3", "TOKENIZERS_PARALLELISM": "true"}

    def told(self, *options, hosts="true-1"):
        held = {name: None for name in os.environ if name not in ("PATH", "HOME")}
        done = self.job("-", hosts, *options, *self.TELL, env={**held, **self.ENV})
        self.assert_status(done, 0)
        lines = [ln for ln in done.stderr.splitlines() if "secret" in ln]
        return done.stdout, lines

    @gate
    def test_they_stay_and_one_line_says_so(self):
        out, lines = self.told("-np", "2", hosts="true-1,true-2")
        self.assertEqual(sorted(out.splitlines()), ["[0] none none 3", "[1] none none 3"])
        self.assertEqual(lines, ["sml-run: 2 variables that look like secrets stay here: AWS_SECRET_ACCESS_KEY, HF_TOKEN; "
                                 "-x NAME or --export-secrets sends them"])
        self.assertEqual(self.told("-q"), ("none none 3\n", []))

    def test_they_go_when_asked_for(self):
        out, lines = self.told("-x", "HF_TOKEN")
        self.assertEqual(out, "hf none 3\n")
        self.assertEqual(lines, ["sml-run: 1 variable that looks like a secret stays here: AWS_SECRET_ACCESS_KEY; "
                                 "-x NAME or --export-secrets sends it"])
        self.assertEqual(self.told("--export-secrets"), ("hf aws 3\n", []))
        self.assertEqual(self.told("-x", "HF_*", "-x", "AWS_*"), ("hf aws 3\n", []))

    def test_workers_here_have_them(self):
        self.assertEqual(self.told(hosts="localhost"), ("hf aws 3\n", []))

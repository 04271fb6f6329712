"""What `ps`, `status`, `logs`, `stop` and the like make of another user's jobs, and of processes that pretend to be launchers."""
import json
import pathlib

from harness import PYTHON, HostsCase, gate, wait_until
from jobs import sh
from test_running_jobs import CONNECT, WORKER as ANSWERS

LIAR = str(pathlib.Path(__file__).with_name("liar.py"))
WORKER = "echo ready; exec sleep 1000"
IN_A_NAMESPACE = ["unshare", "-Urm", "sh", "-c", 'mount -t tmpfs none /tmp && exec "$@"', "sh"]


class FalseJobs(HostsCase):
    """On a host where root's job runs, and `tester` has an account."""

    hosts = 2
    folders = "/tmp/sml-run-7700 /tmp/sml-run-0 /tmp/root /tmp/away"

    def setUp(self):
        self.job = self.enterContext(self.bed.sml_run_popen("algo-1", "-np", "1", "sh", "-c", WORKER))
        self.job.read_until("ready\n")
        self.addCleanup(self.end)
        [self.mine] = wait_until(lambda: [one["id"] for one in self.listed()])

    def end(self):
        self.job.terminate()
        self.job.finish()
        sh(self.bed, "algo-1", f"rm -rf {self.folders}")

    def ask(self, *words):
        return self.bed.sml_run("algo-1", *words)

    def listed(self):
        return json.loads(self.ask("ps", "--format", "json").stdout)

    def lie(self, name, how, *more, before=(), user="tester"):
        liar = self.enterContext(self.bed.popen("algo-1", [*before, PYTHON, LIAR, name, how, *more], user=user, stdin=-1))
        self.addCleanup(liar.terminate)
        liar.read_until("up\n")
        return liar

    def assert_job_goes_on(self):
        self.assertEqual(self.ask("logs", self.mine).stdout, "[0] ready\n")
        self.assertIsNone(self.job.poll())

    @gate
    def test_the_id_of_ones_own_job(self):
        """In the user's own folder, and in a mount namespace where the user is root."""
        for before in ([], IN_A_NAMESPACE):
            with self.subTest(before=before):
                self.lie(self.mine, "id", before=before)
                self.assertEqual([(one["id"], one.get("user")) for one in self.listed()], [(self.mine, None)])
                self.assertIn("it has the id of a job of yours", self.ask("ps").stderr)
                self.assertNotIn("fine", self.ask("status", self.mine).stdout)
                self.assert_job_goes_on()
        self.assert_status(self.ask("stop", self.mine), 0)
        self.assertEqual(self.job.finish().returncode, 143)

    def test_the_id_of_a_job_that_has_ended(self):
        """Who holds it then is named with all that they answer."""
        self.job.terminate()
        self.job.finish()
        self.lie(self.mine, "id")
        for word, *more in (("status",), ("stacks",), ("logs",), ("signal", "USR1")):
            done = self.ask(word, self.mine, *more)
            self.assert_status(done, 0)
            self.assertIn(f"job {self.mine} of user 7700 is asked, as no job of yours fits", done.stderr)

    def test_a_process_that_listens_under_the_cover_of_another(self):
        """A process named sml-run makes its user's sockets count, and must be the one that listens there."""
        self.lie("sml-zfalse", "covered")
        self.assertEqual([one["id"] for one in self.listed()], [self.mine])
        self.assertIn("user 7700, 1 job: another process listens in its place, of user 7700", self.ask("ps").stderr)
        self.assertIn("no job of yours has the id", self.ask("status", "sml-zfalse").stderr)

    def test_who_does_not_answer_is_not_passed_over_in_silence(self):
        self.lie("sml-zfalse", "shut")
        self.assertIn("user 7700, 1 job: it has just ended, or does not answer this user", self.ask("ps").stderr)

    def test_root_of_a_namespace_that_another_user_made_is_not_answered(self):
        [path] = sh(self.bed, "algo-1", "ls /tmp/sml-run-0/*").split()
        sh(self.bed, "algo-1", 'chmod 755 /tmp/sml-run-0; chmod 777 "$1"', path)  # as if it had been passed in
        self.addCleanup(sh, self.bed, "algo-1", "chmod 700 /tmp/sml-run-0")
        connect = [PYTHON, "-c", CONNECT, path]
        self.assertNotEqual(self.bed.exec("algo-1", connect).stdout.strip(), "answer b''")
        root = self.bed.exec("algo-1", ["unshare", "-Ur", *connect], user="tester")
        self.assertIn(root.stdout.strip(), ("answer b''", "refused 32", "refused 104"), root)

    def test_an_id_in_the_answer_that_the_socket_has_not(self):
        self.lie(self.mine, "other")
        self.assertEqual([one["id"] for one in self.listed()], [self.mine])
        self.assertIn("it gives another id in its answer", self.ask("ps").stderr)
        self.assert_job_goes_on()

    def test_jobs_of_another_user_are_shown_as_such_and_never_meant_without_an_id(self):
        self.lie("sml-zfalse", "id")
        self.assertEqual([(one["id"], one.get("user")) for one in self.listed()], [(self.mine, None), ("sml-zfalse", "tester")])
        self.assertRegex(self.ask("ps").stdout, r"(?m)^JOB +USER .*\n.* - .*\nsml-zfalse +tester ")
        for words in (("status",), ("logs",), ("status", "sml-")):
            self.assertNotIn("fine", self.ask(*words).stdout, words)
        self.assertIn("job sml-zfalse of user 7700 has ended", self.ask("stop", "sml-z").stderr)
        self.assert_job_goes_on()

    def test_a_socket_of_another_user_in_ones_own_folder(self):
        self.lie("sml-zfalse", "root", user="root")
        self.assertEqual([one["id"] for one in self.listed()], [self.mine])
        self.assertIn("another process listens in its place, of user 7700", self.ask("ps").stderr)
        self.assertIn("no job of yours has the id", self.ask("stop", "sml-zfalse").stderr)

    def test_a_folder_that_is_not_its_users_alone(self):
        self.lie("sml-zfalse", "open")
        self.assertEqual([one["id"] for one in self.listed()], [self.mine])
        self.assertIn("no job of yours has the id", self.ask("status", "sml-zfalse").stderr)

    def test_no_more_than_so_many_of_one_user_are_asked(self):
        self.lie("sml-silent", "silent", "70")
        self.assertIn("user 7700, 64 jobs: its launcher does not answer", self.ask("ps").stderr)

    def test_silence_holds_nobody_up(self):
        """All are asked at once, in the time that one has."""
        liar = self.lie("sml-silent", "silent", "40")
        self.assertIn("user 7700, 40 jobs: its launcher does not answer", self.ask("ps").stderr)
        self.assert_status(self.ask("status", self.mine), 0)
        self.assertEqual(liar.finish(input="\n").stdout, "40\n")

    def test_a_long_summary_is_not_taken(self):
        self.lie("sml-long", "long")
        done = self.ask("ps")
        self.assertIn("user 7700, 1 job: what came is no message of sml-run", done.stderr)
        self.assertNotIn("sml-long", done.stdout)

    def test_links_of_a_container_stay_in_it(self):
        """The /run of a liar's root folder is a link: to a place in that folder, and to one that is outside as well."""
        for how, listed in (("out", [self.mine]), ("in", [self.mine, "sml-zfalse"])):
            with self.subTest(how=how):
                liar = self.lie("sml-zfalse", how, before=["unshare", "-Ur"])
                self.assertEqual([one["id"] for one in self.listed()], listed)
                liar.finish(input="\n")
                sh(self.bed, "algo-1", "rm -rf /tmp/root /tmp/away")


class JobsOfOthers(HostsCase):
    """On a host where a job of `tester` runs: what root may do with it."""

    hosts = 1

    def setUp(self):
        self.job = self.enterContext(self.bed.sml_run_popen("algo-1", "-np", "1", "sh", "-c", ANSWERS, user="tester"))
        self.job.read_until("ready 0\n")
        [listed] = wait_until(lambda: json.loads(self.ask("ps", "--format", "json").stdout))
        self.assertEqual((listed["user"], listed["ranks"]), ("tester", 1))
        self.name = listed["id"]

    def ask(self, *words):
        return self.bed.sml_run("algo-1", *words)

    @gate
    def test_root_sees_and_stops_it(self):
        self.assertRegex(self.ask("ps").stdout, rf"(?m)^JOB +USER .*\n{self.name} +tester ")
        self.assertIn("ready 0", self.ask("logs", self.name).stdout)
        self.assert_status(self.ask("signal", self.name, "USR1"), 0)
        wait_until(lambda: "told 0" in self.ask("logs", self.name).stdout)
        done = self.ask("stop", self.name)
        self.assert_status(done, 0)
        self.assertIn(f"job {self.name} of user 7700 has ended with status 143", done.stderr)
        ended = self.job.finish()
        self.assertEqual(ended.returncode, 143)
        self.assertRegex(ended.stderr, r"sml-run stop \(pid \d+, of root\)")

    def test_it_is_never_meant_without_its_id(self):
        for words in (("status",), ("logs",), ("stop",)):
            self.assertNotEqual(self.ask(*words).returncode, 0, words)
        self.assertIn("running", self.ask("status", self.name).stdout)
        self.job.terminate()
        self.assertEqual(self.job.finish().returncode, 143)

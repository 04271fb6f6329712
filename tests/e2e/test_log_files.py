"""--log-dir and its kin: what each rank prints, byte for byte, in files of its own."""
import os
import resource
import signal
import subprocess

from harness import SML_RUN, TestCase, Testbed, gate, run, sml_run, sml_run_popen, wait_until
from jobs import PROBE, TROUBLE, assert_says

COUNT, LONGEST = 2000, 20000


def tree(folder):
    """{path below the folder: bytes} of all files."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


class Here(TestCase):
    def setUp(self):
        self.top = self.temporary_directory()
        self.dir = self.top / "logs"

    @gate
    def test_every_rank_has_its_own_files_whatever_is_printed(self):
        script = "printf '%s\\n\\0\\377\\r no end' out$RANK; printf err$RANK >&2"
        done = sml_run("-np", "12", "--log-dir", self.dir, "--no-tag", "sh", "-c", script)
        self.assert_status(done, 0)
        self.assertEqual(tree(self.dir), {f"rank.{r:02}/{stream}": data for r in range(12) for stream, data in
                                          (("stdout", b"out%d\n\0\xff\r no end" % r), ("stderr", b"err%d" % r))})
        self.assertIn("out11\n", done.stdout)  # and is printed still

    @gate
    def test_large_output_is_the_same_as_without_a_launcher(self):
        done = sml_run("-np", "4", "--log-dir", self.dir, PROBE, "lines", str(COUNT), str(LONGEST), stdout=subprocess.DEVNULL)
        self.assert_status(done, 0)
        for rank in range(4):
            alone = run([PROBE, "lines", str(COUNT), str(LONGEST)], binary=True, env={"RANK": str(rank)})
            for stream, data in (("stdout", alone.stdout), ("stderr", alone.stderr)):
                self.assertTrue((self.dir / f"rank.{rank}/{stream}").read_bytes() == data, (rank, stream))

    def test_a_layout(self):
        done = sml_run("-np", "2", "--log-dir", self.dir, "--log-layout", "{host}-{local_rank}.{stream}", "echo", "x")
        self.assert_status(done, 0)
        self.assertEqual(tree(self.dir), {f"localhost-{r}.{s}": b"x\n" if s == "stdout" else b""
                                          for r in (0, 1) for s in ("stdout", "stderr")})

    def test_lines_that_match_are_written_to_one_file_too(self):
        script = "echo plain; echo 'a loss of nan' in $RANK; printf 'a nan at the end'; echo nan >&2"
        words = ["--log-match-stdout", "nan,inf", "--log-match-layout", "{host}.{stream}"]
        done = sml_run("-np", "2", "--log-dir", self.dir, *words, "sh", "-c", script)
        self.assert_status(done, 0)
        found = tree(self.dir)
        self.assertEqual(sorted(found.pop("localhost.stdout").splitlines()),
                         sorted(line % rank for rank in (0, 1) for line in (b"[%d] a loss of nan in " + b"%d" % rank,
                                                                            b"[%d] a nan at the end")))
        self.assertEqual(sorted(found), [f"rank.{r}/{s}" for r in (0, 1) for s in ("stderr", "stdout")])
        done = sml_run("--log-dir", self.top / "new", "--log-match-layout", "rank.{rank}/stdout", "--log-match-stderr", "x", "true")
        self.assert_status(done, 2)
        assert_says(self, done, "^--log-match-layout rank.{rank}/stdout: gives .* to more than one stream")

    def test_lines_that_match_are_written_here_in_each_attempt(self):
        mark = self.top / "mark"
        script = f"test $RANK = 0 || exit 0; echo nan; test -e {mark} || {{ touch {mark}; exit 3; }}"
        done = sml_run("-np", "2", "--log-dir", self.dir, "--log-on-host", "--log-match-stdout", "nan", "--max-restarts", "1", "sh",
                       "-c", script)
        self.assert_status(done, 0)
        found = tree(self.dir)
        for name in ("matched.stdout", "restart.1/matched.stdout"):
            self.assertEqual(found[name], b"[0] nan\n", name)

    def test_layouts_that_are_refused(self):
        for layout, words in {"{stream}": "gives .*std... to more than one stream",
                              "{node}": "has {node}; the words are"}.items():  # unit tests have the others
            done = sml_run("-np", "2", "--log-dir", self.dir, "--log-layout", layout, "true")
            self.assert_status(done, 2)
            self.assertRegex(done.stderr, words)
        self.assert_status(sml_run("--log-layout", "{rank}", "true"), 2)
        self.assertFalse(self.dir.exists())

    def test_earlier_logs_are_kept_unless_asked(self):
        self.assert_status(sml_run("--log-dir", self.dir, "echo", "first"), 0)
        mark = self.top / "started"
        done = sml_run("--log-dir", self.dir, "touch", mark)
        self.assert_status(done, 2)
        assert_says(self, done, f"^--log-dir: {self.dir}/rank.0/stdout is there already, from an earlier job$",
                    "^hint: name another folder, or --log-overwrite$", never=".")
        self.assertFalse(mark.exists())
        self.assert_status(sml_run("--log-dir", self.dir, "--log-overwrite", "echo", "second"), 0)
        self.assertEqual((self.dir / "rank.0/stdout").read_text(), "second\n")

    @gate
    def test_rotation_loses_nothing_that_it_keeps(self):
        done = sml_run("--log-dir", self.dir, "--log-max-size", "1K", "seq", "800")  # 3092 bytes
        self.assert_status(done, 0)
        names = [f"rank.0/stdout{end}" for end in (".3", ".2", ".1", "")]
        files = tree(self.dir)
        self.assertEqual(b"".join(files[n] for n in names), "".join(f"{n}\n" for n in range(1, 801)).encode())
        for name in names:
            self.assertLessEqual(len(files[name]), 1024)
            self.assertTrue(files[name].endswith(b"\n"), name)

    def full_disk(self):
        """A folder whose file of rank 1 is full at once."""
        (self.dir / "rank.1").mkdir(parents=True)
        os.mknod(self.dir / "rank.1/stdout", 0o666 | 0o020000, os.makedev(1, 7))  # /dev/full

    @gate
    def test_a_full_disk_is_one_warning(self):
        self.full_disk()
        done = sml_run("-np", "2", "--log-dir", self.dir, "--log-overwrite", "sh", "-c", "echo a; echo b")
        self.assert_status(done, 0)
        assert_says(self, done, f"^the logs of ranks are not complete: cannot write {self.dir}/rank.1/stdout: "
                    "no space left on device; the job goes on$", never=TROUBLE)
        self.assertEqual(done.stderr.count("the logs of ranks"), 1)
        self.assertEqual((self.dir / "rank.0/stdout").read_text(), "a\nb\n")

    @gate
    def test_a_full_disk_ends_a_strict_job(self):
        self.full_disk()
        done = sml_run("-np", "2", "--log-dir", self.dir, "--log-overwrite", "--log-strict", "sh", "-c",
                       "echo a; exec sleep 600")
        self.assert_status(done, 125)
        self.assertIn("stopped: the logs of ranks cannot be kept: cannot write", done.stderr)

    def test_a_folder_that_cannot_be_made(self):
        self.dir.write_text("a file")
        mark = self.top / "started"
        for options in ([], ["--check"], ["--log-strict"]):
            done = sml_run("--log-dir", self.dir / "a/b", *options, "touch", mark)
            self.assert_status(done, 125)
            self.assertIn(f"--log-dir: cannot make the folder {self.dir}/a: not a directory\n", done.stderr)
            self.assertFalse(mark.exists())

    def test_a_folder_that_goes_away_before_the_start(self):
        """What could not be seen before is a warning, unless the logs are needed."""
        # While the agent looks for the program, in this shell's place, the folder becomes a file.
        self.dir.mkdir()
        script = self.top / "ssh"
        script.write_text(f"#!/bin/sh\nrmdir {self.dir}\necho > {self.dir}\nshift\nexec sh -c \"$*\"\n")
        script.chmod(0o755)
        done = sml_run("--ssh-command", script, "-H", "elsewhere", "--log-dir", self.dir, "echo", "done")
        self.assertEqual((done.returncode, done.stdout), (0, "done\n"))
        assert_says(self, done, "^the logs of ranks are not complete: cannot make the folder .*; the job goes on$", never=TROUBLE)

    def test_a_job_that_does_not_start_leaves_no_logs(self):
        self.assert_status(sml_run("--log-dir", self.dir, "no-such-program"), 127)
        self.assertFalse(self.dir.exists())

    def test_modes_follow_the_umask(self):
        done = run(["sh", "-c", 'umask 027; exec "$@"', "sh", SML_RUN, "--log-dir", self.dir, "true"])
        self.assert_status(done, 0)
        self.assertEqual([(self.dir / p).stat().st_mode & 0o777 for p in ("rank.0", "rank.0/stdout")], [0o750, 0o640])

    def test_more_ranks_than_descriptors(self):
        go, script = self.top / "go", 'read line < "$0"; echo out $RANK; echo err $RANK >&2'
        os.mkfifo(go)
        with open(go, "r+b", buffering=0) as gate_of_all, sml_run_popen("-np", "300", "--log-dir", self.dir, "sh", "-c", script, go) as job:
            wait_until(lambda: len(list(self.dir.glob("*/stderr"))) == 300)
            resource.prlimit(job.pid, resource.RLIMIT_NOFILE, (64, 64))
            gate_of_all.write(b"\n" * 300)
            done = job.finish()
        self.assert_status(done, 0)
        assert_says(self, done, never=TROUBLE)
        self.assertEqual(tree(self.dir), {f"rank.{r:03}/std{s}": f"{s} {r}\n".encode()
                                          for r in range(300) for s in ("out", "err")})

    @gate
    def test_output_filename_is_as_open_mpi_has_it(self):
        for np, width in ((2, 1), (10, 2)):
            with self.subTest(np=np):
                folder = self.top / str(np)
                for _ in range(2):  # over those of the earlier one
                    done = sml_run("-np", str(np), "--output-filename", folder, "echo", "x")
                    self.assert_status(done, 0)
                    self.assertEqual(done.stdout.count("x\n"), np)
                self.assertEqual(tree(folder), {f"1/rank.{r:0{width}}/{s}": b"x\n" if s == "stdout" else b""
                                                for r in range(np) for s in ("stdout", "stderr")})
        done = sml_run("-np", "2", "--output-filename", f"{self.top}/quiet:nocopy", "echo", "x")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertEqual((self.top / "quiet/1/rank.0/stdout").read_text(), "x\n")

    @gate
    def test_logs_are_there_while_the_job_runs(self):
        with sml_run_popen("--log-dir", self.dir, "sh", "-c", "echo up; exec sleep 600") as job:
            file = self.dir / "rank.0/stdout"
            wait_until(lambda: file.exists() and file.read_text() == "up\n")
            job.send_signal(signal.SIGTERM)
            self.assertEqual(job.finish().returncode, 143)


class OnHosts(TestCase):
    allowed_files = ("/tmp/logs", "/tmp/logs/*")

    @classmethod
    def setUpClass(cls):
        cls.bed = Testbed.shared(2)

    def tearDown(self):
        for host in (*self.bed.names(), "head"):
            self.bed.exec(host, ["rm", "-rf", "/tmp/logs"])

    def job(self, *options):
        return self.bed.sml_run("head", "-H", self.bed.hosts(2), "--log-dir", "/tmp/logs", *options, "sh", "-c",
                                "echo out $RANK; echo err $RANK >&2")

    @gate
    def test_each_host_has_the_files_of_its_ranks(self):
        done = self.job("--log-on-host")
        self.assert_status(done, 0)
        self.assertEqual(done.stdout.count("out"), 4)
        for number, host in enumerate(self.bed.names()):
            self.assertEqual(tree(self.bed.path(host, "/tmp/logs")),
                             {f"rank.{r}/std{s}": f"{s} {r}\n".encode() for r in (2 * number, 2 * number + 1)
                              for s in ("out", "err")})
        self.assertFalse(self.bed.path("head", "/tmp/logs").exists())
        again = self.job("--log-on-host")
        self.assert_status(again, 2)
        self.assertRegex(again.stderr, "rank.0/stdout is there already")
        self.assert_status(self.job("--log-on-host", "--log-overwrite"), 0)

    def test_a_host_that_cannot_keeps_the_job_from_starting(self):
        self.bed.exec("algo-2", ["touch", "/tmp/logs"])
        for options in ([], ["--log-overwrite", "--log-strict"]):
            done = self.job("--log-on-host", *options)
            self.assert_status(done, 125)
            self.assertEqual(done.stdout, "")
            assert_says(self, done, "^algo-2: cannot make the folder /tmp/logs/[a-z0-9.]+: not a directory$")

    def test_logs_of_all_hosts_are_here_otherwise(self):
        self.assert_status(self.job(), 0)
        self.assertEqual(tree(self.bed.path("head", "/tmp/logs")),
                         {f"rank.{r}/std{s}": f"{s} {r}\n".encode() for r in range(4) for s in ("out", "err")})

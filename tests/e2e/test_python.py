"""The Python package sml_run (packaging/python): run(), and launch(), which calls a function on every rank."""
import errno
import importlib.util
import json
import os
import pathlib
import signal
import stat
import types

from harness import BUILD, PYTHON, REPO, SML_RUN, HostsCase, TestCase, gate, popen, run, wait_until

PACKAGE = REPO / "packaging/python"
E2E = pathlib.Path(__file__).resolve().parent
ENVIRONMENT = {"PATH": f"{BUILD}:/usr/bin:/bin", "PYTHONPATH": f"{PACKAGE}:{E2E}", "PYTHONDONTWRITEBYTECODE": "1"}

# Tells how a launch ended.
TELL = """import json, sys, launched, sml_run
def tell(*args, **kw):
    try:
        answer = {"results": sml_run.launch(*args, **kw)}
    except BaseException as error:
        cause = error.__cause__
        answer = {"type": type(error).__name__, "text": str(error), "cause": type(cause).__name__, "trace": str(cause),
                  "rank": getattr(error, "rank", None), "status": getattr(error, "status", None)}
    json.dump(answer, open(sys.argv[1], "w"), default=repr)
"""


class Python(TestCase):
    def python(self, code, *words, **env):
        return run([PYTHON, "-c", code, *words], env={**ENVIRONMENT, **env})

    def launched(self, call, **env):
        """(how the launch ended, what was printed)"""
        file = self.temporary_directory() / "answer"
        done = self.python(f"{TELL}\ntell({call})", file, **env)
        self.assert_status(done, 0)
        return json.loads(file.read_text()), done

    def test_the_module_is_the_program(self):
        done = run([PYTHON, "-m", "sml_run", "-np", "2", "sh", "-c", "exit $((RANK * 3))"], env=ENVIRONMENT)
        self.assert_status(done, 3)
        self.assertEqual(self.python("import sml_run; print(sml_run.path())").stdout, f"{BUILD}/sml-run\n")
        done = run([PYTHON, "-m", "sml_run"], env={**ENVIRONMENT, "PATH": "/nowhere"})
        self.assert_status(done, 1)
        self.assertRegex(done.stderr, "^sml_run: there is no program sml-run beside .*/sml_run or in PATH; install it with: pip install sml-run\n$")

    @gate
    def test_run_returns_status_and_report(self):
        done = self.python("import sml_run\ndone = sml_run.run(['-np', '2', 'sh', '-c', 'echo said; exit $((RANK * 3))'])\n"
                           "print(done.status, done.report.culprit.rank, done.report.ranks[1].exit_code, done.report.ranks[0].stopped_by)\n"
                           "print(sml_run.run(['--nonsense']))")
        self.assert_status(done, 0)
        self.assertRegex(done.stdout, r"\[1\] said\n")
        self.assertRegex(done.stdout, r"3 1 3 (None|sml-run)\nCompleted\(status=2, report=None\)")

    def test_a_program_that_others_can_write_is_passed_over(self):
        folder = self.temporary_directory()
        for place in ("open", "group"):
            (folder / place).mkdir()
            (folder / place / "sml-run").symlink_to(SML_RUN)
        (folder / "open").chmod(0o777)
        (folder / "group").chmod(0o775)
        os.chown(folder / "group", 0, 100)
        done = self.python("import sml_run; print(sml_run.path(), sml_run.path())", PATH=f"{folder}/open:{folder}/group:{BUILD}")
        self.assertEqual(done.stdout, f"{BUILD}/sml-run {BUILD}/sml-run\n", done)
        self.assertEqual(done.stderr, f"sml_run: {folder}/open/sml-run is not run, as {folder}/open can be written by every user of this machine\n"
                                      f"sml_run: {folder}/group/sml-run is not run, as {folder}/group can be written by others of its group 100\n")

    def test_the_working_directory_in_path_is_judged_and_named(self):
        """The name alone would be looked up anew, and be that of the open folder before it."""
        folder = self.temporary_directory()
        for place in ("open", "own"):
            (folder / place).mkdir()
            (folder / place / "sml-run").symlink_to(SML_RUN)
        (folder / "open").chmod(0o777)
        code = "import os, sys, sml_run; os.chdir(sys.argv[1]); print(sml_run.path())"
        for place, found in (("own", folder / "own/sml-run"), ("open", SML_RUN)):
            for element in ("", "."):
                done = self.python(code, folder / place, PATH=f"{folder}/open:{element}:{BUILD}")
                self.assertEqual(os.path.normpath(done.stdout), f"{found}\n", done)
                self.assertIn(f"sml_run: {folder}/open/sml-run is not run, as ", done.stderr)

    def test_run_writes_to_a_stream_that_is_no_descriptor(self):
        done = self.python("import contextlib, io, sml_run\nout = io.StringIO()\n"
                           "with contextlib.redirect_stdout(out): sml_run.run(['-np', '2', 'echo', 'said'])\n"
                           "print(sorted(out.getvalue().splitlines()))")
        self.assertEqual(done.stdout, "['[0] said', '[1] said']\n", done)

    @gate
    def test_results_by_rank_and_output_as_ever(self):
        answer, done = self.launched("launched.place, 'ab', times=2, nproc=3, env={'A': 'b'}")
        self.assertEqual(answer, {"results": [[rank, "localhost", "abab"] for rank in range(3)]})
        self.assertEqual(sorted(done.stdout.splitlines()),
                         sorted(f"[{rank}] {line}" for rank in range(3) for line in (f"out of {rank}", "no end of line")))
        self.assertEqual({line for line in done.stderr.splitlines() if "err" in line}, {f"[{r}] err of {r}" for r in range(3)})

    @gate
    def test_the_exception_of_the_rank_that_failed_first(self):
        answer, done = self.launched("launched.fails, 1, nproc=3")
        self.assertEqual((answer["type"], answer["text"], answer["cause"]), ("KeyError", "'no such key'", "RemoteTraceback"))
        self.assertRegex(answer["trace"], r'(?s)rank 1 on localhost:\nTraceback.*launched.py", line \d+, in fails\n.*KeyError')
        self.assertNotIn("<string>", answer["trace"])
        self.assertIn("sml-run:   it reported: KeyError: 'no such key'", done.stderr)

    def test_an_exception_that_cannot_be_sent_is_told(self):
        for how, text in (("odd", "rank 2 on localhost raised launched.Odd: 1"), ("held", "rank 2 on localhost raised launched.Held: holds a file")):
            answer, _ = self.launched(f"launched.fails, 2, {how!r}, nproc=3")
            self.assertEqual((answer["type"], answer["text"], answer["rank"]), ("RemoteError", text, 2))
            self.assertIn("in fails", answer["trace"])

    def test_a_rank_that_ends_without_an_exception(self):
        for how, status, text in (("kill", 137, "was killed by SIGKILL"), ("exit", 124, "exited with status 124")):
            answer, _ = self.launched(f"launched.fails, 1, {how!r}, nproc=2, timeout=3600")
            self.assertEqual((answer["type"], answer["rank"], answer["status"]), ("RankFailed", 1, status))
            self.assertIn(f"rank 1 on localhost {text}", answer["text"])
        answer, _ = self.launched("launched.leaves, nproc=2")
        self.assertEqual(answer["type"], "RankFailed")
        self.assertIn("ended with status 0 and without a result", answer["text"])

    def test_a_result_that_cannot_be_sent(self):
        answer, _ = self.launched("launched.returns, 'lambda', nproc=2")
        self.assertEqual(answer["type"], "RemoteError")
        self.assertRegex(answer["text"], "the result of rank [01] on localhost cannot be sent: .*lambda")
        answer, _ = self.launched("launched.returns, 'large', nproc=2, max_result=1 << 20")
        self.assertRegex(answer["text"], "cannot be sent: .* 31457[0-9]+ bytes, more than max_result=1048576")

    def test_what_is_in_main_needs_cloudpickle(self):
        answer, _ = self.launched("tell, nproc=2")
        self.assertEqual(answer["type"], "PicklingError")
        self.assertIn("tell is a function of __main__", answer["text"])
        self.assertIn("pip install cloudpickle", answer["text"])
        answer, _ = self.launched("launched.size, [type('Here', (), {})], nproc=1")
        self.assertEqual(answer["type"], "PicklingError")

    def test_large_arguments_and_results(self):
        answer, _ = self.launched("launched.size, b'z' * (8 << 20), nproc=2")
        self.assertEqual(answer, {"results": [8 << 20] * 2})
        answer, _ = self.launched("lambda: 1, nproc=2")
        self.assertEqual(answer["type"], "PicklingError")
        answer, _ = self.launched("launched.size, b'z' * (300 << 10), nproc=2, max_restarts=1")
        self.assertEqual(answer, {"results": [300 << 10] * 2})
        answer, _ = self.launched("launched.size, b'z' * (1 << 20), nproc=2, max_restarts=1")
        self.assertIn("with max_restarts no more than", answer["text"])

    def test_much_output_loses_no_line_and_no_result(self):
        answer, done = self.launched("launched.floods, 20000, nproc=2")
        self.assertEqual(answer, {"results": [0, 1]})
        self.assertEqual(done.stdout.count("y" * 999 + "\n"), 40000)

    def test_a_rank_that_prints_a_gigabyte(self):
        file = self.temporary_directory() / "answer"
        done = run(["bash", "-c", 'set -o pipefail; "$@" | wc -c', "sh", PYTHON, "-c", f"{TELL}\ntell(launched.prints, 1024, nproc=1)", file],
                   env=ENVIRONMENT)
        self.assert_status(done, 0)
        self.assertEqual(json.loads(file.read_text()), {"results": [0]})
        self.assertEqual(done.stdout, f"{1 << 30}\n")

    def test_results_have_a_way_of_their_own(self):
        """Whatever becomes of the output."""
        answer, _ = self.launched("launched.has_no_output, nproc=2")
        self.assertEqual(answer, {"results": [0, 1]})
        for words in (["--quiet-workers"], ["--merge-stderr"], ["--show-ranks", "1"], ["--pty"],
                      ["--log-dir", str(self.temporary_directory()), "--redirects", "3"]):
            answer, _ = self.launched(f"launched.place, 'ab', nproc=2, options={words!r}")
            self.assertEqual(answer, {"results": [[rank, "localhost", "ab"] for rank in (0, 1)]}, words)

    def test_a_restart_begins_anew(self):
        answer, _ = self.launched("launched.fails_once, nproc=2, max_restarts=1")
        self.assertEqual(answer, {"results": [1, 1]})

    def test_a_time_limit(self):
        answer, _ = self.launched("launched.fails, 9, nproc=2, timeout=1")
        self.assertEqual((answer["type"], answer["text"]), ("TimeoutError", "the job did not end within 1 s"))

    def test_words_that_would_keep_results_back_are_refused(self):
        for word in ("--results=f", "--stdin=0", "--", "--report"):
            answer, _ = self.launched(f"launched.rank, nproc=1, options=[{word!r}]")
            self.assertEqual(answer["type"], "ValueError", answer)
        answer, _ = self.launched("launched.rank, nproc=2", SML_RESULTS="/nowhere/f", SML_STDIN="none")
        self.assertEqual(answer, {"results": [0, 1]})
        answer, _ = self.launched("launched.rank, nproc=2, options=['--tag', '<{rank}> ', '--grace', '1s']")
        self.assertEqual(answer, {"results": [0, 1]})

    def test_threads_and_exit_functions_end_first(self):
        answer, done = self.launched("launched.begins_a_thread, 'said', nproc=2")
        self.assertEqual(answer, {"results": [0, 1]})
        for how in ("at exit of", "by a thread of"):
            for rank in (0, 1):
                self.assertIn(f"[{rank}] said {how} {rank}\n", done.stdout)

    def test_the_function_inherits_nothing_of_how_it_came(self):
        answer, _ = self.launched("launched.token, nproc=1")
        self.assertEqual(answer, {"results": [[]]})

    @gate
    def test_ctrl_c_and_the_end_of_the_caller_stop_all(self):
        """TestCase sees that nothing is left."""
        for signo in (signal.SIGINT, signal.SIGKILL):
            file, folder = self.temporary_directory() / "begun", self.temporary_directory()
            code = f"import launched, sml_run\nsml_run.launch(launched.waits, {str(file)!r}, nproc=2)"
            with popen([PYTHON, "-c", code], env={**ENVIRONMENT, "TMPDIR": str(folder)}) as caller:
                wait_until(lambda f=file: all(os.path.exists(f"{f}.{rank}") for rank in (0, 1)))
                caller.send_signal(signo)
                done = caller.finish()
            wait_until(lambda f=folder: not list(f.iterdir()))  # what the job has there goes with it
            if signo == signal.SIGINT:
                self.assertIn("KeyboardInterrupt", done.stderr)
                self.assertIn("sml-run: stopped by SIGINT", done.stderr)


def module(name):
    """A module of the package, by itself."""
    spec = importlib.util.spec_from_file_location(name, PACKAGE / f"sml_run/{name}.py")
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


class System:
    """Files made of values, as _trust.py asks for them: path -> (mode, owner, group), or what a link says."""

    def __init__(self, **files):
        self.files = {"/": (0o755, 0, 0), **files}
        self.read_only, self.lists = "", ""

    def lstat(self, path):
        if path not in self.files:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", path)
        what = self.files[path]
        mode, owner, group, *names = (stat.S_IFLNK | 0o777, 0, 0) if isinstance(what, str) else what
        kind = 0 if isinstance(what, str) else stat.S_IFREG if path.endswith("file") else stat.S_IFDIR
        return types.SimpleNamespace(st_mode=kind | mode, st_uid=owner, st_gid=group, st_nlink=names[0] if names else 1)

    def readlink(self, path):
        return self.files[path]

    def statvfs(self, path):
        return types.SimpleNamespace(f_flag=os.ST_RDONLY if path == self.read_only else 0)

    def getxattr(self, path, _):
        if path != self.lists:
            raise OSError(errno.ENODATA, "No data available", path)
        return b"list"

    def geteuid(self):
        return 7

    def getegid(self):
        return 7

    def getcwd(self):
        return "/own"


class Trust(TestCase):
    """The rules of common/os/trust.h, which trust_test.cc shows of those of C++."""

    def setUp(self):
        self.system = System(**{
            "/own": (0o755, 7, 7), "/own/file": (0o644, 7, 7), "/own/theirs-file": (0o644, 8, 8), "/own/open-file": (0o666, 7, 7),
            "/own/group": (0o775, 7, 7), "/own/group/file": (0o664, 7, 7), "/root": (0o775, 0, 0), "/root/file": (0o664, 0, 0),
            "/shared": (0o775, 0, 100), "/shared/file": (0o644, 0, 0), "/open": (0o777, 0, 0), "/open/file": (0o644, 7, 7),
            "/theirs": (0o755, 8, 8), "/theirs/file": (0o644, 7, 7), "/tmp": (0o1777, 0, 0), "/tmp/file": (0o644, 7, 7),
            "/tmp/twice-file": (0o644, 0, 0, 2), "/tmp/mine": (0o700, 7, 7, 5), "/tmp/mine/file": (0o644, 7, 7), "/own/to": "../shared",
            "/own/way": "/tmp/mine/./file", "/open/way": "/own/file", "/own/round": "round"})

    def in_the_way(self, path):
        return module("_trust").obstacle(path, self.system)

    def test_files_and_folders_are_roots_or_ours_and_closed_to_others(self):
        by_all, by_group = "can be written by every user of this machine", "can be written by others of its group 100"
        for path, why in {"/": "", "/own": "", "/own/file": "", "file": "", "/own/group/file": "", "/root/file": "",
                          "/own/theirs-file": "/own/theirs-file belongs to user 8", "/own/open-file": f"/own/open-file {by_all}",
                          "/shared": f"/shared {by_group}", "/shared/file": f"/shared {by_group}", "/open/file": f"/open {by_all}",
                          "/theirs/file": "/theirs belongs to user 8", "/own/none": "/own/none: No such file or directory",
                          "/own/file/x": "/own/file is no folder"}.items():
            self.assertEqual(self.in_the_way(path), why, path)

    def test_in_a_sticky_folder_what_is_there_and_ours_counts(self):
        for path, why in {"/tmp": "/tmp", "/tmp/file": "", "/tmp/mine": "", "/tmp/mine/file": "", "/tmp/twice-file": "/tmp"}.items():
            self.assertEqual(self.in_the_way(path), why and f"{why} can be written by every user of this machine", path)

    def test_links_are_followed_and_all_that_is_on_the_way_counts(self):
        for path, why in {"/own/way": "", "/own/to/file": "/shared can be written by others of its group 100", "/own/../own/file": "",
                          "/open/way": "/open can be written by every user of this machine",
                          "/own/round": "/own/round: too many levels of symbolic links"}.items():
            self.assertEqual(self.in_the_way(path), why, path)

    def test_read_only_mounts_and_lists(self):
        self.system.read_only = "/shared"
        self.assertEqual(self.in_the_way("/shared/file"), "")
        self.system.lists = "/own/group"
        self.assertEqual(self.in_the_way("/own/group/file"), "/own/group can be written by others of its group 7")

    def test_folders_of_the_caller_are_searched_in_its_order(self):
        joined = module("_worker").joined
        self.assertEqual(joined(["/py", "/site"], ["/script", "/lib"], ["/py", "/site", "/late"], lambda _: True),
                         ["/script", "/lib", "/py", "/site", "/late"])
        self.assertEqual(joined(["/lib", "/py"], ["/script", "/lib"], ["/py3", "/late"], "/late".__eq__), ["/lib", "/py", "/late"])


class Results(TestCase):
    """`sml-run --results`, of which launch() is one user."""

    def results(self, *words):
        """(rank and attempt -> what it wrote, the run)"""
        file = self.temporary_directory() / "results"
        done = run([SML_RUN, "--results", file, *words])
        out, data = {}, file.read_bytes()
        while data:
            head, _, data = data.partition(b"\n")
            attempt, rank, size = map(int, head.split())
            out[attempt, rank] = out.get((attempt, rank), b"") + data[:size]
            data = data[size:]
        return out, done

    def test_what_ranks_write_there_is_no_output(self):
        out, done = self.results("-np", "2", "sh", "-c", r'printf "\\000of\n%s" $RANK >&$SML_RESULTS_FD; echo said')
        self.assert_status(done, 0)
        self.assertEqual(out, {(1, rank): b"\0of\n%d" % rank for rank in (0, 1)})
        self.assertEqual(sorted(done.stdout.splitlines()), ["[0] said", "[1] said"])

    def test_each_attempt_has_its_own(self):
        out, done = self.results("-np", "1", "--max-restarts", "1", "sh", "-c",
                                 'printf $TORCHELASTIC_RESTART_COUNT >&$SML_RESULTS_FD; exit $((1 - TORCHELASTIC_RESTART_COUNT))')
        self.assert_status(done, 0)
        self.assertEqual(out, {(1, 0): b"0", (2, 0): b"1"})

    def test_the_limit_is_said_and_the_job_goes_on(self):
        out, done = self.results("--results-limit", "100K", "-np", "2", "sh", "-c",
                                 'if [ $RANK = 1 ]; then head -c 20000000 /dev/zero >&$SML_RESULTS_FD; else printf x >&$SML_RESULTS_FD; fi; echo said')
        self.assert_status(done, 0)
        self.assertEqual(out, {(1, 0): b"x", (1, 1): bytes(100 << 10)})
        self.assertEqual(done.stderr.count("rank 1 has written more than 102400 bytes of results (--results-limit); the rest is dropped\n"), 1, done)

    def test_without_the_option_there_is_no_such_descriptor(self):
        done = run([SML_RUN, "sh", "-c", "echo ${SML_RESULTS_FD-none}"])
        self.assertEqual(done.stdout, "none\n")

    def test_a_file_that_cannot_be_made(self):
        done = run([SML_RUN, "--results", "/nowhere/f", "true"])
        self.assert_status(done, 2)
        self.assertRegex(done.stderr, "--results: cannot open /nowhere/f: no such file or directory")


class PythonOnHosts(HostsCase):
    hosts = 2

    @gate
    def test_other_hosts_need_no_package(self):
        """The function travels by SSH; on the other host the worker is Python with nothing of ours in its path."""
        code = ("import json, os, sml_run\nos.environ.pop('PYTHONPATH')\n"
                f"print(json.dumps(sml_run.launch(os.getenv, 'SML_HOST', hosts={self.bed.hosts(2).split(',')!r})))")
        done = self.bed.exec("algo-1", [PYTHON, "-c", code], env=ENVIRONMENT)
        self.assert_status(done, 0)
        self.assertEqual(json.loads(done.stdout), ["algo-1"] * 2 + ["algo-2"] * 2)

    def test_a_failing_rank_of_another_host(self):
        code = f"import launched, sml_run\nsml_run.launch(launched.fails, 3, hosts={self.bed.hosts(2)!r})"
        done = self.bed.exec("algo-1", [PYTHON, "-c", code], env=ENVIRONMENT)
        self.assert_status(done, 1)
        self.assertIn("rank 3 on algo-2:\nTraceback", done.stderr)
        self.assertIn("KeyError: 'no such key'\n", done.stderr)

    def test_a_module_that_the_other_host_does_not_have(self):
        folder = "/tmp/only-here"
        self.bed.put("algo-1", f"{folder}/alone.py", "def f(): return 1\n")
        code = f"import sys; sys.path.append({folder!r})\nimport alone, sml_run\nsml_run.launch(alone.f, hosts={self.bed.hosts(1)!r})"
        done = self.bed.exec("algo-1", [PYTHON, "-c", code], env=ENVIRONMENT)
        self.bed.exec("algo-1", ["rm", "-r", folder])
        self.assert_status(done, 1)
        self.assertIn("rank 1 on algo-2 cannot load the function or its arguments: ModuleNotFoundError: No module named 'alone'", done.stderr)

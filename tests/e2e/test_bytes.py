"""Arguments, environment, working directory: what the user gave is what every worker gets, byte for byte, unseen."""
import os
import shlex
import subprocess

from harness import SML_RUN, TestCase, Testbed, gate, wait_until
from jobs import ALL_BYTES, AWKWARD, PROBE, assert_says, edit_file, sh, shown

BOTH = ("-H", "algo-1,algo-2")  # the host on which sml-run is started, and another


class Bytes(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bed = Testbed.shared(2)

    def show(self, what, *args, options=(), **kw):
        """What rank 0 (local) and rank 1 (remote) were given."""
        done = self.bed.sml_run("algo-1", *BOTH, *options, PROBE, "show", what, *args, **kw)
        self.assert_status(done, 0)
        answer = shown(done.stdout, 2)
        return [answer[0], answer[1]]

    def put_directory(self, path):
        for host in self.bed.names():
            place = os.fsencode(self.bed.path(host)) + path
            os.makedirs(place, exist_ok=True)
            self.addCleanup(os.rmdir, place)


class Arguments(Bytes):
    @gate
    def test_awkward_arguments(self):
        for answer in self.show("argv", *AWKWARD):
            self.assertEqual(answer["arg"], AWKWARD)

    def test_no_arguments(self):
        for answer in self.show("argv"):
            self.assertEqual(answer, {"args": [b"0"]})

    def test_the_longest_argument(self):
        longest = (ALL_BYTES * 515)[:128 * 1024 - 1]  # the kernel's limit, with its end
        for answer in self.show("argv", longest):
            self.assertEqual(answer["arg"], [longest])

    @gate
    def test_a_megabyte_of_arguments(self):
        many = [(b"%d " % i + ALL_BYTES * 4)[:1000] for i in range(1000)]
        for answer in self.show("argv", *many):
            self.assertEqual(answer["arg"], many)

    @gate
    def test_words_that_look_like_options_belong_to_the_program(self):
        for answer in self.show("argv", "-np", "3", "--", "--help", "-H"):
            self.assertEqual(answer["arg"], [b"-np", b"3", b"--", b"--help", b"-H"])


class Environment(Bytes):
    @gate
    def test_values_that_are_set(self):
        values = {f"V{i}": value for i, value in enumerate(AWKWARD)}
        options = [w for k, v in values.items() for w in (b"-x", k.encode() + b"=" + v)]
        for answer in self.show("env", options=options):
            env = answer.env()
            self.assertEqual({k: env.get(k.encode()) for k in values}, values)

    def test_values_that_the_launcher_has(self):
        values = {f"V{i}": value for i, value in enumerate(AWKWARD)}
        env = {k: os.fsdecode(v) for k, v in values.items()}
        for answer in self.show("env", env=env):
            got = answer.env()
            self.assertEqual({k: got.get(k.encode()) for k in values}, values)

    @gate
    def test_values_of_an_env_file(self):
        plain = {b"P%d" % i: v for i, v in enumerate(AWKWARD) if not set(v) & set(b"'\n\r\0") and v == v.strip()}
        several_lines = b"a\n\n  b # no comment $HOME `id`\n\\"
        text = b"".join(k + b"='" + v + b"'\n" for k, v in plain.items()) + b"export SEVERAL='" + several_lines + b"'\n"
        file = self.bed.put("algo-1", "/run/job.env", text)
        self.addCleanup(file.unlink)
        for answer in self.show("env", options=["--env-file", "/run/job.env", "-x", "P2=x wins"]):
            env = answer.env()
            self.assertEqual(env[b"SEVERAL"], several_lines)
            self.assertEqual({k: env.get(k) for k in plain}, plain | {b"P2": b"x wins"})

    @gate
    def test_what_belongs_to_a_login_comes_from_there(self):
        given = {"HOME": "/run", "USER": "somebody", "LOGNAME": "somebody", "TMPDIR": "/run/x", "DISPLAY": ":7",
                 "XDG_RUNTIME_DIR": "/run/user/0", "CUDA_VISIBLE_DEVICES": "7", "SSH_CONNECTION": "here",
                 "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/c", "OLDPWD": "/nowhere", "HOSTNAME": "wrong",
                 "ENV": "/run/env", "KEPT": "kept"}
        local, remote = (answer.env() for answer in self.show("env", env=given))
        self.assertEqual({k: local.get(k.encode()) for k in given}, {k: v.encode() for k, v in given.items()})
        self.assertEqual({k: remote.get(k.encode()) for k in ("HOME", "USER", "LOGNAME", "ENV", "KEPT")},
                         {"HOME": b"/home/root", "USER": b"root", "LOGNAME": b"root", "ENV": b"/run/env", "KEPT": b"kept"})
        for name in ("TMPDIR", "DISPLAY", "XDG_RUNTIME_DIR", "CUDA_VISIBLE_DEVICES", "HOSTNAME",
                     "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"):
            self.assertNotEqual(remote.get(name.encode()), given[name].encode(), name)
        self.assertIn(b"10.77.", remote[b"SSH_CONNECTION"])

    def test_the_login_there_is_the_workers_to_the_byte(self):
        """Names that a start script might use for itself are the user's all the same."""
        names = ["P", "W", "b", "c", "d", "t", "MARK", "IFS_COPY"]
        lines = "".join(f"export {n}='of {n}  x'\n" for n in names)
        edit_file(self, self.bed, "algo-2", "/home/root/.bashrc", lambda _: lines)
        _, remote = (answer.env() for answer in self.show("env"))
        self.assertEqual({n: remote.get(n.encode()) for n in names}, {n: f"of {n}  x".encode() for n in names})

    @gate
    def test_nothing_of_the_launcher_with_export_none(self):
        options = ["--export", "none", "-x", "NAMED", "-x", "SET=1"]
        local, remote = (a.env() for a in self.show("env", options=options, env={"FOO": "foo", "NAMED": "named"}))
        self.assertEqual(local.get(b"FOO"), b"foo")
        self.assertNotIn(b"FOO", remote)
        self.assertEqual((remote[b"NAMED"], remote[b"SET"], remote[b"RANK"]), (b"named", b"1", b"1"))

    @gate
    def test_ranks_of_an_outer_launcher_do_not_survive(self):
        outer = ["RANK", "WORLD_SIZE", "LOCAL_RANK", "NODE_RANK", "GROUP_RANK", "MASTER_ADDR", "MASTER_PORT",
                 "OMPI_COMM_WORLD_RANK", "OMPI_UNIVERSE_SIZE", "PMI_RANK", "PMI_FD", "PMIX_RANK", "HOROVOD_RANK",
                 "HOROVOD_GLOO_RENDEZVOUS_ADDR", "TORCHELASTIC_RUN_ID", "SLURM_PROCID", "SML_RANK", "TF_CONFIG"]
        for answer in self.show("env", env={name: "outer" for name in outer}):
            self.assertNotIn(b"outer", answer.env().values())

    @gate
    def test_every_rank_knows_its_place(self):
        for rank, answer in enumerate(self.show("env,cwd")):
            env = answer.env()
            want = {"RANK": rank, "WORLD_SIZE": 2, "LOCAL_RANK": 0, "LOCAL_WORLD_SIZE": 1, "GROUP_RANK": rank,
                    "OMPI_COMM_WORLD_RANK": rank, "HOROVOD_RANK": rank, "CROSS_RANK": rank, "CROSS_SIZE": 2,
                    "SML_RANK": rank, "SML_HOST": f"algo-{rank + 1}", "PYTHONUNBUFFERED": 1}
            self.assertEqual({k: env.get(k.encode()) for k in want}, {k: str(v).encode() for k, v in want.items()})
            self.assertEqual(env[b"MASTER_ADDR"], self.bed.address("algo-1").encode())
            self.assertEqual(env[b"PWD"], answer.one("cwd"))
            self.assertEqual(len(answer["env"]), len(env))  # no name twice

    @gate
    def test_a_secret_is_in_no_process_list(self):
        """As another user, all the time, on both hosts; the watcher proves itself on a secret that does show."""
        secret, shows = "sw0rdf1sh-stays", "sw0rdf1sh-shows"
        watch = ("echo ready; while [ ! -e /run/enough ]; do for w in stays shows; do "
                 "grep -laqs -f /run/sw0rdf1sh-$w /proc/[0-9]*/cmdline && echo seen $w; done; done; true")
        for host in self.bed.names():
            self.bed.put(host, "/run/sw0rdf1sh-stays", secret + "\n")
            self.bed.put(host, "/run/sw0rdf1sh-shows", shows + "\n")
        self.bed.put("algo-1", "/run/job.env", f"BY_FILE={secret}\nVALUE={secret}\n")
        self.addCleanup(lambda: [sh(self.bed, h, "rm -f /run/sw0rdf1sh-* /run/job.env /run/enough") for h in self.bed.names()])
        job = f". /run/job.env; export VALUE; exec {shlex.quote(str(SML_RUN))} -H algo-1,algo-2 -x VALUE --env-file /run/job.env " \
              f"sh -c 'test -n \"$BY_FILE\" && test -n \"$VALUE\" && echo has it; cat /run/go >/dev/null'"
        for host in self.bed.names():
            sh(self.bed, host, "mkfifo /run/go")
        self.addCleanup(lambda: [sh(self.bed, h, "rm -f /run/go") for h in self.bed.names()])
        with self.bed.popen("algo-1", ["sh", "-c", watch], user="tester") as one, \
                self.bed.popen("algo-2", ["sh", "-c", watch], user="tester") as two:
            one.read_until("ready")
            two.read_until("ready")
            with self.bed.popen("algo-1", ["sh", "-c", job]) as run:
                wait_until(lambda: sum("cat /run/go" in p["cmd"] for p in self.bed.ps()) >= 2)
                # The workers run. Now the watchers are to see something, and then the job ends.
                show = ["cat", "-", f"/nowhere/{shows}"]
                with self.bed.popen("algo-1", show, stdin=subprocess.PIPE) as a, \
                        self.bed.popen("algo-2", show, stdin=subprocess.PIPE) as b:
                    one.read_until("seen shows")
                    two.read_until("seen shows")
                    a.kill_group()
                    b.kill_group()
                for host in self.bed.names():
                    sh(self.bed, host, ": > /run/go")
                done = run.finish()
            for host in self.bed.names():
                sh(self.bed, host, ": > /run/enough")
            seen = one.finish().stdout + two.finish().stdout
        self.assert_status(done, 0)
        self.assertEqual(done.stdout.count("has it"), 2)
        self.assertNotIn("seen stays", seen)
        self.assertNotIn(secret, done.stderr)


class WorkingDirectory(Bytes):
    def test_the_launchers_own_by_default(self):
        self.put_directory(b"/run/here")
        for answer in self.show("cwd", cwd="/run/here"):
            self.assertEqual(answer.one("cwd"), b"/run/here")

    @gate
    def test_awkward_names(self):
        for name in (b"a b", b"$HOME `id`", b"quote'\"", b"new\nline", b"\xff\xfe", b"-n", b"*"):
            with self.subTest(name=name):
                path = b"/run/" + name
                self.put_directory(path)
                for answer in self.show("cwd,env", options=["--wdir", path]):
                    self.assertEqual((answer.one("cwd"), answer.env()[b"PWD"]), (path, path))

    def test_relative_to_the_launchers(self):
        self.put_directory(b"/run/down")
        for answer in self.show("cwd", options=["--wdir", "down"], cwd="/run"):
            self.assertEqual(answer.one("cwd"), b"/run/down")


class Hygiene(Bytes):
    @gate
    def test_a_worker_begins_clean(self):
        """Nothing of the launcher, the agent, sshd or whoever started them is inherited but what is meant to be: what MPI
        may ask for is."""
        script = "trap '' TERM INT PIPE HUP USR1; ulimit -S -n 200; umask 027; exec \"$@\" 7</dev/null 9>/dev/null"
        argv = ["bash", "-c", script, "bash", SML_RUN, *BOTH, PROBE, "show", "fds,signals,session,host,env"]
        done = self.bed.exec("algo-1", argv)
        self.assert_status(done, 0)
        for rank, answer in shown(done.stdout, 2).items():
            with self.subTest(rank=rank):
                self.assertEqual(answer.one("host"), b"algo-%d" % (rank + 1))
                self.assertEqual(sorted(answer.descriptors()), [0, 1, 2, int(answer.env()[b"PMI_FD"])], answer.descriptors())
                self.assertEqual(int(answer.one("SigBlk"), 16), 0)
                # 32 and 33 are glibc's: a program can neither use them nor change what becomes of them.
                self.assertEqual(int(answer.one("SigIgn"), 16) & ~(3 << 31), 0)
                self.assertNotEqual(answer.one("sid"), answer.one("pid"))
                self.assertEqual(answer.one("pgid"), answer.one("pid"))
                self.assertNotEqual(answer.one("ppid"), b"1")
                self.assertEqual(answer.one("tty"), b"no")

    @gate
    def test_the_ranks_of_a_host_share_a_session(self):
        """Linux gives each session its share of the processors: only within one do ranks that wait give way to others."""
        done = self.bed.sml_run("algo-1", "-np", "4", "-H", "algo-1:2,algo-2:2", PROBE, "show", "session")
        self.assert_status(done, 0)
        sessions = [answer.one("sid") for _, answer in sorted(shown(done.stdout, 4).items())]
        self.assertEqual(sessions[0], sessions[1])
        self.assertEqual(sessions[2], sessions[3])

    def test_the_umask_is_the_logins(self):
        local, remote = self.show("umask")
        plain = sh(self.bed, "algo-1", "ssh algo-2 umask").strip().encode()
        self.assertEqual(remote.one("umask").rjust(4, b"0"), plain)
        self.assertEqual(local.one("umask"), sh(self.bed, "algo-1", "umask").strip().encode()[-3:])

    @gate
    def test_limits_are_the_logins(self):
        for limit in ("-n", "-c", "-u"):
            done = self.bed.sml_run("algo-1", *BOTH, "bash", "-c", f"ulimit -S {limit}; ulimit -H {limit}")
            self.assert_status(done, 0)
            plain = sh(self.bed, "algo-1", f"ssh algo-2 'ulimit -S {limit}; ulimit -H {limit}'").split()
            self.assertEqual([ln[4:] for ln in done.stdout.splitlines() if ln.startswith("[1]")], plain)

    def test_limits_that_differ_between_hosts_are_warned_of_once(self):
        """Both are reached by SSH, so that a start-up file alone makes the difference."""
        for host in ("algo-2", "algo-1"):
            edit_file(self, self.bed, host, "/home/root/.bashrc", lambda _: "ulimit -S -n 200\n")
            done = self.bed.sml_run("head", *BOTH, "bash", "-c", "ulimit -n")
            self.assert_status(done, 0)
            self.assertIn("[1] 200\n", done.stdout)
            if host == "algo-2":
                assert_says(self, done, r"^warning: limits of workers differ between hosts, as those of their logins do: "
                                        r"open files \(ulimit -n\): 200 on algo-2, \d+ on algo-1$")
            self.assertEqual(done.stderr.count("limits of workers differ"), 1 if host == "algo-2" else 0, done)

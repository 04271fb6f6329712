"""Putting the agent on hosts: sent once, kept safely, started under every login shell, gone where it cannot be kept."""
import shutil
import signal
import unittest

from harness import TestCase, Testbed, gate, scaled, watchdog
from jobs import TROUBLE, CACHE, assert_says, by_rank, cached_agents, edit_file, forget_agents, keep_file, sh

HOST = "algo-2"
FOUND_WHOLE = "946684800"  # 2000-01-01: its bytes were read and are right


class Deployment(TestCase):

    @classmethod
    def setUpClass(cls):
        cls.bed = Testbed.shared(2)

    def job(self, *options, user="root", **kw):
        return self.bed.sml_run("algo-1", "-H", "algo-1,algo-2", "--start-timeout", "1h", *options, "sh", "-c", "echo $RANK ran; id -un",
                                user=user, **kw)

    def assert_runs(self, done, user="root"):
        self.assert_status(done, 0)
        self.assertEqual(by_rank(done.stdout), {r: [f"{r} ran", user] for r in (0, 1)})
        assert_says(self, done, never=TROUBLE)

    def assert_refused(self, done, pattern):
        """A clear error about this host, and none of the ranks has run."""
        self.assert_status(done, 125)
        assert_says(self, done, f"^{HOST}: {pattern}")
        self.assertNotIn("ran", done.stdout)

    def mount(self, *commands, paths):
        """Mounts on the host, and away again at the end."""
        for path in paths:
            self.addCleanup(sh, self.bed, HOST, 'umount "$1"', path, check=False)
        sh(self.bed, HOST, " && ".join(commands))

    def received(self):
        return int(sh(self.bed, HOST, "cat /sys/class/net/eth0/statistics/rx_bytes"))


class Cache(Deployment):
    cache = CACHE

    def setUp(self):
        forget_agents(self.bed)

    @gate
    def test_the_first_run_sends_the_agent_and_the_second_does_not(self):
        begin = self.received()
        self.assert_runs(self.job())
        first, cached = self.received(), cached_agents(self.bed, HOST, self.cache)
        self.assert_runs(self.job())
        second = self.received()
        self.assertEqual(len(cached), 1)
        size = int(next(iter(cached.values()))[2])
        self.assertEqual(next(iter(cached.values()))[1], FOUND_WHOLE)
        self.assertEqual(cached_agents(self.bed, HOST, self.cache), cached)
        self.assertGreater(first - begin, size)
        self.assertLess(second - first, size / 4)
        self.assertEqual(sh(self.bed, HOST, f"stat -c %a {self.cache} {self.cache}/*").split(), ["700", "700"])

    def test_an_agent_of_another_build_stays_beside(self):
        sh(self.bed, HOST, f"mkdir -p {self.cache}; chmod 700 {self.cache}; printf '#!/bin/sh\\nexit 1\\n' > {self.cache}/agent-0.0.1-cafe; "
                           f"chmod 700 {self.cache}/*")
        old = cached_agents(self.bed, HOST, self.cache)
        self.assert_runs(self.job())
        now = cached_agents(self.bed, HOST, self.cache)
        self.assertEqual(len(now), 2)
        self.assertEqual({k: now[k] for k in old}, old)

    @gate
    def test_an_agent_that_another_user_put_there_is_not_run(self):
        self.assert_runs(self.job())
        agent = f"{self.cache}/{next(iter(cached_agents(self.bed, HOST, self.cache)))}"
        sh(self.bed, HOST, 'printf "#!/bin/sh\\ntouch /run/hijacked\\n" > "$1"; chmod 755 "$1"; chown tester "$1"', agent)
        self.addCleanup(sh, self.bed, HOST, "rm -f /run/hijacked")
        self.assert_runs(self.job())
        self.assertEqual(sh(self.bed, HOST, "ls /run/hijacked 2>/dev/null || true"), "")
        self.assertEqual(sh(self.bed, HOST, 'stat -c %U "$1"', agent), "root\n")

    def test_a_cache_folder_of_another_user_is_not_used(self):
        sh(self.bed, HOST, f"mkdir -p {self.cache}; chown tester {self.cache}")
        self.assert_runs(self.job())
        self.assertEqual(cached_agents(self.bed, HOST, self.cache), {})

    @gate
    def test_a_link_in_the_place_of_the_agent_is_not_written_through(self):
        self.assert_runs(self.job())
        agent = f"{self.cache}/{next(iter(cached_agents(self.bed, HOST, self.cache)))}"
        sh(self.bed, HOST, 'rm "$1"; echo precious > /run/precious; ln -s /run/precious "$1"', agent)
        self.addCleanup(sh, self.bed, HOST, "rm -f /run/precious")
        self.assert_runs(self.job())
        self.assertEqual(sh(self.bed, HOST, "cat /run/precious"), "precious\n")

    def test_a_foreign_agent_under_our_name_is_replaced(self):
        self.assert_runs(self.job())
        cached = cached_agents(self.bed, HOST, self.cache)
        agent = f"{self.cache}/{next(iter(cached))}"
        sh(self.bed, HOST, 'printf "#!/bin/sh\\necho \\$2 AGENT 999\\ncat >/dev/null\\n" > "$1"; chmod 700 "$1"', agent)
        self.assert_runs(self.job())
        self.assertEqual({k: v[2] for k, v in cached_agents(self.bed, HOST, self.cache).items()}, {k: v[2] for k, v in cached.items()})

    @gate
    def test_a_damaged_agent_is_sent_again(self):
        """Empty, as a crash of the host may leave it, cut short, or with other bytes in it; not if it was only touched."""
        self.assert_runs(self.job())
        agent = f"{self.cache}/{next(iter(cached_agents(self.bed, HOST, self.cache)))}"
        sh(self.bed, HOST, 'touch "$1"', agent)
        before = cached_agents(self.bed, HOST, self.cache)
        self.assert_runs(self.job())
        self.assertEqual({k: (v[0], FOUND_WHOLE, v[2]) for k, v in before.items()}, cached_agents(self.bed, HOST, self.cache))
        whole = sh(self.bed, HOST, 'cksum < "$1"', agent)
        for damage in ('truncate -s 0 "$1"', 'truncate -s 5000 "$1"', 'truncate -s -1 "$1"',
                       'printf x | dd of="$1" bs=1 seek=900000 conv=notrunc 2>/dev/null'):
            with self.subTest(damage):
                sh(self.bed, HOST, damage, agent)
                self.assert_runs(self.job())
                self.assertEqual(sh(self.bed, HOST, 'cksum < "$1"', agent), whole)

    @gate
    def test_many_first_runs_at_once(self):
        jobs = [self.bed.sml_run_popen("algo-1", "-H", HOST, "echo", "ran") for _ in range(6)]
        for job in jobs:
            with job:
                done = job.finish()
                self.assert_status(done, 0)
                self.assertEqual(done.stdout, "ran\n")
        self.assertEqual(len(cached_agents(self.bed, HOST, self.cache)), 1)

    @gate
    def test_an_unprivileged_user(self):
        self.assert_runs(self.job(user="tester"), "tester")
        self.assertEqual(len(cached_agents(self.bed, HOST, "/home/tester/.cache/sml-run")), 1)


class AwkwardFolders(Deployment):
    def setUp(self):
        forget_agents(self.bed)

    def remount_home(self, flag):
        home = "/home/root"
        self.mount(f"mount --bind {home} {home}", f"mount -o remount,bind,{flag} {home}", paths=[home])

    def test_a_home_that_is_read_only(self):
        self.remount_home("ro")
        self.assert_runs(self.job())
        self.assertEqual(cached_agents(self.bed, HOST), {})

    @gate
    def test_a_home_that_is_mounted_noexec(self):
        self.remount_home("noexec")
        self.assert_runs(self.job())
        self.assertEqual(cached_agents(self.bed, HOST), {})

    def test_a_cache_that_is_not_the_users(self):
        sh(self.bed, HOST, "mkdir /home/tester/.cache")
        self.assert_runs(self.job(user="tester"), "tester")

    def test_a_cache_home_that_cannot_be_written(self):
        edit_file(self, self.bed, HOST, "/home/root/.bashrc", lambda _: "export XDG_CACHE_HOME=/proc/nowhere\n")
        self.assert_runs(self.job())
        self.assertEqual(cached_agents(self.bed, HOST), {})

    def test_a_cache_home_with_an_awkward_name(self):
        edit_file(self, self.bed, HOST, "/home/root/.bashrc", lambda _: "export XDG_CACHE_HOME=\"/run/a b'\\$c\"\n")
        self.addCleanup(sh, self.bed, HOST, "rm -r /run/a*")
        self.assert_runs(self.job())
        self.assertEqual(len(cached_agents(self.bed, HOST, "\"/run/a b'\\$c/sml-run\"")), 1)

    def full(self, *paths):
        self.mount(*[f"mkdir -p {p} && mount -t tmpfs -o size=64k,mode=1777 tmpfs {p}" for p in paths], paths=paths)

    def test_a_full_disk_under_the_cache(self):
        self.full("/home/root/.cache")
        self.assert_runs(self.job())
        self.assertEqual(sh(self.bed, HOST, "find /home/root/.cache -type f"), "")

    @gate
    def test_full_disks_everywhere(self):
        self.full("/home/root/.cache", "/dev/shm", "/tmp", "/var/tmp")
        self.remount_home("ro")
        self.assert_refused(self.job(), r"no folder takes the agent: .*full")
        self.assertEqual(sh(self.bed, HOST, "find /home/root/.cache /dev/shm /tmp /var/tmp -type f"), "")

    def test_nowhere_to_execute_from(self):
        self.mount(*[f"mount -t tmpfs -o noexec,mode=1777 tmpfs {p}" for p in ("/dev/shm", "/tmp", "/var/tmp")],
                   paths=["/dev/shm", "/tmp", "/var/tmp"])
        self.remount_home("noexec")
        self.assert_refused(self.job(), r"no folder takes the agent: .*noexec")


class Logins(Deployment):
    def set_shell(self, shell):
        edit_file(self, self.bed, HOST, "/etc/passwd", lambda text: "".join(
            ":".join([*line.split(":")[:6], shell]) + "\n" if line.startswith("root:") else line + "\n"
            for line in text.splitlines()))

    def check_shell(self, name):
        path = shutil.which(name)
        if path is None:
            raise unittest.SkipTest(f"{name} is not installed (tests/run installs it)")
        self.set_shell(path)
        forget_agents(self.bed)
        for _ in ("sent", "cached"):
            self.assert_runs(self.job())
        env = self.bed.sml_run("algo-1", "-H", "algo-1,algo-2", "env")
        self.assertIn(f"[1] SHELL={path}\n", env.stdout)

    @gate
    def test_dash(self):
        self.check_shell("dash")

    @gate
    def test_bash(self):
        self.check_shell("bash")

    @gate
    def test_csh(self):
        self.check_shell("tcsh")

    def test_zsh(self):
        self.check_shell("zsh")

    @gate
    def test_fish(self):
        self.check_shell("fish")
        sh(self.bed, HOST, "rm -rf /home/root/.config /home/root/.local")

    def test_a_shell_that_lets_nobody_in(self):
        self.set_shell("/usr/sbin/nologin")
        self.assert_refused(self.job(), r".*not available")

    def test_a_restricted_shell(self):
        self.set_shell("/bin/rbash")
        self.assert_refused(self.job(), r".*restricted")

    def test_a_key_that_is_for_another_command(self):
        edit_file(self, self.bed, HOST, "/home/root/.ssh/authorized_keys",
                  lambda text: 'command="echo only backups here" ' + text)
        self.assert_refused(self.job(), r".*only backups here")

    def test_an_account_for_sftp_only(self):
        """A key's command is to sshd what ForceCommand is."""
        edit_file(self, self.bed, HOST, "/home/root/.ssh/authorized_keys", lambda text: 'command="internal-sftp" ' + text)
        self.assert_refused(self.job(), r".*allows sftp connections only")

    def bashrc(self, text):
        edit_file(self, self.bed, HOST, "/home/root/.bashrc", lambda _: text)

    @gate
    def test_a_login_that_prints_a_lot(self):
        self.bashrc("head -c 700000 /dev/urandom | base64\nhead -c 700000 /dev/urandom | base64 >&2\nprintf 'no newline'\n")
        forget_agents(self.bed)
        for _ in ("sent", "cached"):
            self.assert_runs(self.job())

    @gate
    def test_a_login_that_ends(self):
        self.bashrc("echo this host is closed for today\nexit 3\n")
        self.assert_refused(self.job(), r".*closed for today")

    def test_a_login_that_takes_too_long(self):
        sh(self.bed, HOST, "mkfifo /run/door")
        self.addCleanup(sh, self.bed, HOST, "rm -f /run/door")
        self.bashrc("read x < /run/door\n")
        forget_agents(self.bed)
        try:
            done = self.job("--start-timeout", f"{scaled(10)}s")  # by then the other host is ready, and this one has logged in
        finally:  # what a hanging login does when it wakes up is looked at after the test: nothing
            sh(self.bed, HOST, f"test -e /run/door && timeout {watchdog()} sh -c 'echo > /run/door'")
        self.assert_refused(done, r"not ready after \S+ s \(starting the agent: logged in, but the shell there")
        self.assertIn("--start-timeout", done.stderr)

    def test_a_login_that_starts_another_shell(self):
        """It reads our words as its own input, and waits for more. What may be the cause is told while we wait."""
        self.bashrc("exec cat\n")
        with self.bed.sml_run_popen("algo-1", "-H", HOST, "--start-timeout", "1h", "true") as job:
            said = b""
            while b"exec zsh" not in said:
                line = job.stderr.readline()
                self.assertTrue(line, said)
                said += line
            self.assertIn(b"waiting for algo-2 (starting the agent: logged in, but the shell there has not answered)", said)
            job.send_signal(signal.SIGTERM)
            self.assert_status(job.finish(), 143)

    @gate
    def test_a_path_with_traps_in_it(self):
        """What the start runs is the system's; the worker has the login's PATH all the same."""
        traps = "sh cat head mkdir mktemp mv rm chmod uname wc sml-run-agent"
        sh(self.bed, HOST, "mkdir /run/traps; cd /run/traps; for i in " + traps +
           "; do printf '#!/bin/true\\n' > $i; printf '#!/bin/bash\\ntouch /run/trapped-%s\\n' $i > $i; chmod 755 $i; done")
        self.addCleanup(sh, self.bed, HOST, "rm -rf /run/traps /run/trapped-*")
        self.bashrc("export PATH=/run/traps:$PATH\n")
        forget_agents(self.bed)
        done = self.bed.sml_run("algo-1", "--export", "none", "-H", "algo-1,algo-2", "env")
        self.assert_status(done, 0)
        self.assertIn("[1] PATH=/run/traps:", done.stdout)
        self.assertEqual(sh(self.bed, HOST, "ls -d /run/trapped-* 2>/dev/null || true"), "")

    def test_a_login_with_a_locale_of_its_own(self):
        keep_file(self, self.bed, HOST, "/home/root/.bashrc").write_text("export LC_ALL=tr_TR.UTF-8 IFS=x POSIXLY_CORRECT=1\n")
        forget_agents(self.bed)
        self.assert_runs(self.job())

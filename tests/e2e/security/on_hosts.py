"""What the modules of this folder share: jobs on three hosts, a second server, terminals."""
import contextlib
import os
import pty
import select
import shutil
import threading
import tty

from harness import PYTHON, SML_RUN, HostsCase, popen, wait_until
from jobs import sh, ssh_config, wait_for_workers


class OnHosts(HostsCase):
    hosts = 3

    def job(self, *words, **kw):
        return self.bed.sml_run("algo-1", "-H", "algo-1,algo-2", *words, **kw)

    def put(self, host, path, data, **kw):
        self.addCleanup(self.bed.put(host, path, data, **kw).unlink, missing_ok=True)
        return path

    @contextlib.contextmanager
    def running(self, *words, at="algo-1", **kw):
        """A job whose workers run until the block ends; yields it."""
        with self.bed.sml_run_popen(at, *words, "sh", "-c", "exec sleep 987", **kw) as job:
            wait_for_workers(self.bed, "sleep 987", words[1].count(",") + 1)
            yield job
            job.terminate()
            self.done = job.finish()
        self.assertEqual(self.done.returncode, 143, self.done)


def on_terminal(argv, streams=("stdout", "stderr"), **kw):
    """Runs argv with these streams on a terminal; answers (status, what the terminal got, the other streams)."""
    master, slave = pty.openpty()
    tty.setraw(slave)  # so that the line discipline adds nothing
    got, over = bytearray(), threading.Event()

    def drain():
        while not over.is_set() or select.select([master], [], [], 0)[0]:
            if select.select([master], [], [], 0.05)[0]:
                try:
                    got.extend(os.read(master, 65536))
                except OSError:  # the last slave is closed
                    return

    reader = threading.Thread(target=drain)
    reader.start()
    try:
        with popen(argv, **{name: slave for name in streams}, **kw) as process:
            done = process.finish(binary=True)
    finally:
        os.close(slave)
        over.set()
        reader.join()
        os.close(master)
    return done.returncode, bytes(got), done.stdout or b"", done.stderr or b""


def peak_of(bed, *words, **kw):
    """sml-run on algo-1; answers (Completed, the most memory that it had, in MB)."""
    code = ("import resource, subprocess, sys; s = subprocess.call(sys.argv[2:]); "
            "open(sys.argv[1], 'w').write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)); sys.exit(s)")
    done = bed.exec("algo-1", [PYTHON, "-c", code, "/run/peak", SML_RUN, *words], **kw)
    place = bed.path("algo-1", "/run/peak")
    peak = int(place.read_text()) / 1024
    place.unlink()
    return done, peak


class SecondServer:
    """Another sshd on algo-2, port 2299, with these lines of configuration; yields options that reach it as `second`."""

    def __init__(self, test, *lines, key="/run/sshd/ssh_host_ed25519_key", name="algo-2"):
        self.test, self.bed, self.lines, self.key, self.name = test, test.bed, lines, key, name

    def __enter__(self):
        config = [*self.lines, "Port 2299", f"HostKey {self.key}", "PidFile none", "PermitRootLogin prohibit-password",
                  "UsePAM no", "StrictModes no", "LogLevel VERBOSE"]
        self.test.put("algo-2", "/run/second.conf", "\n".join(config) + "\n")
        ssh_config(self.test, self.bed, "algo-1", f"Host second\n HostName algo-2\n Port 2299\n HostKeyAlias {self.name}\n")
        self.server = self.bed.popen("algo-2", [shutil.which("sshd", path="/usr/sbin:/sbin"), "-D", "-e", "-f", "/run/second.conf"])
        wait_until(lambda: sh(self.bed, "algo-2", "ss -Htln 'sport = 2299'"), lambda: self.server.errors_so_far())
        return ["-H", "second"]

    def __exit__(self, *_):
        self.server.terminate()
        self.log = self.server.finish().stderr

"""sml-run as one static file: it needs nothing of the system that it runs on but the kernel and /proc."""
import re
import subprocess
import unittest

from harness import SML_RUN, HostsCase, gate, watchdog
from jobs import edit_file, own_lines, sh, ssh_config


def is_static():
    headers = subprocess.run(["readelf", "-lW", SML_RUN], capture_output=True, text=True, check=True, timeout=watchdog()).stdout
    return "INTERP" not in headers


# What an image made `FROM scratch` has: the file, the keys, the names of the hosts. In a mount namespace, so that all
# of it goes with the last process.
EMPTY_ROOT = r"""
set -e
mount -t tmpfs none /mnt
cp "$0" /mnt/sml-run
mkdir /mnt/proc /mnt/etc /mnt/tmp
cp /etc/hosts /mnt/etc/hosts
cp -r /home/root /mnt/root
%s
exec chroot /mnt /sml-run "$@"
"""


@unittest.skipUnless(is_static(), "sml-run is not linked statically: Debian's static libraries were not there")
class OneFile(HostsCase):
    hosts = 2

    def in_an_empty_root(self, *words, proc="mount -t proc proc /mnt/proc"):
        script = ["unshare", "--mount", "sh", "-c", EMPTY_ROOT % proc, str(SML_RUN), *words]
        return self.bed.exec("algo-1", script, env={"HOME": "/root", "PATH": "/bin:/usr/bin:/sbin:/usr/sbin"})

    @gate
    def test_an_empty_root_starts_workers_here(self):
        done = self.in_an_empty_root("-np", "2", "/sml-run", "--version")
        self.assert_status(done, 0)
        self.assertEqual(len(re.findall(r"sml-run \d+\.\d+\.\d+", done.stdout)), 2)

    @gate
    def test_an_empty_root_starts_workers_over_ssh(self):
        done = self.in_an_empty_root("-H", "algo-2:2", "hostname")
        self.assert_status(done, 0)
        self.assertEqual(re.findall(r"algo-\d", done.stdout), ["algo-2", "algo-2"])

    def test_without_proc_it_says_so(self):
        done = self.in_an_empty_root("-np", "2", "/sml-run", "--version", proc="")
        self.assert_status(done, 125)
        self.assertIn("/proc is not mounted here", done.stderr)

    @gate
    def test_modules_of_the_hosts_name_service_stay_out(self):
        """Debian's C library has two of them, for another program than ours."""
        modules = "passwd: compat hesiod\ngroup: compat hesiod\nhosts: hesiod files dns\n"
        edit_file(self, self.bed, "algo-1", "/etc/nsswitch.conf", lambda _: modules)
        self.assert_nothing_is_loaded()

    def test_modules_of_the_hosts_openssl_stay_out(self):
        """Its legacy provider, which Debian has as a file."""
        config = ("openssl_conf = all\n[all]\nproviders = them\n[them]\nlegacy = it\ndefault = it\n[it]\nactivate = 1\n")
        edit_file(self, self.bed, "algo-1", "/etc/ssl/openssl.cnf", lambda _: config)
        self.assert_nothing_is_loaded()

    def assert_nothing_is_loaded(self):
        with self.bed.sml_run_popen("algo-1", "-H", "algo-2", "sh", "-c", "echo ready; exec sleep 600") as job:
            job.read_until("ready")
            maps = sh(self.bed, "algo-1", "cat /proc/$(pgrep -o -x sml-run)/maps")
        self.assertIn("[heap]", maps)
        self.assertNotIn(".so", maps)

    def test_a_name_that_only_the_hosts_getent_knows(self):
        address = self.bed.address("algo-2")
        script = f'#!/bin/sh\n[ "$*" = "ahosts only-here" ] && printf "%s STREAM only-here\\n" {address}\n'
        self.addCleanup(self.bed.put("algo-1", "/run/names/getent", script, mode=0o755).unlink)
        ssh_config(self, self.bed, "algo-1", "Host only-here\n HostKeyAlias algo-2")
        path = "/run/names:/usr/bin:/bin"
        done = self.bed.sml_run("algo-1", "-H", "only-here", "hostname", env={"PATH": path})
        self.assert_status(done, 0)
        self.assertEqual(done.stdout.split(), ["algo-2"])

    def test_a_name_that_nobody_knows(self):
        done = self.bed.sml_run("algo-1", "-H", "nobody-knows-this", "hostname")
        self.assert_status(done, 125)
        self.assertRegex("\n".join(own_lines(done)), "nobody-knows-this: (host name not known|cannot resolve the host name)")

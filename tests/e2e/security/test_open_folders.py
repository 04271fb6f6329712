"""The agent is kept in a folder below one that others can write: /tmp, or one that is open by mistake."""
from harness import HostsCase, wait_until
from jobs import edit_file, forget_agents, sh
from test_other_user import FLIP

HOST = "algo-2"
VICTIM = "/opt/victim"  # root's, with nothing in it


class OpenFolders(HostsCase):
    def setUp(self):
        forget_agents(self.bed)
        sh(self.bed, HOST, f"mkdir -m 755 {VICTIM}")
        self.addCleanup(sh, self.bed, HOST, f"rm -rf {VICTIM} /tmp/sml-run /tmp/other /tmp/x")

    def cache_below(self, folder):
        edit_file(self, self.bed, HOST, "/home/root/.bashrc", lambda _: f"export XDG_CACHE_HOME='{folder}'\n")

    def job(self):
        done = self.bed.sml_run("algo-1", "-H", HOST, "echo", "ran")
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "ran\n")

    def plant(self, script):
        sh(self.bed, HOST, script, user="tester")

    def assert_victim_is_as_it_was(self):
        self.assertEqual(sh(self.bed, HOST, f"stat -c %a {VICTIM}; ls -A {VICTIM}"), "755\n")

    def test_a_link_to_a_folder_in_its_place(self):
        self.cache_below("/tmp")
        self.plant(f"ln -s {VICTIM} /tmp/sml-run")
        self.job()
        self.assert_victim_is_as_it_was()

    def test_a_link_of_roots_that_another_user_gave_a_second_name(self):
        """Which its kernel may let everybody do; and who owns a link does not say who put it there."""
        self.cache_below("/tmp")
        sh(self.bed, HOST, f"ln -s {VICTIM} /tmp/sml-run")
        self.job()
        self.assert_victim_is_as_it_was()

    def test_a_link_and_a_folder_that_change_places(self):
        self.cache_below("/tmp")
        script = self.bed.put(HOST, "/run/start", self.start_script())
        self.addCleanup(script.unlink)
        self.plant(f"mkdir /tmp/other; ln -s {VICTIM} /tmp/sml-run")
        with self.bed.popen(HOST, ["/usr/bin/python3", "-c", FLIP, "/tmp/sml-run", "/tmp/other"], user="tester"):
            wait_until(lambda: sh(self.bed, HOST, "stat -c %F /tmp/sml-run") == "directory\n")
            sh(self.bed, HOST, "export XDG_CACHE_HOME=/tmp; for i in $(seq 50); do sh /run/start < /dev/null > /dev/null 2>&1; done; true")
        self.assert_victim_is_as_it_was()

    def start_script(self):
        """What a login shell is given, from a command that stands in for ssh."""
        self.addCleanup(sh, self.bed, "algo-1", "rm -f /run/save /run/script")
        self.bed.put("algo-1", "/run/save", '#!/bin/sh\nfor last; do :; done; printf %s "$last" > /run/script; exit 1\n', mode=0o755)
        self.bed.sml_run("algo-1", "--ssh-command", "/run/save", "-H", HOST, "true")
        return self.bed.path("algo-1", "/run/script").read_text()

    def test_a_folder_above_that_others_can_write_or_own(self):
        for made in ("mkdir -m 777 /tmp/x", "mkdir -p -m 777 /tmp/x; mkdir /tmp/x/y", "mkdir /tmp/x; chown tester /tmp/x",
                     "mkdir -m 775 /tmp/x; chgrp 7700 /tmp/x", "mkdir -m 775 /tmp/x; mkdir /tmp/x/y; chgrp 7700 /tmp/x"):
            with self.subTest(made=made):
                folder = "/tmp/x/y" if "y" in made else "/tmp/x"
                sh(self.bed, HOST, f"rm -rf /tmp/x; {made}")
                self.cache_below(folder)
                self.job()
                self.assertEqual(sh(self.bed, HOST, "find /tmp/x -name 'agent-*'"), "")

    def test_a_link_above_that_another_user_put_there(self):
        """Of their own, or one of root's to which they gave a second name; what it leads to may be missing one or two folders."""
        for user, made in (("tester", f"ln -s {VICTIM} /tmp/x"), ("root", f"ln -s {VICTIM} /tmp/other; ln /tmp/other /tmp/x")):
            for folder in ("/tmp/x", "/tmp/x/y"):
                with self.subTest(user=user, folder=folder):
                    sh(self.bed, HOST, "rm -rf /tmp/x /tmp/other")
                    sh(self.bed, HOST, made, user=user)
                    self.cache_below(folder)
                    self.job()
                    self.assert_victim_is_as_it_was()

    def test_a_folder_for_one_job_is_in_none_that_others_can_exchange(self):
        """XDG_RUNTIME_DIR comes first where the cache cannot be used; the agent would remove it by its name."""
        sh(self.bed, HOST, "mkdir -m 775 /tmp/x; chgrp 7700 /tmp/x; touch -d @1 /tmp/x")
        edit_file(self, self.bed, HOST, "/home/root/.bashrc", lambda _: "export XDG_CACHE_HOME=/tmp/x XDG_RUNTIME_DIR=/tmp/x\n")
        self.job()
        self.assertEqual(sh(self.bed, HOST, "stat -c %Y /tmp/x"), "1\n")  # nothing was made in it

    def test_ones_own_link_above_and_missing_folders_are_used(self):
        sh(self.bed, HOST, "mkdir -m 755 /opt/cache; ln -s /opt/cache /home/root/cache")
        self.addCleanup(sh, self.bed, HOST, "rm -rf /opt/cache /home/root/cache")
        self.cache_below("/home/root/cache/a b/c/")
        self.job()
        self.assertRegex(sh(self.bed, HOST, "cd '/opt/cache/a b'; stat -c '%a %U' . c/sml-run; ls c/sml-run"),
                         r"^700 root\n700 root\nagent-\S+\n$")

    def test_ones_own_folder_in_tmp_is_used(self):
        self.cache_below("/tmp")
        self.job()
        self.assertRegex(sh(self.bed, HOST, "stat -c '%a %U' /tmp/sml-run; ls /tmp/sml-run"), r"^700 root\nagent-\S+\n$")

"""What `cmake --install` puts on a machine, the quickstart, and the links for other launchers."""
import contextlib
import os
import pathlib
import pty
import re
import shutil
import subprocess
import tempfile
import unittest

from harness import BUILD, REPO, SML_RUN, TRAIN_DDP, TestCase, gate, run, sml_run, watchdog

NAMES = ["mpirun", "mpiexec", "mpiexec.hydra", "horovodrun", "torchrun", "srun", "deepspeed", "accelerate"]


class Install(TestCase):
    """In a folder of its own, of the build that is tested."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name)
        subprocess.run(["cmake", "--install", BUILD, "--prefix", cls.root / "usr"], check=True, timeout=watchdog(),
                       stdout=subprocess.DEVNULL)

    @gate
    def test_both_programs(self):
        for name in ("sml-run", "sml-run-agent"):
            done = run([self.root / "usr/bin" / name, "--version"])
            self.assert_status(done, 0)
            self.assertRegex(done.stdout, rf"^{name} \d+\.\d+\.\d+$")

    def test_all_manuals(self):
        pages = sorted((REPO / "man").iterdir())
        self.assertGreaterEqual(len(pages), 12)
        for page in pages:
            done = run(["man", "--warnings", "-l", self.root / f"usr/share/man/man{page.suffix[1:]}/{page.name}"],
                       env={"MANPAGER": "cat"})
            self.assert_status(done, 0)
            self.assertIn(f"{page.stem} — ", done.stdout)

    def test_completions_are_those_of_the_program(self):
        for shell, path in (("bash", "bash-completion/completions/sml-run"), ("zsh", "zsh/site-functions/_sml-run"),
                            ("fish", "fish/vendor_completions.d/sml-run.fish")):
            installed = (self.root / "usr/share" / path).read_text()
            self.assertEqual(installed, sml_run("--completion", shell).stdout)
            self.assertGreater(len(installed), 1000)

    def test_licences_and_examples(self):
        documents = self.root / "usr/share/doc/sml-run"
        for name in ("LICENSE", "LICENSES/README.md", "LICENSES/LGPL-2.1.txt", "examples/train_ddp.py"):
            self.assertTrue((documents / name).is_file(), name)


class QuickstartBuild(TestCase):
    @gate
    def test_all_that_is_installed_comes_of_the_programs(self):
        """The quickstart builds these two targets only."""
        installed = re.findall(r'FILES "([^"]+)"', (BUILD / "cmake_install.cmake").read_text())
        built = [path for path in installed if path.startswith(f"{BUILD}/completion/")]
        self.assertEqual(len(built), 3, installed)
        script = (BUILD / "build.ninja").read_text()
        made_with_program = re.search(r"^build ([^\n]*?): CXX_EXECUTABLE_LINKER__sml-run_", script, re.M).group(1)
        for path in built:
            self.assertIn(os.path.relpath(path, BUILD), made_with_program)


class Quickstart(TestCase):
    """On a machine whose packages are all there; a terminal is a person."""

    def quickstart(self, *words, lack="", build="exit 0"):
        """In a copy of what it needs of the source, where a stand-in says which packages lack."""
        root = pathlib.Path(self.temporary_directory())
        (root / "packaging/examples").mkdir(parents=True)
        shutil.copy(REPO / "packaging/quickstart", root / "packaging")
        shutil.copy(TRAIN_DDP, root / "packaging/examples")
        (root / "build").mkdir()
        (root / "build/sml-run").symlink_to(SML_RUN)
        for name, script in (("dependencies", f'[ $1 = missing ] || echo "$@" >>{root}/installed\n'
                              f'[ $1 != missing ] || printf "{lack}"\n'), ("build", f"echo $1 >>{root}/built\n{build}\n")):
            (root / "packaging" / name).write_text("#!/bin/sh\n" + script)
            (root / "packaging" / name).chmod(0o755)
        self.root = root
        return [root / "packaging/quickstart", *words]

    def at_a_terminal(self, command, answer):
        """(status, screen)"""
        own, its = pty.openpty()
        with subprocess.Popen(command, stdin=its, stdout=its, stderr=its) as process:
            os.close(its)
            screen = b""
            while b"[Y/n]" not in screen:
                screen += os.read(own, 4096)
            os.write(own, answer + b"\n")
            with contextlib.suppress(OSError):  # the terminal is closed
                while True:
                    screen += os.read(own, 4096)
            process.wait(watchdog())
        os.close(own)
        return process.returncode, screen.decode()

    def test_a_person_is_asked_and_may_refuse(self):
        status, screen = self.at_a_terminal(self.quickstart(lack="cmake\\ng++\\n"), b"n")
        self.assertEqual(status, 1, screen)
        self.assertIn("these 2 packages", screen)
        self.assertIn("cmake g++", screen)
        self.assertFalse((self.root / "installed").exists())
        self.assertFalse((self.root / "built").exists())

    def test_nobody_is_asked_without_a_terminal_or_with_yes(self):
        for words in ((), ("--yes",)):
            with self.subTest(words=words):
                done = run(self.quickstart(*words, lack="cmake\\n", build="exit 1"))
                self.assertIn("the build failed", done.stderr)
                self.assertNotIn("[Y/n]", done.stdout)
                self.assertTrue((self.root / "installed").exists())

    def test_a_second_run(self):
        """All packages are there: it builds and trains, and asks nothing."""
        done = run(self.quickstart())
        self.assert_status(done, 0)
        self.assertIn("all packages are installed", done.stdout)
        self.assertIn("quickstart: SUCCESS: 4 workers trained one model", done.stdout)

    def test_what_another_architecture_has_does_not_count_and_does_not_confuse(self):
        folder = self.temporary_directory()
        native = run(["dpkg", "--print-architecture"]).stdout.strip()
        for there, missing in ((("other", native), False), (("other",), True), (("all",), False)):
            stub = pathlib.Path(folder, "dpkg-query")
            stub.write_text("#!/bin/sh\n" + "".join(f"echo {name} installed\n" for name in there))
            stub.chmod(0o755)
            done = run([REPO / "packaging/dependencies", "missing", "example"], env={"PATH": f"{folder}:{os.environ['PATH']}"})
            self.assert_status(done, 0)
            self.assertEqual("python3-torch" in done.stdout.split(), missing, there)

    @unittest.skipUnless(os.geteuid() == 0, "only root puts another system's name in the place of this one's")
    def test_each_debian_has_its_own_names(self):
        release = pathlib.Path(self.temporary_directory(), "os-release")
        for name, wanted, other in (("bookworm", {"libboost1.81-dev", "libboost-filesystem1.81-dev"}, {"libboost-dev"}),
                                    ("trixie", {"libboost-dev", "libboost-filesystem-dev"}, {"libboost1.81-dev"})):
            release.write_text(f'ID=debian\nVERSION_CODENAME={name}\n')
            done = run(["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/os-release && exec "$@"', release,
                        REPO / "packaging/dependencies", "list", "build"])
            self.assert_status(done, 0)
            names = set(done.stdout.split())
            self.assertEqual((wanted - names, other & names), (set(), set()))

    def test_a_word_that_it_does_not_know(self):
        self.assert_status(run(self.quickstart("--what")), 2)

    @gate
    def test_the_linker_is_silent(self):
        """Only what somebody should act upon is on the screen of a build."""
        script = (BUILD / "build.ninja").read_text()
        for program in ("sml-run", "sml-run-agent"):
            rule = re.search(rf"^build {program}\b.*\n(?:  .*\n)*", script, re.M)[0]
            if "-static-pie" in rule:
                self.assertIn("--no-warnings", rule)


class Links(TestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.temporary_directory())

    def names(self):
        return sorted(p.name for p in self.folder.iterdir())

    @gate
    def test_lines_of_other_launchers_run(self):
        done = sml_run("--install-links", self.folder)
        self.assert_status(done, 0)
        self.assertEqual(done.stdout.split(), [f"{self.folder}/{name}" for name in NAMES])
        self.assertEqual(os.readlink(self.folder / "srun"), str(SML_RUN))
        done = run(["mpirun", "-np", "2", "--tag-output", "printenv", "OMPI_COMM_WORLD_RANK"],
                   env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"})
        self.assert_status(done, 0)
        self.assertEqual(sorted(re.findall(r"\d$", done.stdout, re.M)), ["0", "1"])

    def test_ours_are_made_anew(self):
        os.symlink("/nowhere/sml-run", self.folder / "torchrun")
        self.assert_status(sml_run("--install-links", self.folder), 0)
        self.assert_status(sml_run("--install-links", self.folder), 0)
        self.assertEqual(os.readlink(self.folder / "torchrun"), str(SML_RUN))
        self.assertEqual(self.names(), sorted(NAMES))

    def test_files_of_others_stay(self):
        (self.folder / "mpirun").write_text("theirs")
        os.symlink("/opt/slurm/bin/srun", self.folder / "srun")
        (self.folder / "torchrun").mkdir()
        done = sml_run("--install-links", self.folder)
        self.assert_status(done, 2)
        self.assertIn("files of others: mpirun, torchrun, srun; nothing was changed", done.stderr)
        self.assertEqual(self.names(), ["mpirun", "srun", "torchrun"])
        self.assertEqual((self.folder / "mpirun").read_text(), "theirs")
        self.assertEqual(os.readlink(self.folder / "srun"), "/opt/slurm/bin/srun")

    def test_a_folder_that_is_not_there_is_made(self):
        self.assert_status(sml_run("--install-links", self.folder / "new/links"), 0)
        self.assertEqual(sorted(p.name for p in (self.folder / "new/links").iterdir()), sorted(NAMES))

    def test_a_folder_that_cannot_be_made(self):
        (self.folder / "file").write_text("")
        done = sml_run("--install-links", self.folder / "file/links")
        self.assert_status(done, 2)
        self.assertRegex(done.stderr, r"--install-links: .*/file/links: [Nn]ot a directory")


if __name__ == "__main__":
    unittest.main()

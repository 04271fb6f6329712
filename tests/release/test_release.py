"""packaging/release: each form is made twice, looked into, installed, and starts a job of two workers."""
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

from harness import BUILD, PYTHON, REPO, TestCase, run, watchdog

NEEDS_THE_NETWORK = True
MAKE = REPO / "packaging" / "release"
VERSION = re.search(r"project\(sml-run VERSION (\S+)", (REPO / "CMakeLists.txt").read_text()).group(1)
MACHINE = os.uname().machine
ELSEWHERE = {"TZ": "Pacific/Apia", "LANG": "de_DE.UTF-8", "HOME": "/nowhere", "USER": "somebody"}

for tool in ("dpkg-deb", "rpmbuild", "lintian", "minisign", "diffoscope"):
    if not shutil.which(tool):
        raise unittest.SkipTest(f"{tool} is not installed (packaging/dependencies install release)")


def make(folder, *words, umask=0o022, **env):
    done = subprocess.run([PYTHON, MAKE, "--build", BUILD, "--no-build", "--out", folder, *words], capture_output=True, text=True,
                          timeout=watchdog(), check=False, umask=umask, stdin=subprocess.DEVNULL, env={**os.environ, "SOURCE_DATE_EPOCH": "1795000000", **env})
    if done.returncode != 0:
        raise AssertionError(done.stdout + done.stderr)


def setUpModule():
    """One release for all tests; with a key, which adds a file and changes none."""
    global OUT
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    top = pathlib.Path(folder.name)
    subprocess.run(["minisign", "-G", "-W", "-s", top / "key", "-p", top / "key.pub"], check=True, stdout=subprocess.DEVNULL)
    OUT = top / "out"
    make(OUT, "--key", top / "key")


def form(pattern):
    found, = OUT.glob(pattern)
    return found


def sums(folder):
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest()
            for p in folder.rglob("*") if p.is_file() and p.suffix != ".minisig"}

# Prints the files of the package that the recipe gives, after its tests have passed.
CONDA_BUILD = """
import pathlib, sys
from rattler_build import Package, RenderConfig, Stage0Recipe, ToolConfiguration, VariantConfig
one, = Stage0Recipe.from_file(sys.argv[1]).render(VariantConfig(), RenderConfig())
made = one.run_build(tool_config=ToolConfiguration(test_strategy="native"), output_dir=pathlib.Path(sys.argv[2]), channels=[])
for path in Package.from_file(made.packages[0]).files:
    print(path)
"""


def difference(one, other):
    """What differs in two releases, and where in them; empty: nothing."""
    done = run(["diffoscope", "--exclude-directory-metadata=yes", "--text", "-", one, other])
    if done.returncode not in (0, 1):
        raise AssertionError(done)
    return done.stdout[:20000]


class ReleaseCase(TestCase):
    watchdog_times = 3

    def assert_starts_workers(self, program, **kw):
        done = run([program, "-np", "2", "sh", "-c", "echo rank $RANK of $WORLD_SIZE"], **kw)
        self.assert_status(done, 0)
        self.assertEqual(sorted(re.findall(r"rank \d of 2", done.stdout)), ["rank 0 of 2", "rank 1 of 2"])

    def assert_is_complete(self, names, zsh="site-functions"):
        """Every form has these below its prefix, manuals perhaps compressed."""
        names = {name.removesuffix(".gz") for name in names}
        wanted = {"bin/sml-run", "share/man/man1/sml-run.1", "share/man/man5/sml-run-json.5", "share/man/man7/sml-run-hosts.7", "share/sml-run/schemas/report.schema.json", "share/bash-completion/completions/sml-run",
                  f"share/zsh/{zsh}/_sml-run", "share/fish/vendor_completions.d/sml-run.fish"}
        self.assertEqual(wanted - names, set())

    def lintian(self, tags, package):
        """Without the words that it takes the bytes of the compressed agent for. It leaves files in its temporary folder."""
        return run(["lintian", "--fail-on", tags, "--display-info", "--suppress-tags", "spelling-error-in-binary", package], env={"TMPDIR": self.temporary_directory()})


class Bytes(ReleaseCase):
    def test_a_second_run_gives_the_same(self):
        """By another user's habits, in another place of the disk."""
        other = pathlib.Path(self.temporary_directory()) / "a" / "longer name"
        make(other, umask=0o077, **ELSEWHERE)
        shutil.copy(OUT / "SHA256SUMS.minisig", other)
        self.assertEqual(difference(OUT, other), "")
        self.assertEqual(sums(OUT), sums(other))

    def test_another_time_and_maintainer_are_in_each_form(self):
        """So that the test above can fail, and says where."""
        other = pathlib.Path(self.temporary_directory()) / "other"
        make(other, "--maintainer", "A. Person <a.person@sml-run.org>", "--homepage", "https://sml-run.org/", SOURCE_DATE_EPOCH="1700000000")
        same = {name for name, value in sums(other).items() if sums(OUT)[name] == value}
        self.assertEqual(same, set())
        self.named_in_forms(other, "A. Person <a.person@sml-run.org>", "https://sml-run.org/")
        self.assert_status(self.lintian("error,warning", *other.glob("*.deb")), 0)
        self.assertIn("23-Nov-14 22:13", difference(form("*.whl"), *other.glob("*.whl")))

    def named_in_forms(self, folder, maintainer, homepage):
        deb, = folder.glob("*.deb")
        rpm, = folder.glob("*.rpm")
        wheel, = folder.glob("*.whl")
        spdx, = folder.glob("*.spdx.json")
        fields = run(["dpkg-deb", "--field", deb, "Maintainer", "Homepage"]).stdout
        self.assertEqual(fields, f"Maintainer: {maintainer}\nHomepage: {homepage}\n")
        query = run(["rpm", "--dbpath", self.temporary_directory(), "-qp", "--queryformat", "%{PACKAGER} %{URL}", rpm])
        self.assertEqual(query.stdout, f"{maintainer} {homepage}")
        with zipfile.ZipFile(wheel) as archive:
            metadata = archive.read(f"sml_run-{VERSION}.dist-info/METADATA").decode()
        self.assertIn(f"\nMaintainer-email: {maintainer}\n", metadata)
        self.assertIn(f"\nHome-page: {homepage}\n", metadata)
        self.assertIn(f"  homepage: {homepage}\n", (folder / "conda/recipe.yaml").read_text())
        self.assertTrue(json.loads(spdx.read_text())["documentNamespace"].startswith(homepage + "spdx/"))

    def test_what_is_no_name_or_page_is_refused(self):
        for words, said in ((("--maintainer", "nobody"), "is not of the form"), (("--homepage", "sml-run.org"), "is no URL")):
            done = run([PYTHON, MAKE, "--build", BUILD, "--no-build", "--out", self.temporary_directory(), *words])
            self.assert_status(done, 1)
            self.assertIn(said, done.stderr)

    def test_sums_and_signature(self):
        self.assert_status(run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=OUT), 0)
        listed = set(re.findall(r"^\w+  (.*)$", (OUT / "SHA256SUMS").read_text(), re.M))
        self.assertEqual(listed, set(sums(OUT)) - {"SHA256SUMS"})
        done = run(["minisign", "-V", "-p", OUT.parent / "key.pub", "-m", OUT / "SHA256SUMS"])
        self.assert_status(done, 0)


class Tarball(ReleaseCase):
    def test_it_runs_where_it_is_unpacked(self):
        top = pathlib.Path(self.temporary_directory())
        tarball = form("*-{}.tar.gz".format(MACHINE))
        self.assert_status(run(["tar", "-C", top, "--strip-components=1", "-xf", tarball]), 0)
        names = [str(p.relative_to(top)) for p in top.rglob("*")]
        self.assert_is_complete(names)
        self.assertEqual({"share/doc/sml-run/LICENSE", "share/doc/sml-run/README.md", "share/man/man1/sml-run-agent.1",
                          "share/doc/sml-run/examples/train_ddp.py", "share/doc/sml-run/LICENSES/libssh.txt",
                          "bin/sml-run-agent"} - set(names), set())
        self.assertEqual(sorted(p.name for p in top.iterdir()), ["bin", "share"])
        self.assert_starts_workers(top / "bin/sml-run")
        for name in run(["tar", "-tf", tarball]).stdout.splitlines():
            folder, _, path = name.partition("/")
            self.assertEqual(folder, f"sml-run-{VERSION}-{MACHINE}")
            if (top / path).is_file():
                (top / path).unlink()
        self.assertEqual([p for p in top.rglob("*") if not p.is_dir()], [])


class Deb(ReleaseCase):
    def test_lintian_is_silent(self):
        done = self.lintian("error,warning,info", form("*.deb"))
        self.assertEqual((done.stdout, done.returncode), ("", 0))

    def test_it_is_installed_and_removed(self):
        root = pathlib.Path(self.temporary_directory())
        (root / "var/lib/dpkg/updates").mkdir(parents=True)
        (root / "var/lib/dpkg/info").mkdir()
        (root / "var/lib/dpkg/status").touch()
        dpkg = ["dpkg", f"--root={root}", "--force-script-chrootless", "--force-not-root", f"--log={root}/log"]
        self.assert_status(run([*dpkg, "--install", form("*.deb")]), 0)
        self.assert_is_complete((str(p.relative_to(root / "usr")) for p in (root / "usr").rglob("*")), zsh="vendor-completions")
        self.assert_starts_workers(root / "usr/bin/sml-run")
        done = run(["man", "-l", root / "usr/share/man/man1/sml-run.1.gz"], env={**os.environ, "MANPAGER": "cat"})
        self.assertIn("start one distributed job", done.stdout)
        self.assert_status(run([*dpkg, "--purge", "sml-run"]), 0)
        self.assertEqual([p for p in (root / "usr").rglob("*") if p.is_file()] if (root / "usr").exists() else [], [])


class Rpm(ReleaseCase):
    def query(self, *words):
        folder = self.temporary_directory()
        done = run(["rpm", "--dbpath", folder, "-qp", *words, form("*.rpm")])
        self.assert_status(done, 0)
        return done.stdout.splitlines()

    def test_it_needs_nothing(self):
        needed = [line for line in self.query("--requires") if not line.startswith("rpmlib(")]
        self.assertEqual(needed, [])
        self.assertEqual(self.query("--queryformat", "%{NAME} %{VERSION} %{ARCH} %{BUILDHOST}"), [f"sml-run {VERSION} {MACHINE} sml-run"])

    def test_it_is_installed_and_removed(self):
        root = pathlib.Path(self.temporary_directory())
        rpm = ["rpm", "--root", root, "--dbpath", "/var/lib/rpm"]
        self.assert_status(run([*rpm, "--install", form("*.rpm")]), 0)
        self.assert_is_complete(str(p.relative_to(root / "usr")) for p in (root / "usr").rglob("*"))
        self.assert_starts_workers(root / "usr/bin/sml-run")
        done = run([*rpm, "--verify", "sml-run"])
        self.assertEqual((done.stdout, done.returncode), ("", 0))
        self.assert_status(run([*rpm, "--erase", "sml-run"]), 0)
        self.assertEqual([p for p in (root / "usr").rglob("*") if p.is_file()], [])


class Wheel(ReleaseCase):
    def test_pip_puts_it_on_the_path(self):
        venv = pathlib.Path(self.temporary_directory()) / "venv"
        subprocess.run([PYTHON, "-m", "venv", venv], check=True, timeout=watchdog())
        done = run([venv / "bin/pip", "install", "--no-index", "--disable-pip-version-check", form("*.whl")])
        self.assert_status(done, 0)
        done = run([venv / "bin/sml-run", "--version"])
        self.assertEqual(done.stdout, f"sml-run {VERSION}\n")
        self.assert_starts_workers(venv / "bin/sml-run")
        self.assertEqual(run([venv / "bin/python", "-m", "sml_run", "--version"]).stdout, f"sml-run {VERSION}\n")
        code = "import os, sml_run; print(sml_run.path()); print(sml_run.launch(os.getenv, 'RANK', nproc=2))"
        done = run([venv / "bin/python", "-c", code], cwd=self.temporary_directory())
        self.assertEqual(done.stdout, f"{venv}/bin/sml-run\n['0', '1']\n", done)
        self.assert_is_complete(str(p.relative_to(venv)) for p in venv.rglob("*"))
        self.assert_status(run([venv / "bin/pip", "uninstall", "-y", "sml-run"]), 0)
        self.assertFalse((venv / "bin/sml-run").exists())

    def test_tags_and_record(self):
        name = form("*.whl").name
        for tag in ("py3-none-manylinux_2_17_", "manylinux2014_", "musllinux_1_1_"):
            self.assertIn(tag, name)
        with zipfile.ZipFile(form("*.whl")) as wheel:
            self.assertIsNone(wheel.testzip())
            record = wheel.read(f"sml_run-{VERSION}.dist-info/RECORD").decode().splitlines()
            self.assertEqual([line.split(",")[0] for line in record], wheel.namelist())


class FromSource(ReleaseCase):
    """`pip install ./packaging/python`. A whole build takes many minutes, and is made by hand (RELEASING.md)."""

    def test_what_is_missing_for_the_build_is_said_in_one_sentence(self):
        venv = pathlib.Path(self.temporary_directory()) / "venv"
        subprocess.run([PYTHON, "-m", "venv", venv], check=True, timeout=watchdog())
        compiler = pathlib.Path(self.temporary_directory()) / "c++"
        compiler.write_text("#!/bin/sh\ncase $* in *print-file-name=*) echo ${1#*=} ;; *) ! grep -q 'span\\|CLI' ;; esac\n")
        compiler.chmod(0o755)
        for cxx, said in (("/nowhere/c++", "there is no C++ compiler"), (compiler, "does not know C++20; GCC 12 and Clang 14 do")):
            done = run([venv / "bin/pip", "install", "--no-deps", REPO / "packaging/python"], env={"CXX": str(cxx)})
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(done.stdout + done.stderr, f"sml-run cannot be built here: .*{re.escape(said)}")
        compiler.write_text("#!/bin/sh\ncase $* in *print-file-name=*) echo ${1#*=} ;; *) ! grep -q CLI ;; esac\n")
        done = run([venv / "bin/pip", "install", "--no-deps", REPO / "packaging/python"], env={"CXX": str(compiler)})
        self.assertIn("these are missing: <CLI/CLI.hpp>, libre2.a, libz.a, libncurses.a, libtinfo.a, libyaml.a; on Debian and Ubuntu: apt install g++ ", done.stdout + done.stderr)


class Image(ReleaseCase):
    def blob(self, layout, descriptor):
        algorithm, digest = descriptor["digest"].split(":")
        data = layout[f"blobs/{algorithm}/{digest}"]
        self.assertEqual((len(data), hashlib.sha256(data).hexdigest()), (descriptor["size"], digest))
        return data

    def test_its_root_runs(self):
        """The layout is followed from its index, and what it holds is the whole root of a process."""
        with tarfile.open(form("*.oci.tar")) as archive:
            layout = {m.name: archive.extractfile(m).read() for m in archive.getmembers() if m.isfile()}
        self.assertEqual(json.loads(layout["oci-layout"])["imageLayoutVersion"], "1.0.0")
        index = json.loads(layout["index.json"])
        manifest = json.loads(self.blob(layout, index["manifests"][0]))
        config = json.loads(self.blob(layout, manifest["config"]))
        packed, = manifest["layers"]
        layer = gzip.decompress(self.blob(layout, packed))
        self.assertEqual(config["rootfs"]["diff_ids"], [f"sha256:{hashlib.sha256(layer).hexdigest()}"])
        root = pathlib.Path(self.temporary_directory())
        with tarfile.open(fileobj=io.BytesIO(layer)) as files:
            files.extractall(root)
        self.assertTrue((root / "usr/local/share/doc/sml-run/LICENSES/libssh.txt").is_file())
        program, = config["config"]["Entrypoint"]
        script = f"mkdir -p {root}/proc {root}/dev {root}/tmp && mount -t proc proc {root}/proc && mount --bind /dev {root}/dev && " \
                 f"exec chroot {root} {program} -np 2 {program} --version"
        done = run(["unshare", "--mount", "--pid", "--fork", "sh", "-c", script])
        self.assert_status(done, 0)
        self.assertEqual(done.stdout.count(f"sml-run {VERSION}"), 2)


class Recipe(ReleaseCase):
    def test_it_names_the_tarball(self):
        import yaml
        recipe = yaml.safe_load((OUT / "conda/recipe.yaml").read_text())
        self.assertEqual(set(recipe), {"package", "source", "build", "tests", "about"})
        self.assertEqual(recipe["package"], {"name": "sml-run", "version": VERSION})
        tarball = (OUT / "conda" / recipe["source"]["path"]).resolve()
        self.assertEqual(recipe["source"]["sha256"], hashlib.sha256(tarball.read_bytes()).hexdigest())

    def test_its_script_fills_a_prefix(self):
        import yaml
        recipe = yaml.safe_load((OUT / "conda/recipe.yaml").read_text())
        folder = pathlib.Path(self.temporary_directory())
        run(["tar", "-C", folder, "--strip-components=1", "-xf", OUT / "conda" / recipe["source"]["path"]])
        env = {**os.environ, "PREFIX": str(folder / "prefix"), "PATH": f"{folder}/prefix/bin:{os.environ['PATH']}"}
        for name in recipe["about"]["license_file"]:
            self.assertTrue((folder / name).exists(), name)
        for line in recipe["build"]["script"] + recipe["tests"][0]["script"]:
            self.assert_status(run(["sh", "-c", line], env=env, cwd=folder), 0)


    def test_its_builder_makes_and_tests_a_package(self):
        """rattler-build, which takes nothing from a channel, as the package needs nothing."""
        folder = pathlib.Path(self.temporary_directory())
        subprocess.run([PYTHON, "-m", "venv", folder / "venv"], check=True, timeout=watchdog())
        wanted = pathlib.Path(__file__).resolve().parent / "requirements.txt"
        subprocess.run([folder / "venv/bin/pip", "install", "--quiet", "--no-deps", "--requirement", wanted], check=True, timeout=watchdog())
        done = run([folder / "venv/bin/python", "-c", CONDA_BUILD, OUT / "conda/recipe.yaml", folder / "made"],
                   env={"HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache")})
        self.assert_status(done, 0)
        self.assert_is_complete(done.stdout.splitlines())
        self.assertTrue(list((folder / "made").rglob(f"sml-run-{VERSION}-*.conda")))


class Inside(ReleaseCase):
    def test_versions_are_those_of_the_packages(self):
        document = json.loads(form("*.spdx.json").read_text())
        packages = {p["name"]: p for p in document["packages"]}
        self.assertLessEqual({"sml-run", "glibc", "libssh", "openssl", "zlib", "re2", "boost1.81", "gcc-12", "fmtlib",
                              "cli11", "libyaml", "nlohmann-json3", "ncurses"}, set(packages))
        for name, package in (("libssh", "libssh-dev"), ("openssl", "libssl-dev"), ("glibc", "libc6-dev")):
            machine = run(["dpkg", "--print-architecture"]).stdout.strip()
            done = run(["dpkg-query", "--show", "--showformat=${source:Version}", f"{package}:{machine}"])
            self.assertEqual(packages[name]["versionInfo"], done.stdout)
        ids = {p["SPDXID"] for p in document["packages"] + document["files"]} | {"SPDXRef-DOCUMENT"}
        for relation in document["relationships"]:
            self.assertIn(relation["spdxElementId"], ids)
            self.assertIn(relation["relatedSpdxElement"], ids)
        for file in document["files"]:
            sums = {c["algorithm"]: c["checksumValue"] for c in file["checksums"]}
            program = BUILD / file["fileName"].rsplit("/", 1)[1]
            self.assertEqual(sums["SHA256"], hashlib.sha256(program.read_bytes()).hexdigest())

    def test_it_can_be_linked_with_another_libssh(self):
        """Anew from the parts that are given away: the same bytes; and with a libssh that is told apart by its greeting."""
        folder = pathlib.Path(self.temporary_directory())
        run(["tar", "-C", folder, "--strip-components=1", "-xf", form("*-relink.tar.gz")])
        self.assertFalse((folder / "lib/libssh.a").exists())
        self.assert_status(run([folder / "relink"]), 0)
        self.assertTrue((folder / "sml-run").read_bytes() == (BUILD / "sml-run").read_bytes())
        libssh = run(["c++", "-print-file-name=libssh.a"]).stdout.strip()
        old, new = b"SSH-2.0-libssh_", b"SSH-2.0-mylssh_"
        original = pathlib.Path(libssh).read_bytes()
        self.assertTrue(old in original)
        (folder / "libssh.a").write_bytes(original.replace(old, new))
        done = run([folder / "relink", "--libssh", "libssh.a"])
        self.assert_status(done, 0)
        linked = (folder / "sml-run").read_bytes()
        self.assertEqual((new in linked, old in linked), (True, False))
        self.assert_starts_workers(folder / "sml-run")


if __name__ == "__main__":
    sys.exit("run by tests/run release")

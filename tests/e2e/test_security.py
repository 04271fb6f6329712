"""tests/security.md against the tests that it names, and what both programs were hardened with. The attacks are in security/."""
import importlib
import re
import unittest

from harness import BUILD, REPO, SML_RUN, TestCase, gate, run


@gate
class Table(unittest.TestCase):
    """tests/security.md against the tests that it names."""

    @classmethod
    def setUpClass(cls):
        cls.text = (REPO / "tests/security.md").read_text()

    def test_every_end_to_end_test_that_it_names_exists(self):
        named = re.findall(r"`(test_\w+)\.(\w+)\.(test_\w+)`", self.text)
        self.assertGreater(len(named), 50)
        self.assertEqual([n for n in named if not hasattr(
            getattr(importlib.import_module(n[0]), n[1], None), n[2])], [])

    def test_every_unit_test_that_it_names_exists(self):
        named = re.findall(r"`(\w+_test\.cc)` \"([^\"]+)\"", self.text)
        self.assertGreater(len(named), 10)
        cases = {}
        for name, case in named:
            files = [file for layer in ("unit", "integration") if (file := REPO / "tests" / layer / name).exists()]
            cases.setdefault(name, "".join(file.read_text() for file in files))
            with self.subTest(file=name):
                self.assertIn(f'TEST_CASE("{case}"', cases[name])

    def test_every_row_names_a_test(self):
        rows = dict(re.findall(r"^\| (S\d+) \| (.*)$", self.text, re.M))
        rows.update(re.findall(r"^\| (T\d+) \| (.*)$", self.text, re.M))
        self.assertEqual(list(rows), [f"S{n}" for n in range(1, 28) if n not in (24, 26)] +
                         [f"T{n}" for n in range(1, 30) if n != 20])
        self.assertEqual([n for n, row in rows.items() if "test_" not in row and "_test.cc" not in row], [])


def readelf(*words):
    return run(["readelf", "-W", *words], env={"LC_ALL": "C"}).stdout


@gate
class Binaries(TestCase):
    def check(self, name):
        path = BUILD / name
        headers, dynamic = readelf("-hl", path), readelf("-d", path)
        self.assertRegex(headers, r"Type:\s+DYN")  # position independent
        self.assertIn("PIE", dynamic)
        self.assertRegex(headers, r"GNU_STACK\s.*\sRW\s")
        self.assertNotRegex(headers, r"(GNU_STACK|LOAD)\s.*\sR?WE\s")
        self.assertIn("GNU_RELRO", headers)
        self.assertRegex(dynamic, r"FLAGS.*\b(BIND_NOW|NOW)\b")
        self.assertNotRegex(dynamic, "RPATH|RUNPATH|TEXTREL")
        return path

    def sanitized(self):
        return b"__asan_init" in SML_RUN.read_bytes()

    def test_the_launcher(self):
        if self.sanitized():
            raise unittest.SkipTest("built with a sanitizer, whose program has other code and symbols than the one that is shipped")
        program, names = self.check("sml-run"), BUILD / "sml-run.symbols"  # those of a static one are cut off it
        symbols = readelf("-s", names if names.exists() else program)
        self.assertIn("__stack_chk_fail", symbols)
        self.assertRegex(symbols, r"__(memcpy|snprintf|vsnprintf|read)_chk")  # FORTIFY
        self.assertIn("glibcxx_assert_fail", symbols)
        needed = re.findall(r"Shared library: \[(.*)\]", readelf("-d", SML_RUN))
        self.assertEqual([n for n in needed if not re.match(r"lib(ssh|ssl|crypto|stdc\+\+|gcc_s|c|m)\.so|ld-linux", n)], [])

    def test_the_agent(self):
        if self.sanitized():
            raise unittest.SkipTest("built with a sanitizer, whose program has other code and symbols than the one that is shipped")
        path = self.check("sml-run-agent")
        self.assertNotIn("NEEDED", readelf("-d", path))
        self.assertNotIn("INTERP", readelf("-l", path))
        image = path.read_bytes()
        texts = (b"stack smashing detected", b"buffer overflow detected", b"__n < this->size()\0")  # the last one of an assertion
        self.assertEqual([text for text in texts if text not in image], [])

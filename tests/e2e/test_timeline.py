"""--timeline: the picture of a job, looked at with a real browser."""
import json
import re
import shutil
import unittest

from harness import TestCase, Testbed, gate, run, sml_run, sml_run_popen, wait_until


def classes(dom, tag):
    """How many elements of a kind have each class."""
    found = {}
    for names in re.findall(rf'<{tag} class="([^"]+)"', dom):
        found[names] = found.get(names, 0) + 1
    return found


class Pages(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bed = Testbed.shared(4)

    def setUp(self):
        self.browser = shutil.which("chromium")
        if not self.browser:
            raise unittest.SkipTest("needs chromium (tests/run installs it)")
        self.top = self.temporary_directory()

    def shown(self, page, fragment=""):
        """The document as the browser has made it."""
        done = run([self.browser, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1280,900",
                    f"--user-data-dir={self.top}/profile", "--dump-dom", f"file://{page}{fragment}"])
        self.assert_status(done, 0)
        return done.stdout.split("<script id=")[0]  # not its data and program

    @gate
    def test_four_hosts_with_one_failing_rank(self):
        self.addCleanup(self.bed.exec, "head", ["rm", "-f", "/tmp/job.html", "/tmp/job.json"])
        done = self.bed.sml_run("head", "-H", self.bed.hosts(1), "--timeline", "/tmp/job.html", "--timeline",
                                "/tmp/job.json", "sh", "-c", 'echo "<b>hello"; [ $RANK = 2 ] && echo "giving up <b>" >&2 && exit 7; exec sleep 600')
        self.assert_status(done, 7)
        page = self.top / "job.html"
        page.write_bytes(self.bed.path("head", "/tmp/job.html").read_bytes())
        dom = self.shown(page)
        self.assertEqual(dom.count('class="row hostrow"'), 4)
        bars = classes(dom, "rect")
        self.assertEqual((bars["rank failed"], bars["rank stopped"]), (1, 3))
        for step in ("connect", "deploy", "prepare", "run"):
            self.assertGreaterEqual(bars[f"step {step}"], 4, step)
        self.assertIn(classes(dom, "path")["output"], range(1, 5))  # the others may have been stopped before theirs
        texts = re.findall(r"<text[^>]*>([^<]*)</text>", dom)
        for text in ("▾ algo-1", "▾ algo-4", "rank 0", "rank 3", "exit 7", "workers start"):
            self.assertIn(text, texts)
        self.assertIn("stop: a worker failed", dom)  # at least where the mouse is on its line: the label may lack room
        self.assertEqual(texts.count("SIGTERM"), 3)
        self.assertRegex(dom, r'<div id="verdict" class="bad">rank 2 on algo-3 exited with status 7 after .* \(exit status 7\)')
        self.assertRegex(dom, r'<div id="about">20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC · sml-\w+ · sh -c ')
        self.assertIn('<aside id="details" hidden', dom)
        self.assertIn('<div id="cause">rank 2 on algo-3 said at last: <code>giving up &lt;b&gt;</code></div>', dom)  # without a click
        asked = self.shown(page, "#rank2")
        self.assertRegex(asked, r"<h2>rank 2 on algo-3, pid \d+</h2>.*<p>CPU \d+\.\d+ s .*peak memory \d.*<pre>giving up &lt;b&gt;</pre>")
        trace = json.loads(self.bed.path("head", "/tmp/job.json").read_text())
        names = {e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "process_name"}
        self.assertEqual(names, {"algo-1", "algo-2", "algo-3", "algo-4"})

    @gate
    def test_the_page_is_there_while_the_job_runs(self):
        page = self.top / "live.html"
        page.write_text("<p>an earlier one")
        line = ["--timeline", page, "-np", "2", "sh", "-c", "echo up; exec sleep 600"]
        with sml_run_popen(*line) as job:
            wait_until(lambda: '"running":true' in page.read_text())
            wait_until(lambda: page.read_text().count('"outcome":"unknown"') == 2)  # both ranks are in it
            dom = self.shown(page)
            self.assertRegex(dom, r'<div id="verdict" class="runs">the job runs, at 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC<')
            self.assertEqual(classes(dom, "rect")["rank unknown"], 2)
            self.assertRegex(dom, r"--unknown[^>]*>running<")  # the legend
            job.terminate()
            self.assert_status(job.finish(), 143)
        self.assertIn('"running":false', page.read_text())
        self.assertEqual([one.name for one in self.top.iterdir() if one.name.startswith(".")], [])

    @gate
    def test_the_page_opens_at_the_rank_that_failed_first(self):
        page = self.top / "opens.html"
        done = sml_run("-np", "300", "--timeline", page, "sh", "-c", "[ $RANK = 237 ] && echo no luck >&2 && exit 7; exec sleep 600")
        self.assert_status(done, 7)
        dom = self.shown(page)
        self.assertIn("rank 237", re.findall(r"<text[^>]*>([^<]*)</text>", dom))
        self.assertIn(">no luck</code>", dom)

    def test_a_thousand_ranks_are_drawn_as_far_as_they_are_seen(self):
        page = self.top / "many.html"
        self.assert_status(sml_run("-np", "1024", "--timeline", page, "true"), 0)
        dom = self.shown(page)
        self.assertIn(">▸ ranks 0-1023<", dom)  # all ended alike
        self.assertEqual(classes(dom, "rect")["cell ok"], 1024)
        dom = self.shown(page, "#rank0")
        self.assertIn(">rank 0<", dom)
        self.assertTrue(30 < classes(dom, "rect")["rank ok"] < 200, classes(dom, "rect"))
        self.assertRegex(dom, r'<main id="rows" style="height: 18\d\d\dpx')
        self.assertIn(">all workers exited with status 0 (exit status 0)<", dom)

    def test_the_rank_that_failed_stands_alone_among_many_of_its_host(self):
        page = self.top / "crowd.html"
        done = sml_run("-np", "200", "--timeline", page, "sh", "-c", "[ $RANK = 137 ] && exit 7; exec sleep 600")
        self.assert_status(done, 7)
        dom = self.shown(page)
        texts = re.findall(r"<text[^>]*>([^<]*)</text>", dom)
        for text in ("▸ ranks 0-136", "rank 137", "▸ ranks 138-199", "exit 7"):
            self.assertIn(text, texts)
        self.assertEqual(classes(dom, "rect").get("rank stopped"), None)


class Files(TestCase):
    @gate
    def test_names_and_places_that_are_refused(self):
        for name, words in {"job.txt": "ends in .html, for a browser, or .json",
                            "no/job.html": "--timeline: cannot open .*: no such file or directory"}.items():
            done = sml_run("--timeline", self.temporary_directory() / name, "true")
            self.assert_status(done, 2)
            self.assertRegex(done.stderr, words)

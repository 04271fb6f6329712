"""packaging/site: the manual and the Markdown files as pages."""
import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import unittest
import urllib.parse

from harness import REPO, TestCase, gate, run

BUILD_SITE = REPO / "packaging/site/build"


class Page(html.parser.HTMLParser):
    """Fragments and links of a page, and whether its tags are closed."""
    EMPTY = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
    OPTIONAL = {"p", "li", "dt", "dd", "tr", "td", "th"}

    def __init__(self, text):
        super().__init__()
        self.fragments, self.links, self.open = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                self.fragments.append(value)
            elif name in ("href", "src", "action", "srcset"):
                self.links.append(value)
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.EMPTY:
            self.open.pop()

    def handle_endtag(self, tag):
        while self.open and self.open[-1] != tag and self.open[-1] in self.OPTIONAL:
            self.open.pop()
        if not self.open or self.open.pop() != tag:
            raise AssertionError(f"</{tag}> in line {self.getpos()[0]} closes nothing")


class Site(TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = subprocess.run(["mktemp", "-d"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        cls.addClassCleanup(shutil.rmtree, folder)
        cls.folder = pathlib.Path(folder)
        done = run([BUILD_SITE, cls.folder])
        if done.returncode:
            raise AssertionError(done)
        cls.pages = {path.name: Page(path.read_text()) for path in cls.folder.glob("*.html")}

    def leads(self, page, link):
        """Why a link leads nowhere, or None."""
        if re.match(r"(https?|mailto):", link):
            return None
        name, _, fragment = link.partition("#")
        name = urllib.parse.unquote(name) or page
        if not (self.folder / name).is_file():
            return f"{page}: {link}: no such file"
        if fragment and urllib.parse.unquote(fragment) not in self.pages[name].fragments:
            return f"{page}: {link}: no such place"
        return None

    @gate
    def test_every_link_leads_somewhere(self):
        links = [(name, link) for name, page in self.pages.items() for link in page.links]
        self.assertGreater(len(links), 2000)
        self.assertEqual([why for why in (self.leads(*one) for one in links) if why], [])

    def test_a_link_that_leads_nowhere_is_found(self):
        self.assertIn("no such file", self.leads("index.html", "nothing.html"))
        self.assertIn("no such place", self.leads("index.html", "sml-run.1.html#nothing"))

    def test_tags_are_closed_and_fragments_are_there_once(self):
        for name, page in self.pages.items():
            self.assertEqual(page.open, [], name)
            twice = {one for one in page.fragments if page.fragments.count(one) > 1}
            self.assertEqual(twice, set(), name)

    def test_every_page_of_the_manual_and_every_markdown_file_is_there(self):
        names = subprocess.run(["git", "-C", REPO, "ls-files", "man/*", "*.md"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
        home = set(self.pages["index.html"].links)
        for name in names:
            page = "index.html" if name == "README.md" else re.sub(r"^man-|(-README)?\.md$", "", name.replace("/", "-")) + ".html"
            self.assertIn(page, self.pages, name)
            self.assertIn(page, home, "the first page leads to each")

    def test_lines_break_at_no_dash_of_an_option(self):
        text = (self.folder / "index.html").read_text()
        self.assertIn('<code><span class="word">sml-run</span> <span class="word">--nnodes</span> 2 ', text)
        self.assertNotRegex(text, r"<pre><code[^>]*>[^<]*<span")
        self.assertRegex((self.folder / "style.css").read_text(), r"\.word\b[^{]*\{ white-space: nowrap; \}")

    def test_a_page_of_the_manual_is_a_link_wherever_a_sentence_names_it(self):
        readme = (REPO / "README.md").read_text()
        named = re.findall(r"(?<!\[)(sml-run[\w-]*)\((\d)\)", readme)
        self.assertGreater(len(named), 0)
        for name, section in named:
            self.assertIn(f'<a href="{name}.{section}.html">{name}({section})</a>', (self.folder / "index.html").read_text())

    def test_nothing_comes_from_elsewhere(self):
        for path in self.folder.glob("*.html"):
            self.assertEqual(re.findall(r'<(?:script|img|link|iframe|source)[^>]*(?:src|href)="(?:https?:)?//[^"]*"', path.read_text()), [], path.name)
        self.assertNotIn("http", (self.folder / "style.css").read_text())

    def test_the_search_knows_each_option_and_leads_to_it(self):
        text = (self.folder / "search-index.js").read_text()
        rows = json.loads(text.removeprefix("window.searchIndex = ").removesuffix(";\n"))
        self.assertEqual([why for why in (self.leads("index.html", link) for _, _, link, *_ in rows) if why], [])
        manual = (REPO / "man/sml-run.1").read_text()
        options = set(re.findall(r"^\.It Fl -([\w-]+)", manual.split(".Sh OPTIONS")[1].split("\n.Sh ")[0], re.M))
        self.assertGreater(len(options), 100)
        titles = {title.split()[0] for _, title, link, *_ in rows if title and link.startswith("sml-run.1.html#")}
        self.assertEqual({f"--{name}" for name in options} - titles, set())

    def test_a_browser_finds_an_option(self):
        if not shutil.which("chromium"):
            raise unittest.SkipTest("needs chromium (tests/run installs it)")
        profile = self.temporary_directory()
        done = run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--virtual-time-budget=30000", "--dump-dom",
                    f"file://{self.folder}/CHANGES.html?q=heartbeat"])
        self.assert_status(done, 0)
        found = re.search(r'<ol id="search-found">(.*?)</ol>', done.stdout, re.S)
        self.assertIsNotNone(found, done.stdout[-3000:])
        first = re.search(r'<a href="([^"]*)"><b>(.*?)</b>', found[1])
        self.assertRegex(first[1], r"^sml-run\.1\.html#")
        self.assertIn("--heartbeat-timeout", re.sub(r"</?mark>", "", first[2]))

    def test_it_replaces_a_site_and_nothing_else(self):
        folder = pathlib.Path(self.temporary_directory())
        (folder / "letter").write_text("mine")
        done = run([BUILD_SITE, folder])
        self.assert_status(done, 1)
        self.assertIn("holds other files than those of a site", done.stderr)
        self.assertEqual([path.name for path in folder.iterdir()], ["letter"])
        again = run([BUILD_SITE, self.folder])
        self.assert_status(again, 0)


if __name__ == "__main__":
    unittest.main()

"""The deb: of dpkg-deb alone, without debhelper."""
import pathlib
import tempfile

import archives
import release as rel

OVERRIDES = """\
# One file that runs on any Linux, in images without a C library too: that is what sml-run is for. lintian takes a
# static-pie for a shared library.
sml-run: shared-library-lacks-prerequisites [usr/bin/sml-run]
sml-run: shared-library-lacks-prerequisites [usr/bin/sml-run-agent]
# A static program has its libraries inside; the SPDX file of each release tells their versions.
sml-run: embedded-library libyaml [usr/bin/sml-run]
sml-run: embedded-library ncurses [usr/bin/sml-run]
sml-run: embedded-library zlib [usr/bin/sml-run]
# This is no upload to Debian.
sml-run: initial-upload-closes-no-bugs *
"""


def copyright_text(release):
    source = release.with_homepage("Source: {}\n")
    head = f"""Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: {rel.NAME}
{source}Comment: The programs are static, and have parts of other projects inside.
 /usr/share/doc/{rel.NAME}/LICENSES tells which, and has the copyright file of each.

Files: *
Copyright: 2026 the sml-run authors
License: Apache-2.0
 On Debian systems, the full text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
"""
    return head.encode()


def control(release, size):
    used = ", ".join(f"{c.source} (= {c.version})" for c in release.components if "LGPL" in c.licence)
    text = "\n".join(" " + line for line in rel.DESCRIPTION.splitlines())
    homepage = release.with_homepage("Homepage: {}\n")
    return f"""Package: {rel.NAME}
Version: {release.version}-1
Architecture: {release.debian_machine}
Maintainer: {release.maintainer}
Installed-Size: {size}
Built-Using: {used}
Recommends: openssh-client
Section: net
Priority: optional
{homepage}Description: {rel.SUMMARY}
{text}
""".encode()


def changelog(release):
    date = release.date.strftime("%a, %d %b %Y %H:%M:%S +0000")
    return archives.gz(f"{rel.NAME} ({release.version}-1) unstable; urgency=medium\n\n  * Version {release.version}.\n\n"
                       f" -- {release.maintainer}  {date}\n".encode(), 9)


def packed(file):
    """As Debian has it: manuals and long texts are compressed; the licence is what `copyright` says."""
    if file.path.startswith("share/man/"):
        return rel.File(f"usr/{file.path}.gz", archives.gz(file.data, 9), file.mode)
    if file.path.endswith("/CHANGES.md"):
        return rel.File(f"usr/share/doc/{rel.NAME}/changelog.gz", archives.gz(file.data, 9), file.mode)
    # where Debian's zsh looks below /usr
    path = file.path.replace("share/zsh/site-functions/", "share/zsh/vendor-completions/")
    return rel.File(f"usr/{path}", file.data, file.mode)


def write(release):
    documents = f"usr/share/doc/{rel.NAME}"
    # Licence texts that Debian has in one place for all.
    spare = (f"share/doc/{rel.NAME}/LICENSE", f"share/doc/{rel.NAME}/LICENSES/LGPL-2.1.txt")
    files = [packed(file) for file in release.all_files() if file.path not in spare]
    files.append(rel.File(f"{documents}/copyright", copyright_text(release), 0o644))
    files.append(rel.File(f"{documents}/changelog.Debian.gz", changelog(release), 0o644))
    files.append(rel.File(f"usr/share/lintian/overrides/{rel.NAME}", OVERRIDES.encode(), 0o644))
    sums = "".join(f"{rel.hashlib.md5(f.data).hexdigest()}  {f.path}\n" for f in sorted(files, key=lambda f: f.path))
    size = sum(-(-len(f.data) // 1024) for f in files)
    files.append(rel.File("DEBIAN/control", control(release, size), 0o644))
    files.append(rel.File("DEBIAN/md5sums", sums.encode(), 0o644))
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder) / "tree"
        release.lay_out(tree, files)
        rel.run(["dpkg-deb", "--root-owner-group", "-Zxz", "-z6", "--build", tree,
                 release.out / f"{rel.NAME}_{release.version}-1_{release.debian_machine}.deb"],
                env={"SOURCE_DATE_EPOCH": str(release.epoch)})

"""The rpm: of rpmbuild, from files that are there."""
import pathlib
import tempfile

import release as rel

SPEC = """\
Name: {name}
Version: {version}
Release: 1
Summary: {summary}
License: Apache-2.0 AND LGPL-2.1-or-later AND BSL-1.0 AND MIT AND BSD-3-Clause AND Zlib
{url}Group: System Environment/Base
AutoReqProv: no

%description
{description}

%install
cp -a {tree}/. %{{buildroot}}/

%files
%defattr(-,root,root)
{files}
"""

# The same bytes on every machine, and nothing of what rpmbuild would do to programs.
DEFINES = {
    "_buildhost": "sml-run", "use_source_date_epoch_as_buildtime": "1", "clamp_mtime_to_source_date_epoch": "1",
    "source_date_epoch_from_changelog": "0", "__os_install_post": "%{nil}", "debug_package": "%{nil}",
    "_build_id_links": "none", "_binary_payload": "w6.xzdio", "_source_filedigest_algorithm": "8",
    "_binary_filedigest_algorithm": "8", "vendor": "%{nil}", "distribution": "%{nil}",
    "_use_internal_dependency_generator": "1",
}


def listed(file):
    if file.path.startswith("share/doc/"):
        return f'%doc "/usr/{file.path}"'
    return f'"/usr/{file.path}"'


def write(release):
    files = [rel.File(f"usr/{f.path}", f.data, f.mode) for f in release.all_files()]
    with tempfile.TemporaryDirectory() as folder:
        top = pathlib.Path(folder)
        release.lay_out(top / "tree", files)
        own = f"%dir /usr/share/doc/{rel.NAME}\n%dir /usr/share/doc/{rel.NAME}/LICENSES\n%dir /usr/share/doc/{rel.NAME}/examples\n" \
              f"%dir /usr/share/doc/{rel.NAME}/kubernetes\n%dir /usr/share/{rel.NAME}\n%dir /usr/share/{rel.NAME}/schemas\n"
        (top / "spec").write_text(SPEC.format(name=rel.NAME, version=release.version, summary=rel.SUMMARY,
                                              url=release.with_homepage("URL: {}\n"), description=rel.DESCRIPTION, tree=top / "tree",
                                              files=own + "\n".join(listed(f) for f in release.all_files())))
        defines = {**DEFINES, "packager": release.maintainer,
                   "_topdir": str(top / "top"), "_rpmdir": str(top / "rpms"), "_tmppath": str(top / "tmp"),
                   "_dbpath": str(top / "db")}
        words = [word for name, value in defines.items() for word in ("--define", f"{name} {value}")]
        rel.run(["rpmbuild", "-bb", "--nodeps", "--target", f"{release.machine}-linux", *words, top / "spec"],
                env={"SOURCE_DATE_EPOCH": str(release.epoch), "HOME": folder}, cwd=folder)
        made, = (top / "rpms").rglob("*.rpm")
        (release.out / f"{rel.NAME}-{release.version}-1.{release.machine}.rpm").write_bytes(made.read_bytes())

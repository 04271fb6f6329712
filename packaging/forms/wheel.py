"""A wheel with the program and the Python package sml_run: `pip install` puts sml-run into the folder of programs."""
import base64
import gzip
import hashlib
import zipfile

import release as rel

DRIVERS = "sml_run/sagemaker/driver"


def record_of(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    return f"{name},sha256={digest},{len(data)}\n"


def metadata(release, licences):
    lines = ["Metadata-Version: 2.1", f"Name: {rel.NAME}", f"Version: {release.version}", f"Summary: {rel.SUMMARY}",
             f"Maintainer-email: {release.maintainer}", "License: Apache-2.0", "Requires-Python: >=3.9"]
    lines += [line for line in [release.with_homepage("Home-page: {}")] if line]
    lines += [f"License-File: {name}" for name in licences]
    lines += ["Provides-Extra: sagemaker", 'Requires-Dist: sagemaker-train>=1.0; extra == "sagemaker"',
              "Provides-Extra: notebook", 'Requires-Dist: cloudpickle; extra == "notebook"']
    lines += ["Classifier: Environment :: Console", "Classifier: Operating System :: POSIX :: Linux",
              "Classifier: License :: OSI Approved :: Apache Software License", "Description-Content-Type: text/plain"]
    return ("\n".join(lines) + "\n\n" + rel.DESCRIPTION + "\n").encode()


def platforms(machine):
    """A static program runs with any C library."""
    return [f"manylinux_2_17_{machine}", f"manylinux2014_{machine}", f"musllinux_1_1_{machine}"]


def package(release):
    """The Python package, and packed programs of other processors for images of SageMaker that have these."""
    top = release.repo / "packaging" / "python"
    files = [(str(path.relative_to(top)), path.read_bytes(), 0o644)
             for path in sorted((top / "sml_run").rglob("*")) if path.suffix == ".py" or path.name == "py.typed"]
    for program in release.others:
        machine = rel.machine_of(program)
        if machine == release.machine:
            raise rel.Refusal(f"--other-program is for {machine}, as the release itself")
        files.append((f"{DRIVERS}/sml-run-{machine}.gz", gzip.compress(program, 6, mtime=0), 0o644))
    return files


def write(release):
    """The agent stays out, as sml-run carries it."""
    stem = f"sml_run-{release.version}"
    tags = platforms(release.machine)
    licences = [(name, data) for name, data in release.notices()]
    licences += [(f.path.rsplit("/", 1)[1], f.data) for f in release.files
                 if f.path in ("share/doc/sml-run/LICENSE", "share/doc/sml-run/LICENSES/LGPL-2.1.txt")]
    licences.sort()
    files = package(release)
    for file in release.files:
        if file.path == "bin/sml-run":
            files.append((f"{stem}.data/scripts/sml-run", file.data, 0o755))
        elif file.path.startswith("share/") and "/doc/" not in file.path and "agent" not in file.path:
            files.append((f"{stem}.data/data/{file.path}", file.data, 0o644))
    info = f"{stem}.dist-info"
    files += [(f"{info}/licenses/{name}", data, 0o644) for name, data in licences]
    files.append((f"{info}/METADATA", metadata(release, [name for name, _ in licences]), 0o644))
    wheel = f"Wheel-Version: 1.0\nGenerator: {rel.NAME}\nRoot-Is-Purelib: false\n"
    files.append((f"{info}/WHEEL", (wheel + "".join(f"Tag: py3-none-{tag}\n" for tag in tags)).encode(), 0o644))
    record = "".join(record_of(name, data) for name, data, _ in files) + f"{info}/RECORD,,\n"
    files.append((f"{info}/RECORD", record.encode(), 0o644))
    with zipfile.ZipFile(release.out / f"{stem}-py3-none-{'.'.join(tags)}.whl", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data, mode in files:
            entry = zipfile.ZipInfo(name, max(release.date.timetuple()[:6], (1980, 1, 1, 0, 0, 0)))
            entry.external_attr = (0o100000 | mode) << 16
            entry.create_system = 3
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)

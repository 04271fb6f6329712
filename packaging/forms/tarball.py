"""The tarball: one folder, laid out as below /usr/local, and the files that people look for first."""
import dataclasses

import archives


def write(release):
    files = [dataclasses.replace(file, path=f"{release.stem}/{file.path}") for file in release.all_files()]
    for name in ("LICENSE", "README.md"):
        files += [dataclasses.replace(file, path=f"{release.stem}/{name}") for file in release.files
                  if file.path == f"share/doc/sml-run/{name}"]
    path = release.out / f"{release.stem}.tar.gz"
    path.write_bytes(archives.gz(archives.tar(files, release.epoch)))

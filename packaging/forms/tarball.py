"""The tarball: one folder, laid out as below /usr/local."""
import dataclasses

import archives


def write(release):
    files = [dataclasses.replace(file, path=f"{release.stem}/{file.path}") for file in release.all_files()]
    path = release.out / f"{release.stem}.tar.gz"
    path.write_bytes(archives.gz(archives.tar(files, release.epoch)))

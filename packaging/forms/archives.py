"""Archives with the same bytes whenever and wherever they are written."""
import gzip
import io
import pathlib
import tarfile


def tar(files, epoch, folders=()):
    """A tar of release.File with all folders on the way, everything root's."""
    seen = set(folders)
    for file in files:
        seen.update(str(parent) for parent in pathlib.PurePosixPath(file.path).parents)
    seen.discard(".")
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        entries = [(path, None) for path in seen] + [(file.path, file) for file in files]
        for path, file in sorted(entries, key=lambda entry: entry[0]):
            info = tarfile.TarInfo(path)
            info.mtime, info.uname, info.gname = epoch, "root", "root"
            if file is None:
                info.type, info.mode = tarfile.DIRTYPE, 0o755
                archive.addfile(info)
            else:
                info.size, info.mode = len(file.data), file.mode
                archive.addfile(info, io.BytesIO(file.data))
    return out.getvalue()


def gz(data, level=6):  # 9 takes twice the time, and saves one byte in a hundred
    """Without name and time."""
    return gzip.compress(data, compresslevel=level, mtime=0)

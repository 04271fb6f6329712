"""Whether another user could have put a file there. The text of this file travels with that of _worker.py."""
import os
import stat


def obstacle(path, system=os):
    """Why the file, or the folder in which names are to be looked up, is not believed; "" if it is.

    The rules are those of common/os/trust.h: every file and folder on the path, links resolved, belongs to root, to this user or
    to the owner of "/", and is closed to all others. In a folder with the sticky bit, entries of these users count.
    """
    try:
        return _obstacle(path, system)
    except OSError as error:
        return f"{error.filename or path}: {error.strerror}"


def _obstacle(path, system):
    top = system.lstat("/")
    trusted = {0, system.geteuid(), top.st_uid}
    names = _names(path) if path.startswith("/") else _names(path) + _names(system.getcwd())
    at, here, links = "", top, 0  # `at` is without links; "" is the root
    while names:
        name = names.pop()
        if not stat.S_ISDIR(here.st_mode):
            return f"{at} is no folder"
        if name == "..":
            at = at.rpartition("/")[0]
            here = system.lstat(at or "/")
            continue
        following = f"{at}/{name}"
        info = system.lstat(following)
        is_link = stat.S_ISLNK(info.st_mode)
        if info.st_uid not in trusted and not is_link:
            return f"{following} belongs to user {info.st_uid}"
        writers = _writers(at or "/", here, system)
        is_kept = here.st_mode & stat.S_ISVTX and info.st_uid in trusted and (stat.S_ISDIR(info.st_mode) or info.st_nlink == 1)
        if writers and not is_kept:
            return f"{at or '/'} can be written by {writers}"
        if not is_link:
            at, here = following, info
            continue
        links += 1
        if links > 40:
            return f"{following}: too many levels of symbolic links"
        target = system.readlink(following)
        names += _names(target)
        if target.startswith("/"):
            at, here = "", top
    writers = _writers(at or "/", here, system)
    return f"{at or '/'} can be written by {writers}" if writers else ""


def _names(path):
    """The last one first."""
    return [name for name in reversed(path.split("/")) if name not in ("", ".")]


def _writers(path, info, system):
    """The others who can write there; "": nobody."""
    by_all = info.st_mode & stat.S_IWOTH
    own_group = info.st_gid == 0 or info.st_gid == system.getegid() == system.geteuid()
    by_group = info.st_mode & stat.S_IWGRP and (not own_group or _has_list(path, system))
    if not by_all and not by_group or system.statvfs(path).f_flag & os.ST_RDONLY:
        return ""
    return "every user of this machine" if by_all else f"others of its group {info.st_gid}"


def _has_list(path, system):
    """Whether it has an ACL. Then its group bits are the most that any listed user or group may have."""
    try:
        return bool(system.getxattr(path, "system.posix_acl_access"))
    except (OSError, AttributeError):  # another Python than CPython
        return False


def place():
    """The same text for two processes that see the same files; "" where that is not known."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            boot = file.read().strip()
        mounts, top = os.stat("/proc/self/ns/mnt"), os.stat("/")
    except OSError:
        return ""
    return f"{boot} {mounts.st_ino} {top.st_dev} {top.st_ino}"

"""An image in the layout of the Open Container Initiative, as one tar: a base for `COPY --from`."""
import hashlib
import json

import archives
import release as rel

MEDIA = "application/vnd.oci.image."


class Layout:
    """The blobs of a layout, by their digests."""

    def __init__(self):
        self.files = []

    def add(self, kind, data):
        digest = hashlib.sha256(data).hexdigest()
        self.files.append(rel.File(f"blobs/sha256/{digest}", data, 0o644))
        return {"mediaType": MEDIA + kind, "digest": f"sha256:{digest}", "size": len(data)}

    def add_json(self, kind, value):
        return self.add(kind, as_json(value))


def as_json(value):
    return (json.dumps(value, indent=1, sort_keys=True) + "\n").encode()


def write(release):
    kept = [f for f in release.all_files() if f.path == "bin/sml-run" or f.path.startswith("share/doc/sml-run/LICENSE")]
    layer = archives.tar([rel.File(f"usr/local/{f.path}", f.data, f.mode) for f in kept], release.epoch)
    labels = {"org.opencontainers.image.title": rel.NAME, "org.opencontainers.image.version": release.version,
              "org.opencontainers.image.description": rel.SUMMARY, "org.opencontainers.image.licenses": "Apache-2.0",
              "org.opencontainers.image.authors": release.maintainer}
    if release.homepage:
        labels["org.opencontainers.image.url"] = release.homepage
    created = release.date.strftime("%Y-%m-%dT%H:%M:%SZ")
    layout = Layout()
    config = layout.add_json("config.v1+json", {
        "created": created, "architecture": release.debian_machine, "os": "linux",
        "config": {"Entrypoint": ["/usr/local/bin/sml-run"], "Labels": labels, "Env": ["PATH=/usr/local/bin:/usr/bin:/bin"]},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
        "history": [{"created": created, "created_by": "packaging/release"}]})
    packed = layout.add("layer.v1.tar+gzip", archives.gz(layer))
    manifest = layout.add_json("manifest.v1+json", {"schemaVersion": 2, "mediaType": MEDIA + "manifest.v1+json",
                                                    "config": config, "layers": [packed], "annotations": labels})
    manifest["platform"] = {"architecture": release.debian_machine, "os": "linux"}
    manifest["annotations"] = {"org.opencontainers.image.ref.name": release.version}
    index = {"schemaVersion": 2, "mediaType": MEDIA + "index.v1+json", "manifests": [manifest]}
    files = layout.files + [rel.File("index.json", as_json(index), 0o644),
                            rel.File("oci-layout", as_json({"imageLayoutVersion": "1.0.0"}), 0o644)]
    (release.out / f"{release.stem}.oci.tar").write_bytes(archives.tar(files, release.epoch))

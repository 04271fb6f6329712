"""What is inside, as SPDX 2.3 in JSON."""
import hashlib
import json
import re
import uuid

import release as rel


def identifier(text):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", text)


def of_ours(release):
    return {"SPDXID": identifier(rel.NAME), "name": rel.NAME, "versionInfo": release.version,
            "supplier": "Organization: the sml-run authors", "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": "NOASSERTION", "licenseDeclared": "Apache-2.0", "copyrightText": "NOASSERTION",
            "primaryPackagePurpose": "APPLICATION"}


def of_component(component):
    purl = f"pkg:deb/debian/{component.source}@{component.version.replace(':', '%3A').replace('+', '%2B')}?arch=source"
    return {"SPDXID": identifier(component.source), "name": component.source, "versionInfo": component.version,
            "supplier": "Organization: Debian", "filesAnalyzed": False,
            "downloadLocation": f"https://snapshot.debian.org/package/{component.source}/{component.version}/",
            "licenseConcluded": "NOASSERTION", "licenseDeclared": component.licence, "copyrightText": "NOASSERTION",
            "comment": "parts of " + ", ".join(component.packages), "primaryPackagePurpose": "LIBRARY",
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}]}


def of_program(file):
    name = file.path.rsplit("/", 1)[1]
    return {"SPDXID": identifier(f"file-{name}"), "fileName": f"./{file.path}", "fileTypes": ["BINARY"],
            "checksums": [{"algorithm": "SHA1", "checksumValue": hashlib.sha1(file.data).hexdigest()},
                          {"algorithm": "SHA256", "checksumValue": hashlib.sha256(file.data).hexdigest()}],
            "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION"}


def person(maintainer):
    """"Name <address>" in SPDX's words."""
    return "Person: " + maintainer.replace("<", "(").replace(">", ")")


def namespace(release, whole):
    """No other document's; who has no page of his own takes SPDX's."""
    if release.homepage:
        return f"{release.homepage.rstrip('/')}/spdx/{release.stem}-{whole}"
    return f"https://spdx.org/spdxdocs/{release.stem}-{uuid.uuid5(uuid.NAMESPACE_OID, whole)}"


def write(release):
    programs = [file for file in release.files if file.path.startswith("bin/")]
    whole = hashlib.sha256(b"".join(file.data for file in programs)).hexdigest()
    ours = of_ours(release)
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", ours["SPDXID"])]
    relations += [(ours["SPDXID"], "CONTAINS", of_program(file)["SPDXID"]) for file in programs]
    relations += [(ours["SPDXID"], "STATIC_LINK", identifier(c.source)) for c in release.components]
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": release.stem,
        "documentNamespace": namespace(release, whole),
        "creationInfo": {"created": release.date.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: packaging/release", person(release.maintainer)]},
        "packages": [ours] + [of_component(c) for c in release.components],
        "files": [of_program(file) for file in programs],
        "relationships": [{"spdxElementId": a, "relationshipType": what, "relatedSpdxElement": b} for a, what, b in relations]}
    (release.out / f"{release.stem}.spdx.json").write_text(json.dumps(document, indent=1) + "\n")

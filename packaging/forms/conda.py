"""A recipe for conda packages (recipe.yaml, as rattler-build and conda-forge take it), which unpacks the tarball."""
import hashlib

import release as rel

RECIPE = """\
package:
  name: {name}
  version: "{version}"

source:
  path: ../{stem}.tar.gz
  sha256: {sha256}

build:
  number: 0
  dynamic_linking:
    binary_relocation: false
  script:
    - mkdir -p "$PREFIX"
    - cp -R bin share "$PREFIX/"

tests:
  - script:
      - sml-run --version
      - sml-run -np 2 true

about:
  summary: {summary}
{homepage}  license: Apache-2.0
  license_file:
    - share/doc/sml-run/LICENSE
    - share/doc/sml-run/LICENSES/
"""


def write(release):
    """After the tarball."""
    tarball = (release.out / f"{release.stem}.tar.gz").read_bytes()
    folder = release.out / "conda"
    folder.mkdir()
    (folder / "recipe.yaml").write_text(RECIPE.format(name=rel.NAME, version=release.version, stem=release.stem,
                                                      sha256=hashlib.sha256(tarball).hexdigest(), summary=rel.SUMMARY,
                                                      homepage=release.with_homepage("  homepage: {}\n")))

"""Write the archive that one deposits with a paper: build/anonpaper-<version>.zip.

    archive.py --profile paper

It holds all that is committed (sources, lock, csv and png, report, licences, CITATION.cff), what
the profile's run left beside it (svg, LaTeX, executed notebooks), a README of its own and
MANIFEST.sha256, which `sha256sum --check` reads. `make verify` runs where it is unpacked. The same
commit and results give the same bytes, as far as zlib is the same.
"""

import argparse
import subprocess
import sys
import zipfile
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import inputs

from anonpaper.files import project_root, sha256, whole_file

ROOT = project_root(Path(__file__).parent)
LEFT_OUT = {".staging", ".failed", ".ipynb_checkpoints"}

README = Path(__file__).parent / "templates" / "ARCHIVE.txt"


class ArchiveError(Exception):
    """Something that is to be deposited is not there."""


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, write the archive and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--profile", default="paper")
    profile = parser.parse_args(arguments).profile
    try:
        names = committed() | made(profile)
    except ArchiveError as error:
        print(f"archive: {error}", file=sys.stderr)
        return 1
    release, folder = version("anonpaper"), f"figures/{profile}/"
    when = datetime.fromtimestamp(int(git("log", "-1", "--format=%ct")), UTC)
    about = {"version": release, "date": when.date(), "commit": git("rev-parse", "--short", "@")}
    readme = README.read_text().format(figures=folder, notebooks=f"{folder}notebooks/", **about)
    files = {name: (ROOT / name).read_bytes() for name in names}
    files["README.txt"] = readme.encode()
    # where there is no git, setuptools-scm takes the version from here
    files["PKG-INFO"] = f"Metadata-Version: 2.1\nName: anonpaper\nVersion: {release}\n".encode()
    target = ROOT / "build" / f"anonpaper-{release}.zip"
    write(target, files, when)
    print(f"archive: {target.relative_to(ROOT)}, {target.stat().st_size / 1e6:.1f} MB")
    return 0


def git(*command: str) -> str:
    """Return what git answers."""
    done = subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise ArchiveError(f"git {' '.join(command)}: {done.stderr.strip()}")
    return done.stdout.strip()


def committed() -> set[str]:
    """Return all committed files, as posix paths; ArchiveError if others are there."""
    if git("status", "--porcelain"):
        raise ArchiveError("there are uncommitted files: commit them, or remove them")
    return set(git("ls-files").splitlines())


def made(profile: str, root: Path = ROOT) -> set[str]:
    """Return all results of a profile; ArchiveError if they are not all there and of one run."""
    results, again = root / "figures" / profile, f"`make PROFILE={profile} clean all` makes all"
    shares = inputs.known_shares(results).values()
    if not shares:
        raise ArchiveError(f"no results in figures/{profile}: run `make PROFILE={profile}`")
    sums = {name: about["sha256"] for share in shares for name, about in share["outputs"].items()}
    executed = [share["notebook"] for share in shares]
    missing = [name for name in (*sums, *executed) if not (results / name).exists()]
    if missing:
        raise ArchiveError(f"figures/{profile} lacks {', '.join(missing[:3])}: {again} of them")
    other = [name for name in sums if sha256((results / name).read_bytes()) != sums[name]]
    if other:
        lot = f"{len(other)} files of figures/{profile}, {other[0]} for one,"
        raise ArchiveError(f"{lot} are of another run than its manifest: {again} of one run")
    files = {
        path for path in results.rglob("*") if path.is_file() and not LEFT_OUT & {*path.parts}
    }
    return {path.relative_to(root).as_posix() for path in files}


def write(target: Path, files: dict[str, bytes], when: datetime) -> None:
    """Write files and their checksums into one folder of a zip archive, dated as given."""
    sums = "".join(f"{sha256(content)}  {name}\n" for name, content in sorted(files.items()))
    target.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(target) as stream, zipfile.ZipFile(stream, "w") as archive:
        for name, content in sorted({**files, "MANIFEST.sha256": sums.encode()}.items()):
            entry = zipfile.ZipInfo(f"{target.stem}/{name}", when.timetuple()[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if content.startswith(b"#!") else 0o644) << 16
            archive.writestr(entry, content)


if __name__ == "__main__":
    sys.exit(main())

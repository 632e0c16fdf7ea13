"""Commands whose reports, or reports and cache, are on a full disk: a real one, in a namespace.

A report is the old one or the whole new one, the exit code is 6, and after room is made the same
command ends as if nothing had been.
"""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

RELGATE = f'"{sys.executable}" -m relgate.eval'
FILLED = 'dd if=/dev/zero of="$1/m/ballast" bs=1k >/dev/null 2>&1 || true'
SHOW = 'for f in $(ls -A "$1/m/out"); do echo "report $f $(sha256sum < "$1/m/out/$f")"; done'


@pytest.fixture
def on_tmpfs(shop):
    """Run shell lines in the shop's folder, `$1`, with a tmpfs of 4 MB at `$1/m`; the output."""
    if shutil.which("unshare") is None:
        pytest.skip("no `unshare`: a full disk cannot be made")
    probe = shop.folder / "probe"
    probe.mkdir()
    mount = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", str(probe)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:  # noqa: S603 - texts of ours
        pytest.skip("`unshare -rm mount` is not permitted here")

    def run(*lines: str, size: str = "4m") -> subprocess.CompletedProcess[str]:
        head = f'mkdir "$1/m" && mount -t tmpfs -o size={size} none "$1/m" && cd "$1"'
        return subprocess.run(  # noqa: S603 - texts of ours
            ["unshare", "-rm", "sh", "-c", "\n".join((head, *lines)), "sh", str(shop.folder)],  # noqa: S607 - wherever the system has it
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            env={"PYTHONPATH": str(shop.folder), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
        )

    return run


def review(shop, *more: str) -> str:
    words = shop.review("--out", "m/out", "--quiet", *more)
    return " ".join([RELGATE, *(f"'{word}'" for word in words)])


def reports(said: str) -> set[str]:
    """Name and hash of each report that `SHOW` named."""
    start = "report "
    return {line.removeprefix(start) for line in said.splitlines() if line.startswith(start)}


def test_on_a_full_disk_each_report_is_the_old_one_or_the_whole_new_one(on_tmpfs, shop):
    first, second = review(shop, "--k", "5"), review(shop, "--k", "10")
    done = on_tmpfs(
        first, SHOW, "echo ==", FILLED, f"{second}; echo code $?", SHOW, "echo ==",
        'rm "$1/m/ballast"', second, SHOW,
    )  # fmt: skip
    old, torn, new = done.stdout.split("==\n")
    assert "code 6" in torn
    assert "the disk is full" in done.stderr
    assert "m/out/" in done.stderr
    assert "bytes are needed" in done.stderr
    assert "Traceback" not in done.stderr
    kept = reports(torn)
    assert kept <= reports(old) | reports(new)
    assert {line.split()[0] for line in kept} == {line.split()[0] for line in reports(old)}


def test_on_a_disk_too_small_from_the_start_there_is_no_report_and_no_litter(on_tmpfs, shop):
    done = on_tmpfs(f"{review(shop)}; echo code $?", SHOW, size="8k")
    assert "code 6" in done.stdout
    assert "the disk is full" in done.stderr
    assert not [name for name in reports(done.stdout) if name.startswith(".")]


@pytest.mark.parametrize("size", ["256k", "1m"])
def test_with_cache_and_list_on_one_full_disk_a_later_run_ends_as_an_undisturbed_one(
    on_tmpfs, shop, read_jsonl, size
):
    fill = (
        f"{RELGATE} fill --run before.jsonl --run after.jsonl --judgments judgments.csv"
        " --judgments-source human --catalogue catalogue.jsonl"
        f" --judge '{shop.judge()}' --out m/out/filled.jsonl --cache m/cache --quiet"
    )
    done = on_tmpfs(
        'dd if=/dev/zero of="$1/m/ballast" bs=1k count=$(($(df -k --output=avail "$1/m" | tail -1)'
        " - 96)) >/dev/null 2>&1",
        f"{fill}; echo code $?", "ls m/out m/cache 2>/dev/null; echo ==",
        'rm "$1/m/ballast"; mount -o remount,size=64m "$1/m"', f"{fill}; echo code $?",
        "cp m/out/filled.jsonl resumed.jsonl; rm -r m/out m/cache", f"{fill}; echo code $?",
        "cp m/out/filled.jsonl undisturbed.jsonl",
        size=size,
    )  # fmt: skip
    torn, later = done.stdout.split("==\n")
    assert "code 6" in torn
    assert "filled.jsonl" not in torn
    assert "the disk is full" in done.stderr
    assert "Traceback" not in done.stderr
    assert [line for line in later.splitlines() if line.startswith("code")] == ["code 0", "code 0"]
    resumed, undisturbed = (
        [(r["query"], r["doc_id"], r["grade"]) for r in read_jsonl(shop.folder / f"{name}.jsonl")]
        for name in ("resumed", "undisturbed")
    )
    assert len(resumed) == shop.new + 10 * shop.n
    assert resumed == undisturbed

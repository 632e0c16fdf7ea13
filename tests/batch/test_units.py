"""Groups of documents on disk: what comes back, and what a crash leaves."""

from __future__ import annotations

from relgate.eval.batch.units import Units
from relgate.judge.types import Candidate

A, B, C = (Candidate(name, f"text of {name}") for name in "abc")


def test_groups_come_back_in_a_new_process_as_they_were(tmp_path):
    units = Units(tmp_path / "groups.jsonl")
    assert units.add("q", [A, B]) == 0
    assert units.add("\ud800 q\n", [C]) == 1
    assert units.get(1) == ("\ud800 q\n", [C])  # before it is on disk, too
    units.seal()
    units.add("later", [A])
    units.seal()
    again = Units(tmp_path / "groups.jsonl")
    assert [again.get(n) for n in again] == [("q", [A, B]), ("\ud800 q\n", [C]), ("later", [A])]
    assert again.place("q", Candidate("another id", B.text)) == (0, 1)
    assert again.place("q", C) is None


def test_what_a_crash_left_half_written_is_cut_off_and_written_over(tmp_path):
    path = tmp_path / "groups.jsonl"
    units = Units(path)
    units.add("q", [A])
    units.add("r", [B])
    units.seal()
    whole = path.read_bytes()
    for end in range(len(whole)):
        path.write_bytes(whole[:end])
        found = Units(path)
        assert len(found) == whole[:end].count(b"\n")
        found.add("s", [C])
        found.seal()
        assert Units(path).get(len(found) - 1) == ("s", [C])


def test_a_query_and_a_text_do_not_run_into_each_other(tmp_path):
    units = Units(tmp_path / "groups.jsonl")
    units.add("ab", [Candidate("1", "c")])
    assert units.place("a", Candidate("1", "bc")) is None

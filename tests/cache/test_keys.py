from __future__ import annotations

import hashlib
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from relgate.cache import grade_key, query_hash, text_hash

SAME = {"version": "esci-v1@00000000", "fingerprint": "f0"}


def test_separators_in_the_parts_cannot_make_two_inputs_one_key():
    """C04."""
    assert grade_key(**SAME, query="tv|stand", text="oak") != grade_key(
        **SAME, query="tv", text="stand|oak"
    )


# few letters and short parts: as many near-collisions as can be; all in NFC
_LETTERS = "a|b\x00\x08"


def _parts(draw: random.Random) -> tuple[str, ...]:
    return tuple("".join(draw.choices(_LETTERS, k=draw.randrange(4))) for _ in range(4))


def _key(parts: tuple[str, ...]) -> str:
    version, fingerprint, query, text = parts
    return grade_key(version=version, fingerprint=fingerprint, query=query, text=text)


@settings(max_examples=100, deadline=None)
@given(st.integers(min_value=0))
def test_ten_thousand_random_pairs_collide_only_when_they_are_equal(seed: int):
    """C04, the property: 100 examples of 100 pairs."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    for _ in range(100):
        a, b = _parts(draw), _parts(draw)
        assert (_key(a) == _key(b)) == (a == b)
        assert _key(a) != _key((a[0] + "a", *a[1:]))
        # the same characters, divided otherwise
        moved = ("".join(a[:2]), "", *a[2:])
        assert (_key(a) == _key(moved)) == (a == moved)


def test_every_part_is_in_the_key():
    base = {"version": "v", "fingerprint": "f", "query": "q", "text": "t"}
    changed = [{**base, name: "other"} for name in base]
    assert len({grade_key(**parts) for parts in [base, *changed]}) == 5


def test_composed_and_decomposed_queries_are_one_and_an_invisible_character_is_another():
    """C12."""
    composed, decomposed, invisible = "caf\u00e9", "cafe\u0301", "caf\u00e9\u200b"
    key = grade_key(**SAME, query=composed, text="x")
    assert key == grade_key(**SAME, query=decomposed, text="x")
    assert key != grade_key(**SAME, query=invisible, text="x")
    assert query_hash(composed) == query_hash(decomposed)


def test_the_text_counts_to_the_letter():
    assert grade_key(**SAME, query="q", text="caf\u00e9") != grade_key(
        **SAME, query="q", text="cafe\u0301"
    )


def test_lone_surrogates_and_nul_have_a_key():
    keys = {grade_key(**SAME, query=q, text=q) for q in ("\ud800", "\udfff", "\0", "")}
    assert len(keys) == 4


def test_the_text_hash_is_plain_sha256_of_its_utf8():
    assert text_hash("oak é") == hashlib.sha256("oak é".encode()).hexdigest()

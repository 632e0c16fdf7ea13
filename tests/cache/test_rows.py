from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relgate.cache.rows import StoredRow, clean_reason, decode_row, encode_row, fits
from relgate.rubrics import load_rubric

KEY = "ab" * 32
ROW = StoredRow(
    version="esci-v1@00000000",
    fingerprint="f0",
    model="m",
    esci="S",
    grade=2,
    reason="close",
    judged_at="2026-01-02T03:04:05+00:00",
    batch_size=10,
    position=3,
    query_hash="0" * 16,
    text_hash="f" * 16,
)


def sealed(body: str) -> str:
    """`body` with a right checksum, made by hand: half of the SHA-256 of key, newline, body."""
    checksum = hashlib.sha256(f"{KEY}\n{body}".encode()).hexdigest()[:32]
    return f'{body},"checksum":"{checksum}"}}'


def test_a_row_comes_back_as_it_went():
    assert decode_row(encode_row(ROW, key=KEY), key=KEY) == ROW


def test_a_row_is_one_json_object_with_its_checksum_last():
    text = encode_row(ROW, key=KEY)
    assert list(json.loads(text))[-1] == "checksum"
    assert "\n" not in text


def test_a_row_cut_anywhere_is_a_miss():
    """C07, for the row."""
    text = encode_row(ROW, key=KEY)
    assert all(decode_row(text[:end], key=KEY) is None for end in range(len(text)))


def test_a_row_with_one_character_changed_anywhere_is_a_miss():
    text = encode_row(ROW, key=KEY)
    for place, char in enumerate(text):
        other = text[:place] + ("x" if char != "x" else "y") + text[place + 1 :]
        assert decode_row(other, key=KEY) is None


def test_a_row_moved_to_another_key_is_a_miss():
    assert decode_row(encode_row(ROW, key=KEY), key="cd" * 32) is None


@pytest.mark.parametrize(
    "change",
    [
        {"format": 5},
        {"grade": -1},
        {"grade": True},
        {"grade": "2"},
        {"grade": 2.0},
        {"esci": ""},
        {"judged_at": "yesterday"},
        {"judged_at": "2026-01-02T03:04:05"},
        {"version": ""},
        {"batch_size": 0},
        {"position": -1},
        {"prompt_tokens": -1},
        {"prompt_tokens": 1.5},
        {"completion_tokens": "9"},
        {"text_hash": "short"},
        {"reason": "x" * 2_001},
        {"probabilities": [0.5, 1.5]},
        {"probabilities": [0.5, "0.5"]},
        {"error": "timeout"},
    ],
)
def test_a_row_that_does_not_validate_is_a_miss_even_with_a_right_checksum(
    change: dict[str, object],
):
    fields = {**json.loads(ROW.model_dump_json()), **change}
    body = json.dumps(fields, separators=(",", ":"))[:-1]
    assert decode_row(sealed(body), key=KEY) is None


def test_the_seal_used_here_is_the_one_that_rows_have():
    body = ROW.model_dump_json()[:-1]
    assert sealed(body) == encode_row(ROW, key=KEY)


@given(st.text())
def test_any_text_at_all_is_a_miss_or_a_row_and_never_an_exception(text: str):
    assert decode_row(text, key=KEY) is None


@given(st.text(alphabet=st.characters(categories=("Cs", "Lu", "Cc"))))
def test_any_reason_can_be_stored_after_cleaning(reason: str):
    row = ROW.model_copy(update={"reason": clean_reason(reason)})
    text = encode_row(row, key=KEY)
    text.encode()
    assert "\0" not in row.reason
    assert decode_row(text, key=KEY) == row


def test_surrogates_and_nul_become_replacement_characters_and_length_has_an_end():
    assert clean_reason("a\0b\ud800c") == "a\ufffdb\ufffdc"
    assert clean_reason("é" * 5_000) == "é" * 2_000


def test_a_grade_and_a_label_fit_only_as_the_rubric_says():
    rubric = load_rubric()
    assert fits(grade=3, label="E", rubric=rubric)
    assert not fits(grade=0, label="E", rubric=rubric)
    assert not fits(grade=3, label="X", rubric=rubric)

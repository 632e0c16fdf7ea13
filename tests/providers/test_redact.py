"""Keys are masked wherever they stand, and ordinary words are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relgate.judge.redact import _SHAPES, MASK, known_secrets, one_line, redact

BODY = "Zx81LqPvTn4dRw7yBc2mKf"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        (f"Incorrect API key provided: sk-{BODY}.", "Incorrect API key provided: ***."),
        (f"sk-proj-{BODY}_a-b", "***"),
        (f"sk-ant-api03-{BODY}", "***"),
        ("provided: sk-abcd********wxyz", "provided: ***"),
        ("provided: abcd*****wxyz", "provided: ***"),
        (f"key AIza{BODY} is dead", "key *** is dead"),
        (f"AQ.Ab8{BODY}", "***"),
        (f"Authorization: Bearer {BODY}", "Authorization: Bearer ***"),
        (f"'authorization': 'bearer {BODY}'", "'authorization': 'bearer ***'"),
        (f"Authorization: Basic {BODY}==", "Authorization: Basic ***"),
        (f"{{'authorization': 'Basic {BODY}'}}", "{'authorization': 'Basic ***'}"),
        (f"https://h/v1/m:go?key={BODY}&alt=json", "https://h/v1/m:go?key=***&alt=json"),
        (f"?alt=json&api_key={BODY}", "?alt=json&api_key=***"),
        (f"?access_token={BODY}#x", "?access_token=***#x"),
        (f"x-api-key: {BODY}", "x-api-key: ***"),
        (f"X-API-KEY={BODY}", "X-API-KEY=***"),
        (f"{{'x-goog-api-key': '{BODY}'}}", "{'x-goog-api-key': '***'}"),
        (f"(b'x-api-key', b'{BODY}')", "(b'x-api-key', b'***')"),
        (f'{{"api_key": "{BODY}"}}', '{"api_key": "***"}'),
        (f"AsyncOpenAI(api_key='{BODY}')", "AsyncOpenAI(api_key='***')"),
        (f"proxy http://me:{BODY}@h:8080/ said no", "proxy http://***@h:8080/ said no"),
    ],
)
def test_the_shapes_of_keys_are_masked(text, masked):
    assert redact(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "task-force risk-averse desk-lamp disk-full",
        "Missing bearer or basic authentication in header",
        "the key is missing; set OPENAI_API_KEY",
        "monkey=banana keyword=shoe",
        "https://h/v1/chat/completions?alt=json",
        "rated ** of *****",
        "an api-key, please",
        "me@example.org wrote",
    ],
)
def test_ordinary_words_stay(text):
    assert redact(text) == text


def test_given_secrets_are_masked_to_the_letter_and_percent_encoded():
    secret = "pass/word+1"  # noqa: S105 - an invented one
    assert redact(f"{secret} pass%2Fword%2B1", [secret]) == "*** ***"


def test_a_secret_within_a_secret_leaves_no_rest():
    assert redact("abcdefgh", ["abcdef", "abcdefgh"]) == MASK


def test_a_secret_under_six_characters_would_mask_words_and_is_passed_over():
    assert redact("the shoe", ["shoe"]) == "the shoe"


# a secret of stars alone would be its own mask
SECRETS = st.text(st.characters(codec="utf-8", exclude_characters="*"), min_size=6, max_size=40)


@given(st.text(), SECRETS, st.text())
def test_no_given_secret_survives(before, secret, after):
    assert secret not in redact(before + secret + after, [secret])


@given(st.text(alphabet="sk-AIza=key?&:Bearer *@/'\"xoapi_ \n0", max_size=80))
def test_masking_twice_is_masking_once(text):
    once = redact(text)
    assert redact(once) == once


def test_a_line_is_masked_before_it_is_cut():
    line = one_line("x" * 290 + f" sk-{BODY}\nmore")
    assert BODY[:4] not in line
    assert len(line) <= 300
    assert "\n" not in line


def test_secrets_of_the_environment_are_told_by_name_and_length():
    environ = {
        "OPENAI_API_KEY": "long-enough-1",
        "hf_token": "long-enough-2",
        "DB_PASSWORD": "long-enough-3",
        "CLIENT_SECRET": "long-enough-3",
        "SHORT_KEY": "seven77",
        "HOME": "/home/somebody",
    }
    assert known_secrets(environ) == ("long-enough-1", "long-enough-2", "long-enough-3")


_PIECES = (
    "sk-", "AIza", "AQ.", "abcdefgh12345678901234", "****", "Bearer", "BEARER ", "Authorization",
    "author\u0130zation", ": ", "Basic", "Ba\u017fic ", "api", "_", "key", "\u212aey", "KEY", "=",
    "'", '"', "token", "access", "https://", "user:pass", "@", "host", " ", "\n", "\u0131",
)  # fmt: skip


@given(st.lists(st.sampled_from(_PIECES), max_size=12).map("".join))
def test_a_shape_that_is_not_looked_for_would_have_found_nothing(text: str):
    every = text
    for _, shape, mask in _SHAPES:
        every = shape.sub(mask, every)
    assert redact(text) == every

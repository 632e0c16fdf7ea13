"""Rubric files."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from relgate.judge.llm import make_llm_judge
from relgate.judge.parse import parse_reply
from relgate.judge.prompt import judge_schema, render_prompt
from relgate.judge.types import Candidate, GenerateReply, GenerateRequest
from relgate.rubrics import (
    ESCI_JUDGE_SYSTEM,
    LabelExample,
    builtin_names,
    load_rubric,
    parse_rubric,
    rubric_files,
)
from relgate.rubrics.errors import InputError

GOOD = (
    '+++\ntag = "t"\nfloor = 1\nlabel_field = "label"\nlabel_noun = "label"\n'
    'candidate_noun = "passages"\n'
    'labels = [{code = "Y", name = "Yes", grade = 1}, {code = "N", name = "No", grade = 0}]\n'
    "+++\nJudge it.\n"
)
EXAMPLE = '{query = "q", text = "t", why = "w"}'
BLANK = '{query = " ", text = "t", why = "w"}'

# The judge document's text, word for word.
ESCI = (
    "You are a strict multilingual e-commerce search relevance judge. Classify each candidate "
    "against the shopper\u2019s query as exactly one of: E (Exact) \u2014 satisfies every explicit "
    "constraint in the query; S (Substitute) \u2014 not exact but a reasonable alternative for the "
    "same need; C (Complement) \u2014 typically bought or worn together with what was asked for; "
    "I (Irrelevant) \u2014 fails the intent or conflicts with an explicit attribute. A candidate "
    "with a conflicting required attribute (wrong base color, wrong gender, over an explicit price "
    "bound) is I, not S."
)


def test_esci_is_the_judge_documents_text_to_the_letter_and_so_is_its_version() -> None:
    assert ESCI_JUDGE_SYSTEM == ESCI
    # sha256sum of that text, taken by coreutils
    assert load_rubric().version == "esci-v1@068b13cf"


def test_the_version_is_the_tag_and_eight_digits_of_the_texts_hash() -> None:
    for name in builtin_names():
        rubric = load_rubric(name)
        digest = hashlib.sha256(rubric.system.encode()).hexdigest()
        assert rubric.version == f"{name}@{digest[:8]}"


def test_one_character_more_is_another_version() -> None:
    rubric = load_rubric()
    assert replace(rubric, system=rubric.system + ".").version != rubric.version


@pytest.mark.parametrize(
    ("name", "grades", "floor"),
    [
        ("esci-v1", {"E": 3, "S": 2, "C": 1, "I": 0}, 2),
        ("graded-v1", {"3": 3, "2": 2, "1": 1, "0": 0}, 2),
        ("binary-v1", {"1": 1, "0": 0}, 1),
    ],
)
def test_the_builtin_rubrics_have_the_fields_grades(
    name: str, grades: dict[str, int], floor: int
) -> None:
    rubric = load_rubric(name)
    assert {label.code: label.grade for label in rubric.labels} == grades
    assert rubric.floor == floor


@pytest.mark.parametrize("name", builtin_names())
def test_no_example_for_people_reaches_the_model(name: str) -> None:
    rubric = load_rubric(name)
    seen: list[GenerateRequest] = []

    def generate(request: GenerateRequest) -> str:
        seen.append(request)
        return ""

    make_llm_judge(generate, rubric=rubric).grade_sync("a query", [Candidate("1", "a text")])
    examples = [x for label in rubric.labels for x in (*label.positive, *label.negative)]
    assert seen
    assert examples
    for request in seen:
        sent = f"{request.system}\n{request.prompt}\n{request.schema}"
        assert not [x for x in examples if x.text in sent or x.why in sent]


@pytest.mark.parametrize("name", builtin_names())
def test_examples_change_neither_version_nor_fingerprint(name: str) -> None:
    rubric = load_rubric(name)
    bare = replace(
        rubric, labels=tuple(replace(x, positive=(), negative=()) for x in rubric.labels)
    )
    assert bare != rubric
    a, b = (make_llm_judge(lambda _: "", rubric=x) for x in (rubric, bare))
    assert (a.version, a.fingerprint) == (b.version, b.fingerprint)


@pytest.mark.parametrize("name", builtin_names())
def test_the_builtin_examples_span_domains_and_two_languages_or_more(name: str) -> None:
    examples = [x for y in load_rubric(name).labels for x in (*y.positive, *y.negative)]
    assert len({x.query for x in examples}) >= len(examples) // 2
    foreign = [x for x in examples if not (x.query + x.text).isascii()]
    assert foreign


@pytest.mark.parametrize(("raw", "grade"), [("3", 3), ('"3"', 3), ('"Highly relevant"', 2)])
def test_a_numeric_label_may_be_answered_as_number_text_or_name(raw: str, grade: int) -> None:
    reply = GenerateReply(f'{{"grades": [{{"id": "1", "grade": {raw}, "reason": "r"}}]}}')
    row = parse_reply(reply, ["1"], load_rubric("graded-v1")).rows[0]
    assert row.label is not None
    assert row.label.grade == grade


def test_a_graded_rubric_asks_for_its_own_labels() -> None:
    rubric = load_rubric("graded-v1")
    assert "Return one relevance grade (3|2|1|0) per" in render_prompt("q", ["a"], rubric)
    row = judge_schema(rubric)["properties"]["grades"]["items"]
    assert row["properties"]["grade"]["enum"] == ["3", "2", "1", "0"]


def test_a_users_own_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "mine.md"
    file.write_text(GOOD.replace("grade = 1}", f"grade = 1, positive = [{EXAMPLE}]}}"), "utf-8")
    rubric = load_rubric(file)
    assert rubric.system == "Judge it."
    assert rubric.max_grade == 1
    assert rubric.labels[0].positive == (LabelExample("q", "t", "w"),)
    assert rubric.labels[1].positive == ()


def test_the_documented_example_file_is_read() -> None:
    import relgate.rubrics.rubric as module  # noqa: PLC0415 - its docstring is the subject

    lines = (module.__doc__ or "").splitlines()
    text = "\n".join(line[4:] for line in lines if line.startswith("    ") or not line)
    second = '[[labels]]\ncode = "0"\nname = "Misses"\ngrade = 0\n+++'
    rubric = parse_rubric(text.strip("\n").replace("[[labels]]\n...\n+++", second))
    assert rubric.tag == "shoes-v1"
    assert rubric.labels[0].negative[0].why == "Misses: no shoe"


def test_line_ends_and_a_byte_order_mark_do_not_change_the_version() -> None:
    text = GOOD.replace("Judge it.", "Judge it.\nStrictly.")
    assert parse_rubric("\ufeff" + text.replace("\n", "\r\n")) == parse_rubric(text)


def test_a_tag_is_found_in_the_projects_rubrics_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rubrics").mkdir()
    (tmp_path / "rubrics" / "t.md").write_text(GOOD, "utf-8")
    monkeypatch.chdir(tmp_path)
    assert load_rubric("t").tag == "t"
    # as a project's settings give it from another folder: beside the settings file
    monkeypatch.chdir("/")
    assert load_rubric(tmp_path / "t").tag == "t"
    assert load_rubric("t", folder=tmp_path / "rubrics").tag == "t"


def test_a_path_is_taken_before_a_tag_and_a_builtin_before_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rubrics").mkdir()
    for file, tag in (("t", "path"), ("rubrics/t.md", "t"), ("esci-v1", "mine")):
        (tmp_path / file).write_text(GOOD.replace('"t"', f'"{tag}"', 1), "utf-8")
    monkeypatch.chdir(tmp_path)
    assert load_rubric("t").tag == "path"
    assert load_rubric("esci-v1").system == ESCI


def test_a_folder_holds_rubrics_and_may_hold_a_readme(tmp_path: Path) -> None:
    for name in ("b.md", "a.md", "README.md", "notes.txt"):
        (tmp_path / name).write_text(GOOD, "utf-8")
    assert [file.name for file in rubric_files(tmp_path)] == ["a.md", "b.md"]
    with pytest.raises(InputError, match="is no folder"):
        rubric_files(tmp_path / "none")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("+++\ntag", "tag", "head"),
        ("floor = 1", "floor = 9", "floor"),
        ("floor = 1", "floor = 1.0", "floor of the head is 1.0; make it a whole number"),
        ("floor = 1", "floor = true", "floor of the head is True"),
        ("floor = 1", "flor = 1", "did you mean 'floor'"),
        ("grade = 1", "grade = 2", "grades are"),
        ("grade = 1", 'grade = "1"', "grade of label 'Y' is '1'; make it a whole number"),
        ("grade = 1", "grade = 1, positiv = []", "did you mean 'positive'"),
        ("grade = 1", 'grade = 1, positive = ["red shoes"]', "misstates 'positive'"),
        ("grade = 1", 'grade = 1, positive = [{query = "q", text = "t"}]', "lacks 'why'"),
        ("grade = 1", f"grade = 1, negative = [{BLANK}]", "is empty"),
        ("grade = 1", f"grade = 1, negative = [{EXAMPLE.replace('why', 'wy')}]", "'why'"),
        ('"Yes"', '"n"', "share"),
        ('"Yes"', '"Yes."', "stops"),
        ('"Yes"', '""', "empty"),
        ('tag = "t"', "", "tag"),
        ('tag = "t"', 'tag = "t@1"', "tag 't@1'"),
        ('tag = "t"', 'tag = "my rubric"', "tag 'my rubric'"),
        ('field = "label"', 'field = "reason"', "label_field 'reason'"),
        ('field = "label"', 'field = "the label"', "label_field 'the label'"),
        ("labels = [", "labels = 3 # [", "misstates 'labels'"),
        ("Judge it.", "", "empty"),
        ("floor = 1", "floor = ", ":3: the head is not TOML"),
    ],
)
def test_a_faulty_file_is_one_line_with_its_place(
    tmp_path: Path, old: str, new: str, says: str
) -> None:
    file = tmp_path / "bad.md"
    assert old in GOOD
    file.write_text(GOOD.replace(old, new, 1), "utf-8")
    with pytest.raises(InputError) as error:
        load_rubric(file)
    assert says in str(error.value)
    assert str(file) in str(error.value)
    assert error.value.mend
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["nope", "no\0pe", "x" * 5000, ".", ""])
def test_an_unknown_name_lists_what_there_is(name: str) -> None:
    with pytest.raises(InputError, match="esci-v1, graded-v1, binary-v1"):
        load_rubric(name)


def test_a_file_in_another_encoding_is_one_line_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "latin.md"
    file.write_bytes(GOOD.replace("Judge it.", "Größe").encode("latin-1"))
    with pytest.raises(InputError, match=r"latin\.md: is not UTF-8 text; save it"):
        load_rubric(file)

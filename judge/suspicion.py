"""Tells a candidate's text that talks to the judge, or looks like the prompt's own syntax. Pure.

A hint and no proof: a flagged text is still graded, but alone, where it can move no neighbour.
Measured on real product texts, fewer than 1 % are flagged (a test holds it there). What it cannot
see: an instruction in a language that it does not know, or one in words that it does not know.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache

from relgate.judge.prompt import MAX_TEXT_CHARS

__all__ = ["SUSPICION_VERSION", "suspicion"]

SUSPICION_VERSION = "suspicion-v1"
"""Changes whenever another set of texts would be flagged."""

# Format characters without a use in a product's text. Left out, because shops use them: the soft
# hyphen, the marks of direction (LRM, RLM), and the joiners where a script or an emoji needs them.
_ZERO_WIDTH = re.compile("[\u200b\u2060-\u2064\ufeff]|(?<=[A-Za-z])[\u200c\u200d](?=[A-Za-z])")
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
_FLAG_EMOJI = re.compile("\U0001f3f4[\U000e0061-\U000e007a]{2,6}\U000e007f")
_TAGS = re.compile("[\U000e0000-\U000e007f]|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2}")

_QUOTES = str.maketrans(
    dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb\u2018\u2019`'", '"') | {"\\": None}
)

_RULES = r"(?:instructions?|rules?|prompts?|guidelines?|directions?|rubric|criteria|messages?)"
_JUDGE = (
    r"(?:ai|llms?|assistant|model|language model|judge|grader|rater|assessor|evaluator|annotator|"
    r"relevance \w+|chat ?bot|chatgpt|gpt)"
)
_GRADE = r"(?:[esci0-3]|exact|substitute|relevant|perfect|(?:highly|perfectly|fully) relevant)"
_END = r"(?=[.,;:!)\"| ]|$)"

# Matched on lower case without accents, one blank between words, one kind of quotes.
_TALK: dict[str, tuple[str, ...]] = {
    "an instruction to ignore others": (
        (
            rf"\b(?:ignore|disregard|forget|override|bypass|skip)\b(?: \w+){{0,3}} "
            rf"(?:previous|prior|above|earlier|preceding|foregoing|system|{_RULES})\b"
        ),
        r"\bnew (?:system )?(?:instructions|prompt)\b",
        r"\bsystem (?:prompt|message|override)\b",
        # German
        (
            r"\b(?:ignorieren?|vergiss|vergessen|missachten?|uberge(?:he|hen))\b(?: \w+){0,4} "
            r"(?:vorherig\w*|vorig\w*|bisherig\w*|obig\w*|fruher\w*|anweisung\w*|regeln|vorgaben)\b"
        ),
        # Spanish, French
        (
            r"\b(?:ignor[ae]|olvid[ae]|omit[ae]|descart[ae])\b(?: \w+){0,4} "
            r"(?:anterior(?:es)?|previ[ao]s|instrucciones|reglas)\b"
        ),
        (
            r"\b(?:ignore[rz]?|oublie[rz]?)\b(?: \w+){0,4} "
            r"(?:precedent\w*|ci-dessus|instructions|consignes|regles)\b"
        ),
    ),
    "words to the judge": (
        rf"\byou are (?:now )?(?:an? |the |my )?(?:\w+ )?{_JUDGE}\b",
        (
            rf"\b(?:note|message|attention|hint|instructions?|dear|hey|hello) "
            rf"(?:(?:to|for) (?:(?:the|all|any) )?)?{_JUDGE}\b"
        ),
        r"\bas an (?:ai|llm|language model)\b",
        r"<\|?/?(?:im_start|im_end|system|assistant|user|inst)\b",
        r"\[/?(?:system|inst|assistant)\]",
        r"(?:^|\| |\. )(?:assistant|user|system(?= ?: ?(?:you|please|new|from))) ?: ",
        # German, Spanish, French
        (
            r"\b(?:du bist|sie sind) (?:jetzt |nun |ab sofort )?(?:ein\w* |der |die |das )?"
            r"(?:\w+ )?(?:ki|assistent\w*|richter\w*|gutachter\w*|bewerter\w*|prufer\w*"
            r"|sprachmodell)\b"
        ),
        (
            r"\beres (?:ahora )?(?:una? |el |la )?(?:\w+ )?"
            r"(?:ia|asistente|juez|evaluador\w*|calificador\w*|modelo de lenguaje)\b"
        ),
        (
            r"\b(?:tu es|vous etes) (?:maintenant |desormais )?(?:une? |le |la )?(?:\w+ )?"
            r"(?:ia|assistante?|juge|evaluat\w+|annotat\w+|modele de langage)\b"
        ),
    ),
    "a request for a grade": (
        (
            r"\b(?:grade|rate|label|mark|score|classify|judge|rank|assign|give) "
            r"(?:this|that|it|these|them|all|every|each|me|any|candidate|item|product|number)\b"
            rf"(?: [\w\"]+){{0,5}}? (?:as |with |an? |= ?)?\"?{_GRADE}\"?{_END}"
            r"(?! (?:stars?|out of|\d))"
        ),
        (
            r"\bgive (?:this|it|the) (?:\w+ ){0,2}(?:highest|best|top|maximum|full) "
            r"(?:grade|label|score|rating|marks)\b"
        ),
        r"\b(?:correct|right|true|final|expected|official) (?:answer|grade|label|class|rating)\b",
        r"\b(?:answer|reply|respond|output)(?: only| just| with){0,2} \"?(?:[esci3]|exact)\"?"
        + _END,
        (
            r"\b(?:this|the) (?:product|item|candidate|document|result|text)s? "
            r"(?:is|are|must be|should be|deserves?)(?: \w+){0,3} "
            r"(?:(?:perfectly|highly|fully) relevant|exact(?:ly)? match\w*|graded|labell?ed|"
            r"the (?:best|top|highest) (?:grade|label|score))\b"
        ),
        (
            r"\b(?:esci|relevance)(?: (?:class|grade|label|score))? ?(?:is|=|:) ?"
            r"\"?(?:[esci0-3]|exact)\b"
        ),
        r"\b(?:highest|top|maximum|best|full) relevance\b",
        r"\brelevant (?:to|for) (?:every|any|all|each|the) (?:shopper |search )?quer(?:y|ies)\b",
        # German, Spanish, French
        (
            r"\b(?:bewerte\w*|benote\w*|markiere\w*|stufe\w*|klassifiziere\w*)(?: \w+){1,6}? "
            rf"(?:mit |als |auf )\"?(?:{_GRADE}|exakt|relevant|note \w)\b"
        ),
        (
            r"\b(?:califi[cq]\w+|clasifi[cq]\w+|evalua\w*|etiquet\w+|puntu\w+|marca)(?: \w+){1,6}? "
            rf"(?:como |con |de )\"?(?:{_GRADE}|exacto|relevante)\b"
        ),
        (
            r"\b(?:note[rz]?|evalue[rz]?|classe[rz]?|attribue[rz]?|marque[rz]?)(?: \w+){1,6}? "
            rf"(?:comme |avec |en |la note |a )\"?(?:{_GRADE}|exacte?|pertinente?)\b"
        ),
    ),
    "JSON like a reply's": (
        r"\"(?:grades?|esci|labels?|relevance|rating|score|reason|verdict)\" ?: ?[\"\[{\d]",
        r"[{,] ?\"id\" ?: ?",
        r"\besci ?[:=] ?\"?[esci]\b",
    ),
    "lines like the prompt's": (
        r"\b(?:shopper|search|user) query ?:",
        r"\bcandidate (?:products?|documents?|passages?|items?) ?:",
        r"\breturn one (?:\w+ ){1,3}\(|\bkeep the original\b|\blist number as\b|\bper candidate\b",
        r"(?:^|[|.] )\d{1,3}\. (?:title|brand|name|product|item|candidate|document|text) ?:",
        r"\b(?:end|begin|start) of (?:the )?(?:candidates?|list|products?|documents?|prompt)\b",
    ),
}


@cache
def _talks() -> dict[str, tuple[re.Pattern[str], ...]]:
    """The patterns by reason; compiled at first use, for whoever imports and never grades.

    Those that begin at a word are one pattern: `re` looks for their common start only once. With
    another among them it would not, and try each one at every place.
    """
    found: dict[str, tuple[re.Pattern[str], ...]] = {}
    for reason, patterns in _TALK.items():
        words = [pattern for pattern in patterns if pattern.startswith(r"\b")]
        others = [pattern for pattern in patterns if not pattern.startswith(r"\b")]
        found[reason] = tuple(
            re.compile(pattern) for pattern in filter(None, ["|".join(words), *others])
        )
    return found


# On the text as it came, whose line breaks the prompt flattens.
_NUMBERED_LINE = re.compile(r"[\r\n\u2028\u2029]\s*\d{1,3}[.)]\s+\S")

_WORD = re.compile(r"\w+")
_FEW = 3  # letters of a word that counts; most words without content are no longer
_MAX_PHRASE_WORDS = 6
# Far beyond real texts: there, 1 in 1,000 repeats a word 5 times and to a quarter of all words, and
# hardly any says a phrase three times running or a word four times running.
_STUFFED_TIMES, _STUFFED_SHARE = 5, 0.25
_PHRASE_RUN, _WORD_RUN = 3, 4
_NO_CONTENT = frozenset(
    re.findall(
        r"\w+",
        """
        the and for with from this that your you are our has have can will not all any its
        der die das und mit fur von ein eine den dem los las con para por del una que
        les des une pour avec dans est title brand price category type colors description
        """,
    )
)


def suspicion(text: str) -> str | None:
    """Why a candidate's text is suspect, in a few words; None for an ordinary text.

    Looked for, in this order: hidden characters (zero-width, direction overrides, tags), then in
    English, German, Spanish and French: instructions, words to the judge, requests for a grade;
    JSON and lines that look like the reply's or the prompt's; a word or phrase repeated far beyond
    what shops do. Only what a prompt would show of `text` is looked at. Never raises.
    """
    start = text[: 8 * MAX_TEXT_CHARS]  # as the prompt cuts it, before and after blanks collapse
    flat = " ".join(start.split())[:MAX_TEXT_CHARS]
    plain = _plain(flat)
    return _hidden(flat) or _talk(plain) or _forged_line(start) or _stuffed(plain)


def _hidden(text: str) -> str | None:
    if text.isascii():
        return None
    if _TAGS.search(_FLAG_EMOJI.sub("", text)):
        return "hidden tag characters"
    if _ZERO_WIDTH.search(text):
        return "zero-width characters"
    if _BIDI.search(text):
        return "direction overrides"
    return None


def _talk(plain: str) -> str | None:
    for reason, patterns in _talks().items():
        if any(pattern.search(plain) for pattern in patterns):
            return reason
    return None


def _forged_line(text: str) -> str | None:
    return "lines like the prompt's" if _NUMBERED_LINE.search(text) else None


def _plain(flat: str) -> str:
    """Lower case, without accents and format characters, one kind of quotes."""
    if not flat.isascii():
        flat = "".join(
            char
            for char in unicodedata.normalize("NFKD", flat)
            if unicodedata.category(char) not in {"Cf", "Mn"}
        )
    return flat.casefold().translate(_QUOTES)


def _stuffed(plain: str) -> str | None:
    words = _WORD.findall(plain)
    content = [word for word in words if _has_content(word)]
    if not content:
        return None
    _, times = Counter(content).most_common(1)[0]
    if times >= _STUFFED_TIMES and times >= _STUFFED_SHARE * len(content):
        return "one word stuffed"
    if times < _PHRASE_RUN:  # a phrase holds such a word, as often as it is said
        return None
    if any(_runs(words, length) for length in range(1, _MAX_PHRASE_WORDS + 1)):
        return "a phrase repeated"
    return None


def _has_content(word: str) -> bool:
    return len(word) >= _FEW and not word.isdigit() and word not in _NO_CONTENT


def _runs(words: list[str], length: int) -> bool:
    """Whether a phrase of so many words, one of them with content, stands too often in a row."""
    needed = length * ((_WORD_RUN if length == 1 else _PHRASE_RUN) - 1)
    same = 0
    for i in range(length, len(words)):
        same = same + 1 if words[i] == words[i - length] else 0
        if same >= needed and any(map(_has_content, words[i - length + 1 : i + 1])):
            return True
    return False

"""The certificate that a calibration leaves behind, and what a gate asks of it. I/O: JSON files.

`certificate_id` is a hash of the content. It finds an edited or damaged file; it is no signature,
and whoever can write the file can compute the id anew. Keep certificates under version control.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, model_validator

from relgate.eval.agreement.calibration import Calibration
from relgate.eval.agreement.policy import Level
from relgate.eval.agreement.words import digits
from relgate.eval.files import write_text_atomic
from relgate.rubrics.errors import InputError, UsageError

__all__ = [
    "VALID_DAYS",
    "Certificate",
    "CertifiedFigure",
    "certificate_files",
    "find_certificate",
    "iso",
    "make_certificate",
    "newest",
    "read_certificate",
    "read_certificates",
    "write_certificate",
]

VALID_DAYS = 90
"""How long a certificate holds: providers change a model under one name."""

_FORMAT = "relgate-certificate/2"
_ID_FIELD = "certificate_id"

Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]


class _Strict(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, str_strip_whitespace=False
    )


class CertifiedFigure(_Strict):
    """A figure with its 95 % interval; null is "undefined"."""

    point: float | None
    low: float | None
    high: float | None


class Certificate(_Strict):
    """What a judge showed, when, on which labels, and until when that counts.

    Attributes:
        format: name and version of this layout.
        judge_version: `<tag>@<hash>` of the rubric.
        fingerprint: the judge's fingerprint; a gate looks a certificate up by it.
        model: the model asked for, or null.
        family: its family, or null.
        parts: hashes of the fingerprint's parts, where the judge shows them.
        label_set_hash: SHA-256 of the labels compared with.
        label_sources: who made them.
        n: compared pairs.
        n_queries: queries among them.
        coverage: share of the asked pairs that got a grade.
        table: (K, K) counts of the compared pairs, rows people, columns judge.
        figures: by the names of `confusion.all_figures`.
        level: what the policy made of it.
        reasons: why.
        policy: name of the policy.
        policy_terms: its bars, by the names of `TrustPolicy`.
        tuning_hash: SHA-256 of the queries declared as tuning, none of them among the labels.
        split_hash: SHA-256 of the split that the labels were taken from, or null.
        floor: least grade that counts as relevant.
        scale: name of the scale.
        seed: of the resampling.
        resamples: draws of the resampling.
        made_at: UTC.
        expires_at: UTC; no longer valid from this moment.
        certificate_id: hex SHA-256 of all the rest.
    """

    format: Literal["relgate-certificate/2"]
    judge_version: Annotated[str, Field(min_length=1)]
    fingerprint: Annotated[str, Field(min_length=1)]
    model: str | None
    family: str | None
    parts: dict[str, str]
    label_set_hash: str
    label_sources: dict[str, Count]
    n: Count
    n_queries: Count
    coverage: Share
    table: tuple[tuple[Count, ...], ...]
    figures: dict[str, CertifiedFigure]
    level: Level
    reasons: tuple[str, ...]
    policy: str
    policy_terms: dict[str, bool | int | float | None]
    tuning_hash: str | None
    split_hash: str | None
    floor: Annotated[int, Field(ge=1)]
    scale: str
    seed: int
    resamples: Count
    made_at: AwareDatetime
    expires_at: AwareDatetime
    certificate_id: str

    @model_validator(mode="after")
    def _id_is_of_content(self) -> Certificate:
        if self.certificate_id != _content_id(self.model_dump(mode="json")):
            raise ValueError("certificate_id does not match the content: the file was changed")
        return self

    @model_validator(mode="after")
    def _table_is_of_its_pairs(self) -> Certificate:
        if any(len(row) != len(self.table) for row in self.table):
            raise ValueError("table is not square")
        if sum(map(sum, self.table)) != self.n:
            raise ValueError(f"table does not hold the {self.n} compared pairs")
        return self


def _content_id(content: dict[str, Any]) -> str:
    rest = {key: value for key, value in content.items() if key != _ID_FIELD}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def make_certificate(
    calibration: Calibration, *, now: datetime, days: int = VALID_DAYS
) -> Certificate:
    """The certificate of a calibration, whatever its level.

    Args:
        calibration: of a judge whose version and fingerprint are known.
        now: the time, with a time zone; kept to the second.
        days: how long it holds.

    Raises:
        UsageError: a calibration that does not say which judge it is of, or days below 1.
    """
    judge = calibration.judge
    if judge.version is None or judge.fingerprint is None:
        raise UsageError(
            "no certificate: the grades do not say which judge version and fingerprint made them"
        )
    if days < 1:
        raise UsageError(f"a certificate of {days} days would never hold")
    made_at = now.astimezone(UTC).replace(microsecond=0)
    content: dict[str, Any] = {
        "format": _FORMAT,
        "judge_version": judge.version,
        "fingerprint": judge.fingerprint,
        "model": judge.model,
        "family": judge.family,
        "parts": dict(sorted(judge.parts.items())),
        "label_set_hash": calibration.label_set_hash,
        "label_sources": dict(sorted(calibration.label_sources.items())),
        "n": calibration.n,
        "n_queries": calibration.n_queries,
        "coverage": digits(calibration.coverage),
        "table": [list(row) for row in calibration.table],
        "figures": {
            name: {
                "point": digits(figure.point),
                "low": digits(figure.low),
                "high": digits(figure.high),
            }
            for name, figure in calibration.figures.items()
        },
        "level": calibration.level.value,
        "reasons": list(calibration.reasons),
        "policy": calibration.policy.name,
        "policy_terms": calibration.policy.terms,
        "tuning_hash": calibration.hygiene.tuning_hash,
        "split_hash": calibration.hygiene.split_hash,
        "floor": calibration.floor,
        "scale": calibration.scale,
        "seed": calibration.seed,
        "resamples": calibration.resamples,
        "made_at": iso(made_at),
        "expires_at": iso(made_at + timedelta(days=days)),
    }
    return Certificate.model_validate({**content, _ID_FIELD: _content_id(content)})


def iso(moment: datetime) -> str:
    """A UTC time as certificates write it."""
    return moment.isoformat().replace("+00:00", "Z")


def write_certificate(certificate: Certificate, path: str | Path) -> None:
    """Writes it whole or not at all, as JSON with sorted keys; folders are made.

    Raises:
        PlatformError: the place cannot be written.
    """
    text = json.dumps(certificate.model_dump(mode="json"), indent=2, sort_keys=True)
    write_text_atomic(path, text + "\n")


def read_certificate(path: str | Path) -> Certificate:
    """The certificate in a file.

    Raises:
        InputError: no such file, not JSON, not a certificate, or changed since it was made.
    """
    return _parsed(_json_of(path), path)


def _json_of(path: str | Path) -> Any:  # noqa: ANN401 - JSON
    try:
        return json.loads(Path(path).read_text("utf-8"))
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror})", path=path, mend="make one: relgate calibrate"
        ) from error
    except (ValueError, RecursionError) as error:
        raise InputError(
            "is no JSON", path=path, mend="make the certificate anew: relgate calibrate"
        ) from error


def _parsed(data: Any, path: str | Path) -> Certificate:  # noqa: ANN401 - JSON
    try:
        return Certificate.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        what = first["msg"].removeprefix("Value error, ")
        raise InputError(
            f"no valid certificate: {place + ': ' if place else ''}{what}",
            path=path,
            mend="make it anew: relgate calibrate",
        ) from error


def certificate_files(place: str | Path) -> list[Path]:
    """The file itself, or a folder's JSON files that say they are certificates, by name."""
    folder = Path(place)
    if not folder.is_dir():
        return [folder] if folder.exists() else []
    return [path for path in sorted(folder.glob("*.json")) if _claims_certificate(_json_of(path))]


def read_certificates(place: str | Path) -> list[Certificate]:
    """The certificates in a file or in a folder's `*.json`; none when it does not exist.

    Other JSON files in the folder are passed over; a certificate that was changed is not.

    Raises:
        InputError: a file that says it is a certificate and is not a valid one.
    """
    return [read_certificate(path) for path in certificate_files(place)]


def newest(certificates: Iterable[Certificate]) -> Certificate | None:
    """The one made last, or None."""
    return max(certificates, key=lambda c: (c.made_at, c.certificate_id), default=None)


def find_certificate(place: str | Path, fingerprint: str) -> Certificate | None:
    """The newest certificate of a judge in a file or a folder, or None.

    Raises:
        InputError: as `read_certificates`.
    """
    return newest(c for c in read_certificates(place) if c.fingerprint == fingerprint)


def _claims_certificate(data: Any) -> bool:  # noqa: ANN401 - JSON
    if not isinstance(data, dict):
        return False
    head = cast("dict[str, Any]", data)
    return _ID_FIELD in head or str(head.get("format")).startswith(_FORMAT.partition("/")[0])

"""A project's settings: `relgate.toml`. I/O.

Flags override the file, the file overrides the defaults. Paths in the file are relative to it.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt, ValidationError

from relgate.eval.debug_settings import SplainerEntry, WebAddress
from relgate.eval.files import read_text, write_text_atomic
from relgate.eval.lists.types import SCALES, Scale, Source
from relgate.eval.metrics.conventions import Conventions
from relgate.eval.review.debug import DebugTools
from relgate.eval.review.settings import ReviewSettings
from relgate.judge.prices import Price, price_of
from relgate.rubrics import builtin_names
from relgate.rubrics.errors import InputError, UsageError

__all__ = [
    "CONFIG_NAME",
    "Project",
    "first_problem",
    "placed",
    "read_project",
    "read_toml",
    "scale_named",
    "write_template",
]

CONFIG_NAME = "relgate.toml"

_PATHS = ("judgments", "catalogue", "queries", "change", "certificates", "cache", "out")


class PriceEntry(BaseModel):
    """US dollars a million tokens of one model."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: Annotated[StrictFloat, Field(ge=0, le=1e6)]
    output: Annotated[StrictFloat, Field(ge=0, le=1e6)]


class Project(BaseModel):
    """What a project says once, so that every command needs not be told.

    Attributes:
        judgments: the judgment list.
        scale: its scale by name; never guessed.
        judgments_source: who made the rows that do not say.
        catalogue: product texts, what the judge sees.
        queries: query texts, head marks, strata, traffic weights.
        change: the change description.
        certificates: folder of calibration certificates.
        cache: folder of paid grades.
        out: folder for reports.
        k: how many results of a query count.
        floor: least grade that counts as relevant.
        gain: of a grade; exp2 is 2^grade - 1, linear the grade.
        no_ideal: queries without a relevant judgment: reported apart, or 0 as in trec_eval.
        judge: its name: baseline, openai:MODEL and so on (docs/judge.md).
        judge_family: its family, where its name does not tell.
        rubric: built-in tag or file.
        batch_size: candidates a call.
        concurrency: calls at once.
        timeout_s: limit of one call.
        judge_api: for `openai:`, which of its two protocols.
        max_output_tokens: limit of a reply; left to the provider when unset.
        requests_per_minute: no limit when unset.
        tokens_per_minute: no limit when unset.
        max_calls: calls of one command, after which it stops resumably.
        max_cost: US dollars of one command, likewise; needs a price.
        panel_shuffles: orders that each pair is judged in; the median counts. 1 is no panel.
        few_shot: graded examples a grade in the prompt, from queries that never calibrate.
        prices: US dollars a million tokens by model name, before the built-in table.
        system_models: every model in the pipeline; [] for none; leave out when unknown.
        ranker_judges: versions of judges that rerank inside the pipeline.
        policy: trust policy by name, or a TOML file.
        tuning: files of labels or queries that shaped the judge; they may not calibrate it.
        engine: what makes the calls of a fill, a refresh or a review: this process, or workers on
            a Ray cluster.
        ray_address: of a cluster that runs already; unset starts one on this machine.
        ray_workers: how many workers; one a CPU when unset.
        fill: which gaps a review fills; open: only what can still change the verdict.
        judge_error: of an open fill, the share of people's grades that stays possible for each
            of the judge's; unset takes the judge's grades as they are.
        fail_on: the mildest verdict that fails.
        splainer: how Splainer reaches the engine, for links in the reports.
        quepid: address of the Quepid case with these queries, likewise.
        budgets: the reviewer's numbers, by the names of `ReviewSettings`.
        stratum_budgets: R14, what the mean of a stratum may drop by, by its name.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    judgments: Path | None = None
    scale: str = "0-3"
    judgments_source: Literal["human", "rule", "import"] | None = None
    catalogue: Path | None = None
    queries: Path | None = None
    change: Path | None = None
    certificates: Path = Path("certificates")
    cache: Path = Path(".relgate/cache")
    out: Path | None = None
    k: StrictInt = 10
    floor: StrictInt = 2
    gain: Literal["exp2", "linear"] = "exp2"
    no_ideal: Literal["apart", "zero"] = "apart"
    judge: str | None = None
    judge_family: str | None = None
    rubric: str = "esci-v1"
    batch_size: Annotated[StrictInt, Field(ge=1, le=100)] = 10
    concurrency: Annotated[StrictInt, Field(ge=1, le=1024)] = 8
    timeout_s: Annotated[StrictFloat, Field(gt=0, le=600)] = 60.0
    judge_api: Literal["chat", "responses"] = "chat"
    max_output_tokens: Annotated[StrictInt, Field(ge=1)] | None = None
    requests_per_minute: Annotated[StrictFloat, Field(gt=0, le=1e7)] | None = None
    tokens_per_minute: Annotated[StrictFloat, Field(gt=0, le=1e10)] | None = None
    max_calls: Annotated[StrictInt, Field(ge=0)] | None = None
    max_cost: Annotated[StrictFloat, Field(ge=0, le=1e7)] | None = None
    panel_shuffles: Annotated[StrictInt, Field(ge=1, le=9)] = 1
    few_shot: Annotated[StrictInt, Field(ge=0, le=10)] = 0
    prices: dict[str, PriceEntry] = Field(default_factory=dict[str, PriceEntry])
    system_models: tuple[str, ...] | None = None
    ranker_judges: tuple[str, ...] = ()
    policy: str = "default"
    tuning: tuple[Path, ...] = ()
    engine: Literal["single", "ray"] = "single"
    ray_address: str | None = None
    ray_workers: Annotated[StrictInt, Field(ge=1, le=1024)] | None = None
    fill: Literal["top-k", "all", "open"] = "top-k"
    judge_error: Annotated[StrictFloat, Field(gt=0, lt=1)] | None = None
    fail_on: Literal["needs-work", "block", "refuse"] = "needs-work"
    splainer: SplainerEntry | None = None
    quepid: WebAddress | None = None
    budgets: dict[str, StrictFloat] = Field(default_factory=dict[str, float])
    stratum_budgets: dict[str, StrictFloat] = Field(default_factory=dict[str, float])

    def conventions(self) -> Conventions:
        """Depth, floor, gain and what becomes of queries without an ideal."""
        return Conventions(k=self.k, floor=self.floor, gain=self.gain, no_ideal=self.no_ideal)

    def review_settings(self) -> ReviewSettings:
        """The reviewer's numbers.

        Raises:
            InputError: a budget that does not exist, or a share where a count belongs.
            UsageError: a budget below 0, or no number.
        """
        known = ReviewSettings.names()
        types = ReviewSettings.__dataclass_fields__
        values: dict[str, Any] = {}
        for name, value in self.budgets.items():
            if name not in known:
                raise InputError(f"there is no budget {name!r}", mend=_nearest(name, known))
            whole = types[name].type == "int"  # the annotation's text: they are postponed
            if whole and not value.is_integer():
                raise InputError(f"budget {name} is {value!r}", mend="give a whole number")
            values[name] = int(value) if whole else value
        return ReviewSettings(**values, stratum_budgets=self.stratum_budgets)

    def debug_tools(self) -> DebugTools:
        """Where a report points to for one query."""
        return DebugTools(None if self.splainer is None else self.splainer.target(), self.quepid)

    def price(self, model: str | None) -> Price | None:
        """What a model costs: the project's own price, else the table's, else None."""
        own = {name: Price(p.input, p.output) for name, p in self.prices.items()}
        return price_of(model, own)

    def list_scale(self) -> Scale:
        """The list's scale."""
        return scale_named(self.scale)

    def source(self) -> Source | None:
        """Who made the rows that do not say."""
        return None if self.judgments_source is None else Source(self.judgments_source)


def scale_named(name: str) -> Scale:
    """A scale by name. Raises UsageError for an unknown one."""
    if name not in SCALES:
        raise UsageError(f"no scale {name!r}; one of: {', '.join(SCALES)}")
    return SCALES[name]


def read_project(path: Path | None, *, folder: Path = Path()) -> Project:
    """The project's settings: of `path`, else of `relgate.toml` in `folder`, else defaults.

    Raises:
        InputError: no such file, not TOML, an unknown key, a value of the wrong kind.
    """
    if path is None:
        path = folder / CONFIG_NAME
        if not path.is_file():
            return Project()
    data = read_toml(path)
    try:
        project = Project.model_validate(data)
    except ValidationError as error:
        raise first_problem(error, Project.model_fields, path) from None
    _check_values(project, path)
    return placed(project, path.parent)


def placed(project: Project, base: Path) -> Project:
    """The settings with their relative paths taken from `base`."""
    moved: dict[str, Path | str | tuple[Path, ...]] = {
        name: base / value for name in _PATHS if (value := getattr(project, name)) is not None
    }
    if project.rubric not in builtin_names():
        moved["rubric"] = str(base / project.rubric)
    if project.policy.endswith(".toml"):
        moved["policy"] = str(base / project.policy)
    moved["tuning"] = tuple(base / path for path in project.tuning)
    return project.model_copy(update=moved)


def _check_values(project: Project, path: Path) -> None:
    """Finds what only the parts can tell, before anything is read, let alone paid for."""
    try:
        project.list_scale()
        project.conventions()
        project.review_settings()
    except InputError as error:
        raise InputError(error.what, path=path, mend=error.mend) from None
    except UsageError as error:
        raise InputError(str(error), path=path, mend="correct that value") from None


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file's values. Raises InputError with the line for what is not TOML."""
    try:
        return tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        place = re.search(r" \(at line (\d+), column \d+\)$", str(error))
        raise InputError(
            f"not TOML: {str(error)[: place.start()] if place else error}",
            path=path,
            line=int(place[1]) if place else None,
            mend="correct that line",
        ) from None


def first_problem(error: ValidationError, known: Iterable[str], path: Path) -> InputError:
    """The first of pydantic's complaints, with the nearest known key for a typo."""
    problem = error.errors()[0]
    name = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        return InputError(f"unknown key {name!r}", path=path, mend=_nearest(name, known))
    what = f"{name}: {problem['msg']} (it is {problem.get('input')!r:.60})"
    return InputError(what, path=path, mend="correct that value")


def _nearest(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, list(known), 1)
    return f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"


_TEMPLATE = """\
# relgate: settings of this project. Flags override them. Paths are relative to this file.

{judgments}# query, doc_id, rating; also TREC qrels, Quepid, _rank_eval
scale = "0-3"                    # {scales}: never guessed from the values
# judgments_source = "human"     # who made rows that do not say: human, rule, import
{catalogue}# product texts: what the judge sees (JSONL, CSV, Parquet)
{queries}# query_id, query, head, critical, stratum, weight
{change}# what is under review: type, intent, description, head_queries

k = 10
floor = 2                        # least grade that counts as relevant
gain = "exp2"                    # 2^grade - 1; or "linear"
no_ideal = "apart"               # queries without a relevant judgment; or "zero", as trec_eval

judge = "baseline"               # or openai:MODEL, gemini:MODEL, compatible:MODEL@URL,
                                 # python:module:function
# judge_family = "openai"        # where the judge's name does not tell
# system_models = []             # every model that writes, rewrites or reranks; [] says: none
# ranker_judges = []             # versions of judges that rerank in the pipeline
# rubric = "esci-v1"             # what the grades mean: a tag, or a file
# batch_size = 10                # candidates a call
# concurrency = 8                # calls at once
# timeout_s = 60.0               # limit of one call
# judge_api = "chat"             # for openai: "chat" or "responses"
# max_output_tokens = 4000       # limit of a reply; left to the provider
# requests_per_minute = 500.0    # no limit when left out
# tokens_per_minute = 200000.0   # no limit when left out
# max_calls = 1000               # of one command; it stops resumably
# max_cost = 5.0                 # US dollars of one command; likewise
# engine = "single"              # or "ray": fill, refresh and review grade on a Ray cluster
# ray_address = "10.0.0.1:6379"  # of one that runs; left out, one is started on this machine
# ray_workers = 4                # one a CPU when left out
# panel_shuffles = 1             # orders that each pair is judged in; the median counts
# few_shot = 0                   # examples a grade in the prompt; their queries never calibrate
# prices = {{ "my-model" = {{ input = 0.4, output = 1.6 }} }}   # US dollars a million tokens
policy = "default"               # what makes a judge trusted; "seed": point F1 on five labels;
                                 # or a file of your own, "policy.toml"
# tuning = ["tuning.csv"]        # labels or queries that shaped the judge: they never calibrate
certificates = "certificates"    # what `relgate calibrate` leaves, and a review looks up
cache = ".relgate/cache"         # grades that were paid for
# out = "report"                 # where a review writes its reports

fill = "top-k"                   # what a review with --judge fills: "top-k", "all", or
                                 # "open": only what can still change the verdict
# judge_error = 0.95             # with "open": the verdict must also stand for the grades that
                                 # the judge may have got wrong, by its certificate
fail_on = "needs-work"           # the mildest verdict that fails: needs-work, block, refuse

# Links in the reports, for each query that lost. {{query}} stands for its text.
# splainer = {{ engine = "solr", url = "http://localhost:8983/solr/shop/select?q={{query}}" }}
#   or for Elasticsearch ("es") and OpenSearch ("os"), with the body of the search:
#   splainer = {{ engine = "es", url = "http://localhost:9200/shop/_search", query = '''
#   {{"query": {{"match": {{"title": "{{query}}"}}}}}}''', fields = "id title" }}
# quepid = "https://quepid.example/case/1"

[budgets]                        # the reviewer's numbers; these are the defaults
{budgets}

[stratum_budgets]                # a drop of a stratum's own, in place of stratum_drop
# billing = 0.005
"""


_EXAMPLES = {
    "judgments": "judgments.csv",
    "catalogue": "catalogue.jsonl",
    "queries": "queries.csv",
    "change": "change.toml",
}
_COMMENTS_AT = 33


def write_template(path: Path, files: Mapping[str, str]) -> None:
    """Writes a commented `relgate.toml`.

    Args:
        path: where; it must not be there.
        files: {setting: file} of `judgments`, `catalogue`, `queries` and `change`, relative to the
            settings; one that is left out stands as a comment with an example.

    Raises:
        UsageError: the file is there already.
    """
    if path.exists():
        raise UsageError(f"{path} is there already; edit it, or remove it first")
    budgets = "\n".join(f"# {name} = {value}" for name, value in ReviewSettings().numbers().items())
    lines = {
        name: f"{name} = {_toml_text(files[name])}"
        if name in files
        else f"# {name} = {_toml_text(example)}"
        for name, example in _EXAMPLES.items()
    }
    named = {name: f"{line} ".ljust(_COMMENTS_AT) for name, line in lines.items()}
    text = _TEMPLATE.format(scales=", ".join(SCALES), budgets=budgets, **named)
    write_text_atomic(path, text)


def _toml_text(value: str) -> str:
    """A TOML basic string: JSON's escapes are TOML's, but for the delete character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")

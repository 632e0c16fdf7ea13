"""One golden set over one engine, combination by combination of its stages. I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from relgate.eval.golden.content import content_hash
from relgate.eval.golden.types import GoldenQuery, GoldenSet
from relgate.eval.harness.config import HarnessConfig, Patch
from relgate.eval.harness.journal import Journal, journal_key
from relgate.eval.harness.local import CallableEngine, named_callable, open_embedded
from relgate.eval.harness.rank_eval import rank_eval_answers
from relgate.eval.harness.replay import ReplaySettings, Stopped, replay
from relgate.eval.harness.types import Answer, Call, Engine
from relgate.eval.harness.web import WebEngine, open_web
from relgate.rubrics.errors import PlatformError, UsageError

__all__ = ["Replayed", "Session", "combinations_of", "open_engine", "slug"]

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Replayed:
    """One combination, replayed.

    Attributes:
        stages: which.
        answers: {query id: answer}; every query of the set.
        resumed: how many came from the journal of a run that was stopped.
    """

    stages: Mapping[str, str]
    answers: Mapping[str, Answer]
    resumed: int

    @property
    def failed(self) -> tuple[Answer, ...]:
        """The searches that failed."""
        return tuple(answer for answer in self.answers.values() if answer.failure is not None)


def combinations_of(
    stages: Mapping[str, Mapping[str, Patch]], chosen: Iterable[str]
) -> list[dict[str, str]]:
    """Every combination of the stages' settings, or those of the settings that are chosen.

    Args:
        stages: {stage: {setting: what it merges in}}.
        chosen: `stage=setting`; a stage that is not named has all its settings.

    Raises:
        UsageError: a stage or setting that is not in the description.
    """
    wanted: dict[str, list[str]] = {}
    for pair in chosen:
        stage, equals, setting = pair.partition("=")
        if not equals or setting not in stages.get(stage, {}):
            known = ", ".join(f"{s}={x}" for s, settings in stages.items() for x in settings)
            raise UsageError(f"no stage {pair!r}; known are {known or 'none'}")
        wanted.setdefault(stage, []).append(setting)
    axes = [[(stage, s) for s in wanted.get(stage, settings)] for stage, settings in stages.items()]
    return [dict(pairs) for pairs in product(*axes)]


def slug(stages: Mapping[str, str]) -> str:
    """A combination as a part of a file name: `rewriter-on_reranker-off`; `all` without stages."""
    words = (f"{stage}-{setting}" for stage, setting in sorted(stages.items()))
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in "_".join(words)) or "all"


def open_engine(config: HarnessConfig, *, bypass: bool) -> Engine:
    """The engine that a description names; nothing is asked yet.

    Raises:
        UsageError: a key that its kind needs is missing.
    """
    engine = config.engine
    patches = {
        (stage, setting): patch
        for stage, settings in config.stages.items()
        for setting, patch in settings.items()
    }
    if engine.kind == "python":
        if not engine.callable:
            raise UsageError('an engine of kind python needs callable = "module:function"')
        return CallableEngine(named_callable(engine.callable))
    if engine.kind == "embedded":
        return open_embedded(engine, patches)
    return open_web(
        engine,
        patches,
        bypass=bypass,
        timeout_s=config.timeout_s,
        concurrency=config.concurrency,
    )


class Session:
    """Replays a golden set, keeping what was answered.

    Args:
        golden: the set.
        config: the engine's description.
        engine: the engine, open.
        out: where the journals lie.
        size: how many documents are asked for.
    """

    def __init__(
        self, golden: GoldenSet, config: HarnessConfig, engine: Engine, out: Path, size: int
    ) -> None:
        self._golden = golden
        self._config = config
        self._engine = engine
        self._out = out
        self._size = size
        self._by_id = {query.id: query for query in golden.queries}

    def run(self, stages: Mapping[str, str], *, fresh: bool, progress: Progress) -> Replayed:
        """One combination over the whole set.

        Args:
            stages: which.
            fresh: ask everything again, whatever a journal holds.
            progress: told of each answer.

        Raises:
            PlatformError: twenty searches in a row failed; what was answered is kept.
        """
        path = self._out / f".journal-{slug(stages)}.jsonl"
        if fresh:
            path.unlink(missing_ok=True)
        journal = Journal(path, self._key(stages))
        resumed = len(journal.answers)
        calls = [self._call(query, stages) for query in self._golden.queries]
        left = [call for call in calls if call.query_id not in journal.answers]
        with journal:
            self._warm_up(left)
            for answer in self._answers(left, len(calls)):
                journal.add(answer)
                progress(len(journal.answers), len(calls))
        return Replayed(stages, journal.answers, resumed)

    def forget(self, stages: Mapping[str, str]) -> None:
        """Deletes the journal of a combination, once its run is written."""
        (self._out / f".journal-{slug(stages)}.jsonl").unlink(missing_ok=True)

    def _answers(self, calls: Sequence[Call], total: int) -> Iterable[Answer]:
        if isinstance(self._engine, WebEngine) and self._config.engine.use == "rank_eval":
            yield from rank_eval_answers(self._engine, calls, self._by_id, self._golden.k)
            return
        settings = ReplaySettings(
            self._config.concurrency,
            self._config.timeout_s,
            self._config.retries,
            self._config.seed,
        )
        answered = total - len(calls)
        try:
            for answer in replay(self._engine, calls, settings):
                answered += answer.failure is None
                yield answer
        except Stopped as stop:
            raise PlatformError(
                f"the engine does not answer ({stop}); {answered} of {total} queries are kept: "
                "run the same command to go on"
            ) from None

    def _warm_up(self, calls: Sequence[Call]) -> None:
        """Searches whose answers are thrown away: the first ones find cold caches."""
        warm = calls[: self._config.warm_up]
        if warm and self._config.engine.use == "search":
            settings = ReplaySettings(self._config.concurrency, self._config.timeout_s, 0)
            try:
                list(replay(self._engine, warm, settings))
            except Stopped:
                return  # the run itself will say so

    def _call(self, query: GoldenQuery, stages: Mapping[str, str]) -> Call:
        return Call(
            query_id=query.id,
            text=query.text,
            size=self._size,
            filters=query.filters or {},
            locale=query.locale,
            surface=query.surface,
            stages=stages,
            seed=self._config.seed,
        )

    def _key(self, stages: Mapping[str, str]) -> str:
        return journal_key(
            {
                "golden": content_hash(self._golden),
                "ids": [j.doc_id for _, j in self._golden.pairs()],
                "engine": self._config.engine.model_dump(mode="json"),
                "patches": {
                    f"{stage}={setting}": self._config.stages[stage][setting].model_dump(
                        mode="json"
                    )
                    for stage, setting in stages.items()
                },
                "size": self._size,
                "seed": self._config.seed,
            }
        )

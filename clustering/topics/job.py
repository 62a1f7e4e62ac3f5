"""Topics of all traffic: embeds a sample of the questions and builds a map of them each week."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import structlog

from clustering.grouping.cluster import Clustering
from clustering.grouping.vectors import Vectors
from clustering.topics.map import gaps, gather, moved_to, topics, with_golden_cases
from clustering.topics.metrics import FAILURES, GAPS, QUESTIONS, TOPICS, WAITING
from clustering.topics.settings import TopicSettings
from ragvigil.inference.outcome import Unavailable
from ragvigil.inference.process import Inference
from ragvigil.model.clock import Clock
from ragvigil.model.identity import identity
from ragvigil.model.text import visible
from ragvigil.model.topic import Topic, TopicMap
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import topics as stored

log = structlog.get_logger()

DAY, WEEK = 86_400, 7 * 86_400
AT_ONCE, A_TURN = 256, 2048
"""Questions embedded between two checks of the CPU share, and in one turn."""
GROWTH = 2
"""In a service's first week a map is built again whenever its questions have grown so far."""
RETRY_SECONDS = 3600.0
"""After a failure a service's map is not tried again before this."""
NANOS = 10**9

Cluster = Callable[[Vectors], Clustering | Unavailable]
Golden = Callable[[], Sequence[str] | None]


class TopicJob:
    """`run` is called by one thread; all state is in the store.

    `cluster` may take minutes. `golden` returns the questions of the golden cases, or None if they
    cannot be read at the moment: coverage then stays as it was.
    """

    def __init__(
        self,
        store: Store,
        inference: Inference,
        settings: TopicSettings,
        cluster: Cluster,
        golden: Golden,
        clock: Clock = time.time,
    ) -> None:
        self._store, self._inference, self._settings = store, inference, settings
        self._cluster, self._golden, self._clock = cluster, golden, clock
        self._is_behind = True
        self._failed: dict[stored.Place, float] = {}
        self._covered: object = None
        self.collected: Mapping[stored.Place, int] = {}
        """Questions of the last week with a vector, by service and environment."""
        self.why = ""
        """Why there are no vectors at the moment, empty if there are."""

    def run(self) -> None:
        """Embeds new questions and builds the maps that are due. Raises StoreError."""
        if not self._settings.questions_per_day:
            self.why = "topics are switched off: [clustering.topics] questions_per_day is 0"
            return
        now = self._clock()
        self._collect(now)
        model = self._inference.embedding_version
        if model:
            self._draw_due(model, now)
            self._cover(model, now)

    def _collect(self, now: float) -> None:
        """Embeds this turn's questions, as far as the share of the CPU allows."""
        model = self._inference.embedding_version
        questions, waiting = self._without_vectors(model, now)
        for start in range(0, len(questions), AT_ONCE):
            several = questions[start : start + AT_ONCE]
            vectors = self._embedded([question.question for question in several])
            if vectors is None:
                break
            if self._inference.embedding_version != model:
                self._is_behind = True
                # Only the first embedding tells the model: now the questions without its vectors
                # can be read.
                self._collect(now)
                return
            self._keep(several, vectors, model, now)
            waiting -= len(several)
        WAITING.set(waiting)
        self._is_behind = waiting > 0

    def _without_vectors(self, model: str, now: float) -> tuple[list[stored.Question], int]:
        """Questions to embed, and how many wait: of a week after a start, else since yesterday."""
        return stored.questions_to_embed(
            self._store,
            since=_midnight(now - (WEEK if self._is_behind else DAY)),
            per_day=self._settings.questions_per_day,
            vector_model=model,
            limit=A_TURN,
        )

    def _embedded(self, questions: Sequence[str]) -> Vectors | None:
        """None if there is no CPU time left, or no model."""
        if not self._inference.has_time():
            return None
        vectors = self._inference.embed(questions)
        self.why = str(vectors) if isinstance(vectors, Unavailable) else ""
        return None if isinstance(vectors, Unavailable) else vectors

    def _keep(
        self, several: Sequence[stored.Question], vectors: Vectors, model: str, now: float
    ) -> None:
        self._store.write(
            stored.question_batch(
                several,
                vectors.tolist(),
                model,
                int(now * NANOS),
                replica=self._store.replica,
                epoch=self._store.epoch,
            )
        )
        QUESTIONS.inc(len(several))

    def _draw_due(self, model: str, now: float) -> None:
        since = _midnight(now - WEEK)
        self.collected = stored.embedded_counts(self._store, since=since, vector_model=model)
        maps = {map_.place: map_ for map_ in stored.newest(self._store)}
        for place, questions in self.collected.items():
            if self._is_due(place, maps.get(place), questions, now):
                self._draw(place, maps.get(place), model, now)

    def _is_due(
        self, place: stored.Place, before: TopicMap | None, questions: int, now: float
    ) -> bool:
        """Weekly; before a week of data is complete, whenever the questions have doubled."""
        if questions < self._settings.least_questions:
            return False
        if now - self._failed.get(place, float("-inf")) < RETRY_SECONDS:
            return False
        if before is None or before.vector_model != self._inference.embedding_version:
            return True
        age = now - before.built_unix_nano / NANOS
        return age >= WEEK or questions >= GROWTH * before.questions

    def _draw(self, place: stored.Place, before: TopicMap | None, model: str, now: float) -> None:
        since = _midnight(now - WEEK)
        questions = gather(
            stored.answered_questions(
                self._store, place, since=day, until=day + DAY, vector_model=model
            )
            for day in range(since, int(now) + 1, DAY)
        )
        known = self._known(before, model)
        # Rated questions are not random: only the sample shapes the topics.
        clustering = self._cluster(questions.vectors[questions.is_sampled])
        if known is None or isinstance(clustering, Unavailable):
            self._failed[place] = now
            reason = clustering.reason if isinstance(clustering, Unavailable) else "no_vectors"
            FAILURES.labels(reason).inc()
            log.warning("no topics could be drawn", service=place[0], reason=str(reason))
            return
        drawn, rest = topics(questions, clustering.labels, known, identity(*place, now))
        topic_map = TopicMap(
            service=place[0],
            environment=place[1],
            built_unix_nano=int(now * NANOS),
            since_unix_nano=since * NANOS,
            vector_model=model,
            topics=drawn,
            rest=rest,
        )
        self._write(topic_map, now)
        log.info(
            "topics drawn",
            service=place[0],
            topics=len(drawn),
            questions=topic_map.questions,
        )

    def _known(self, before: TopicMap | None, model: str) -> Sequence[Topic] | None:
        """The topics of the map before, with centroids of this model; None if it fails to embed."""
        if before is None or before.vector_model == model:
            return before.topics if before else ()
        vectors = self._inference.embed(
            [text for topic in before.topics for text in topic.examples]
        )
        return None if isinstance(vectors, Unavailable) else moved_to(before.topics, vectors)

    def _cover(self, model: str, now: float) -> None:
        """Counts the golden cases of each topic again if cases or maps have changed."""
        maps = [map_ for map_ in stored.newest(self._store) if map_.vector_model == model]
        cases = self._golden()
        state = (cases, [(map_.place, map_.built_unix_nano) for map_ in maps])
        if cases is not None and state != self._covered:
            vectors = self._inference.embed(cases)
            if isinstance(vectors, Unavailable):
                return
            maps = [with_golden_cases(map_, vectors) for map_ in maps]
            for map_ in maps:
                self._write(map_, now)
            self._covered = state
        self._show(maps)

    def _write(self, map_: TopicMap, now: float) -> None:
        store = self._store
        store.write(
            stored.map_batch(map_, int(now * NANOS), replica=store.replica, epoch=store.epoch)
        )

    def _show(self, maps: Sequence[TopicMap]) -> None:
        for map_ in maps:
            place = tuple(map(visible, map_.place))
            TOPICS.labels(*place).set(len(map_.topics))
            GAPS.labels(*place).set(len(gaps(map_, self._settings.gap_share)))


def _midnight(time: float) -> int:
    """The start of a UTC day, in seconds: samples are of whole days."""
    return int(time) // DAY * DAY

"""One run: two workers, a producer and perhaps a person on a database of their own, a fault, rest, and the verdict."""

import json
import random
import shutil
import tempfile
import time
from contextlib import closing
from pathlib import Path

import psycopg

from tests.chaos.harness import checker, complaints, drain, load, person, recovery
from tests.chaos.harness.complaints import tail
from tests.chaos.harness.evidence import collect
from tests.chaos.harness.ledger import EPOCH, EPOCH_VARIABLE, VARIABLE, Ledger
from tests.chaos.harness.nemesis import torment
from tests.chaos.harness.process import Attendant
from tests.chaos.harness.proxy import Proxy
from tests.chaos.harness.report import Report
from tests.chaos.harness.server import ROLE
from tests.chaos.harness.workers import Worker
from tests.waiting import wait_until

OPTIONS = {
    "lease_seconds": 2,
    "renew_seconds": 0.7,
    "rescue_seconds": 0.5,
    "poll_seconds": 0.2,
    "grace_seconds": 5,
    "max_interruptions": 1000,
}
WITNESS = Path(__file__).with_name("witness.sql")
START_SECONDS = 60
REST_SECONDS = 60
"""So long may nothing come to its end before what is left counts as lost: an outage leaves a backlog to work off."""
BURST_SECONDS = 60
"""So long may it take to enqueue a number of jobs at once."""


class Drill:
    """The stage of a run. A fault gets it and does its worst to `workers`, `server` and `proxy`.

    `proxied` puts a proxy between the workers and the server, or what it makes of server and database if it is a
    function; `only_line` leaves it to one of them, by its number. `worker_habits` tells of the nth worker what
    `Worker` takes: `under`, and more `environment`. With `acts_a_second` there is a person. A run that
    `samples_the_pace` ends with a sample of its jobs, to which nothing is done.
    """

    def __init__(self, server, name, *, seed, workers=2, arguments=(), rate=40, mix=None, proxied=False, **more):
        self.server, self.name, self.seed = server, name, seed
        self.dice = random.Random(seed)
        self._rate, self._mix = rate, mix or load.MIX
        self._count, self._proxied = workers, proxied
        self._arguments = ["--processes", "2", "--threads", "2", "--coroutines", "5", *arguments]
        self._proxied_producer, self._only_line = more.pop("proxied_producer", False), more.pop("only_line", None)
        self._worker_habits = more.pop("worker_habits", lambda number: {})
        self._acts_a_second, self._proxied_person = more.pop("acts_a_second", 0), more.pop("proxied_person", False)
        self._mutant, self._tablespace = more.pop("mutant", ""), more.pop("tablespace", None)
        self._options = OPTIONS | more.pop("options", {})
        self._rest_seconds = more.pop("rest_seconds", REST_SECONDS)
        self._samples_the_pace = more.pop("samples_the_pace", False)
        self.lease_seconds = self._options["lease_seconds"]
        self.proxy = self.producer = self.person = None
        self.workers, self._all = [], []
        self.complaints = []
        self.tell = lambda report: print(report.line())

    def __enter__(self):
        """Start everything, and wait until each worker has claimed."""
        self.folder = Path(tempfile.mkdtemp(prefix="django-jobqueue-drill-"))
        self.database = self.server.new_database(self._tablespace)
        try:
            self._open()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, kind, *_):
        if kind is not None:
            for worker in self._all:
                print(f"worker {worker.pid}, exit code {worker.popen.poll()}, processes {worker.family()}:")
                print(tail(worker.log_path, 4000))
        self._close()

    def _open(self):
        with closing(self.server.connect(self.database)) as connection:
            connection.execute(f"SET ROLE {ROLE}")
            connection.execute(WITNESS.read_text())
        self.ledger, self.intents = Ledger(self.folder / "ledger"), Ledger(self.folder / "intents")
        self.acts = Ledger(self.folder / "acts")
        if self._proxied:
            make = self._proxied if callable(self._proxied) else lambda server, database: Proxy(server.port)
            self.proxy = make(self.server, self.database)
        self._began_at = time.time()
        for _ in range(self._count):
            self.start_worker()
        self.start_producer()
        if self._acts_a_second:
            self.start_person()
        self.wait_for_claims(time.time())

    def _close(self):
        for attendant in (self.producer, self.person):
            if attendant is not None:
                attendant.kill()
        for worker in self._all:
            worker.clear()
        if self.proxy is not None:
            self.proxy.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.server.drop_database(self.database)

    def environment(self, name="nobody", *, proxied=False):
        """Return the environment of a process of this run; the witness knows by its name what it writes."""
        return self.server.environment(
            self.database,
            self.proxy.port if proxied and self.proxy else None,
            name,
            **{
                VARIABLE: str(self.ledger.path),
                EPOCH_VARIABLE: repr(EPOCH),
                "STAGE_OPTIONS": json.dumps(self._options),
            },
        )

    def start_worker(self):
        """Start one more worker."""
        number = len(self._all) + 1
        habits = self._worker_habits(number)
        environment = self.environment(f"worker-{number}", proxied=self._only_line in (None, number))
        worker = Worker(
            self._arguments,
            environment=environment | habits.get("environment", {}),
            log_path=self.folder / f"worker-{number}.log",
            under=habits.get("under", ()),
            mutant=self._mutant,
        )
        self.workers.append(worker)
        self._all.append(worker)
        return worker

    def replace(self, worker):
        """Start another worker for one that is gone."""
        self.workers.remove(worker)
        return self.start_worker()

    def start_producer(self):
        """Start the load. It goes to the server directly, unless it is the producer's line that is tormented."""
        words = (self._rate, json.dumps(self._mix))
        self.producer = self._attendant("producer", "load", *words, proxied=self._proxied_producer)

    def start_person(self):
        """Start who cancels, replays and discards."""
        self.person = self._attendant("person", "person", self._acts_a_second, proxied=self._proxied_person)

    def enqueue_at_once(self, first, count):
        """Have a producer enqueue so many jobs, the first with that number, and leave."""
        burst = self._attendant("burst", "load", self._rate, json.dumps(self._mix), first, count)
        if code := burst.wait(BURST_SECONDS):
            self.complaints.append(f"attendant: a burst left with {code}: {tail(burst.log_path)}")

    def _attendant(self, name, module, *words, proxied=False):
        books = {load.VARIABLE: str(self.intents.path), person.VARIABLE: str(self.acts.path)}
        return Attendant(
            module,
            self.seed,
            *words,
            environment=self.environment(name, proxied=proxied) | books,
            log_path=self.folder / f"{name}.log",
        )

    def ask(self, query, parameters=None):
        """Ask the database, past any proxy."""
        with closing(self.server.connect(self.database)) as connection:
            cursor = connection.execute(query, parameters)
            return cursor.fetchall() if cursor.description else []

    def wait_for_claims(self, since):
        """Wait until every worker has claimed a job: none is deaf, none has left."""
        pids = [worker.pid for worker in self.workers]
        query = """
            SELECT count(DISTINCT worker.id) FROM django_jobqueue_worker AS worker
            JOIN chaos_move AS move ON move.worker_id = worker.id AND move.old_status = 'READY'
            WHERE worker.pid = ANY (%s) AND worker.stopped_at IS NULL AND move.at > to_timestamp(%s)
        """

        def all_have_claimed():
            if gone := [worker for worker in self.workers if not worker.is_alive]:
                raise AssertionError(f"a worker left with {gone[0].popen.returncode}: {tail(gone[0].log_path)}")
            try:
                return self.ask(query, [pids, since])[0][0] >= len(pids)
            except psycopg.Error:
                return False

        wait_until(all_have_claimed, seconds=START_SECONDS)

    def claims_again(self, since):
        """Whether every worker has claimed; says so among the complaints if one has not."""
        try:
            self.wait_for_claims(since)
        except AssertionError as error:
            self.complaints.append(f"deaf: a worker claims no more: {error}")
            return False
        return True

    # What a fault asks to know whether it bites

    def refused(self, *words, since):
        """Count the producer's calls since a moment that failed with such a code, or with such words."""
        facts = self.intents.read("rejected", "indeterminate")
        return sum(
            fact["at"] > since and (fact["sqlstate"] in words or any(word in fact["message"] for word in words))
            for fact in facts
        )

    def started(self, *how, since):
        """Count the runs that have begun since a moment, of jobs that do such a thing to their process."""
        return sum(fact["at"] > since and fact.get("how", "") in how for fact in self.ledger.read("start"))

    def done_by_the_person(self):
        """Name what the person has done at least once; a letter to replay takes its time to come."""
        # What is done first: the person goes on between the two readings, and asks before it is done.
        done = [fact["act"] for fact in self.acts.read("done")]
        asked = {fact["act"]: fact["verb"] for fact in self.acts.read("act")}
        return {asked[act] for act in done}

    def sessions(self):
        """List the processes of the server that work for the workers."""
        return [pid for (pid,) in self.ask("SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'worker-%'")]

    def run(self, fault, times, *, allowed=None, budget=None, measure=None, pile=0, **rhythm):
        """Torment, heal, let everything come to rest, stop the workers, and judge.

        `budget` is what the design allows, in seconds; `measure` reads the seconds from the evidence where the
        wounds do not tell them. A `pile` of so many jobs is there when the last fault comes.
        """
        began = time.monotonic()
        wounds = torment(self, fault, times, **rhythm)
        if pile:
            self.enqueue_at_once(drain.PILE, pile)
            wounds += torment(self, fault, 1, between=(0.0, 0.1))
        tormented_seconds = time.monotonic() - began
        if not self.complaints:
            self.claims_again(time.time())
        if self.person is not None:
            wait_until(lambda: self.done_by_the_person() >= person.VERBS.keys(), seconds=START_SECONDS)
        for attendant in (self.producer, self.person):
            if attendant is not None and (code := attendant.stop()):
                self.complaints.append(f"attendant: it left with {code}: {tail(attendant.log_path)}")
        backlog = self._left()
        self._rest()
        if self._samples_the_pace and not self.complaints:
            self.enqueue_at_once(drain.SAMPLE, drain.sample_size(backlog))
            self._rest()
        codes = self._stop_workers()
        with closing(self.server.connect(self.database)) as connection:
            evidence = collect(connection, self.ledger, self.intents, self.acts)
        verdict = checker.judge(evidence, allowed or checker.Allowed())
        self.complaints += complaints.of_floods(self._all, evidence, time.time() - self._began_at)
        claims = recovery.claims_of(evidence)
        seconds = measure(evidence) if measure else recovery.recoveries(evidence, wounds, claims)
        self.complaints += complaints.of_harmless_faults(wounds, evidence, self._rate * tormented_seconds)
        drained = drain.measure(evidence, wounds[-1].healed_at, self.lease_seconds)
        self.complaints += complaints.of_slowness(seconds, budget, drained)
        report = Report(
            self.name, self.seed, wounds, evidence, verdict, seconds, codes, self.complaints, budget, drained
        )
        self.tell(report)
        return report

    def _left(self):
        query = "SELECT count(*) FROM django_jobqueue_job WHERE status IN ('WAITING', 'READY', 'RUNNING')"
        return self.ask(query)[0][0]

    def _rest(self):
        least, deadline = float("inf"), time.monotonic() + self._rest_seconds
        while (left := self._left()) and time.monotonic() < deadline:
            if left < least:
                least, deadline = left, time.monotonic() + self._rest_seconds
            time.sleep(0.1)

    def _stop_workers(self):
        codes = []
        for worker in self.workers:
            if not worker.is_alive:
                self.complaints.append(
                    f"left: a worker left by itself with {worker.popen.returncode}: {tail(worker.log_path)}"
                )
            codes.append(worker.end())
            if codes[-1]:
                self.complaints.append(f"left: a worker left with {codes[-1]}: {tail(worker.log_path)}")
        return codes

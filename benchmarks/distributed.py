"""The landmark strategy on a local Dask cluster of two workers: CPU, traffic and memory.

python benchmarks/distributed.py cpu                      # 1,000,000 and 4,000,000 rows against one process; on paper
python benchmarks/distributed.py cpu --samples 100000
python benchmarks/distributed.py traffic                  # bytes between processes in a round, at three sizes
python benchmarks/distributed.py memory                   # peak memory of the client and a worker, by partition
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass, field, replace
from itertools import pairwise
from pathlib import Path

HERE = Path(__file__).parent
sys.path.sort(key=lambda path: Path(path).resolve() == HERE)  # last: this file must not hide Dask's own `distributed`

import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
from distributed import Client  # noqa: E402
from distributed.comm.tcp import TCP  # noqa: E402

from common import in_child, print_table  # noqa: E402
from manyview import METHODS, adjusted_rand_index  # noqa: E402
from manyview.distributed import connect  # noqa: E402
from manyview.distributed.tables import PART_ENTRIES, file_rows  # noqa: E402
from manyview.experiments.worker import resident_mb  # noqa: E402
from manyview.io.row_tables import open_row_tables  # noqa: E402
from manyview.methods.landmarks.blocks import LocalRows  # noqa: E402
from manyview.methods.landmarks.fitting import Stages  # noqa: E402

N_WORKERS, N_VIEWS, N_FEATURES, N_CLUSTERS = 2, 2, 64, 20
SEPARATION = 10 / np.sqrt(2 * N_FEATURES)  # so that the centres of clusters are 10 apart
ROW_GROUP = 25_000
MOVED = {"bytes": 0}  # that this process has sent to others


# Data ------------------------------------------------------------------------------------------------


def write_views(folder: Path, n_samples: int) -> list[str]:
    """Write views of Gaussian clusters as Parquet files, a row group at a time, and the labels."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, N_CLUSTERS, n_samples)
    names = [f"f{i}" for i in range(N_FEATURES)]
    schema = pa.schema([(name, pa.float32()) for name in names])
    paths = [str(folder / f"view_{v}.parquet") for v in range(N_VIEWS)]
    for path in paths:
        centres = rng.standard_normal((N_CLUSTERS, N_FEATURES)).astype(np.float32) * SEPARATION
        with pq.ParquetWriter(path, schema) as writer:
            for start in range(0, n_samples, ROW_GROUP):
                rows = centres[labels[start : start + ROW_GROUP]]
                rows = rows + rng.standard_normal(rows.shape, dtype=np.float32)
                writer.write_table(pa.table(list(rows.T), schema=schema))
    return paths


# Measuring -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spent:
    """CPU seconds of this process and of the workers, bytes that all of them have sent, and seconds that went by."""

    own: float
    workers: float
    moved: float
    wall: float

    def __sub__(self, other: Spent) -> Spent:
        return Spent(*(a - b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def __mul__(self, factor: float) -> Spent:
        return Spent(*(factor * a for a in astuple(self)))

    def net(self, idle: Spent) -> Spent:
        """Without what the same processes spend in that time when there is nothing to do: watching, heartbeats."""
        return replace(self - idle * self.wall, wall=self.wall)

    @property
    def cpu(self) -> float:
        return self.own + self.workers


def count_moved() -> None:
    """Count in this process what it sends by TCP: data, models, tasks and messages alike."""
    write = TCP.write

    async def counted(self: TCP, *args: object, **kwargs: object) -> int:
        sent = await write(self, *args, **kwargs)
        MOVED["bytes"] += sent
        return sent

    TCP.write = counted


def spent_here() -> Spent:
    return Spent(time.process_time(), 0.0, MOVED["bytes"], time.perf_counter())


def spent_by(client: Client) -> Spent:
    """What this process, with the scheduler in it, and all workers have spent."""
    workers, own = client.run(spent_here).values(), spent_here()
    moved = own.moved + sum(one.moved for one in workers)
    return Spent(own.own, sum(one.own for one in workers), moved, own.wall)


def spent_idle(client: Client, seconds: float = 10.0) -> Spent:
    """What a cluster that has nothing to do spends in a second."""
    before = spent_by(client)
    time.sleep(seconds)
    return (spent_by(client) - before) * (1 / seconds)


@dataclass
class Meter(Stages):
    """Takes note of what was spent at the end of each stage and of each round."""

    spent: Callable[[], Spent]
    marks: list[Spent] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.marks.append(self.spent())

    def once(self, stage, compute):  # noqa: ARG002
        result = compute()
        self.marks.append(self.spent())
        return result

    def keep(self, stage: str, result: object) -> None:  # noqa: ARG002
        self.marks.append(self.spent())


@dataclass(frozen=True)
class Costs:
    """What a fit has spent in total, and its stages but for idling.

    Links are what the first round takes longer than the others.
    """

    n_samples: int
    n_parts: int
    total: Spent
    idling: float
    survey: Spent
    landmarks: Spent
    link: Spent
    round: Spent
    n_rounds: int
    peak_mb: float
    worker_mb: float
    labels: np.ndarray

    @classmethod
    def of(cls, meter: Meter, labels: np.ndarray, idle: Spent, n_parts: int = 1, worker_mb: float = np.nan) -> Costs:
        start, survey, landmarks, _, *rounds, end = meter.marks
        later = [astuple((after - before).net(idle)) for before, after in pairwise(rounds)]
        usual = Spent(*np.median(later, axis=0).tolist())
        return cls(
            n_samples=len(labels),
            n_parts=n_parts,
            total=end,
            idling=idle.cpu * (end - start).wall,
            survey=(survey - start).net(idle),
            landmarks=(landmarks - survey).net(idle),
            link=(rounds[0] - landmarks).net(idle) - usual,
            round=usual,
            n_rounds=len(rounds),
            peak_mb=resident_mb("VmHWM"),
            worker_mb=worker_mb,
            labels=labels,
        )


def fit_alone(paths: Sequence[str], key: str, n_landmarks: int) -> Costs:
    """Fit in this process; the total counts its start as well."""
    tables = open_row_tables(paths)
    meter = Meter(spent_here)
    model = METHODS[key](N_CLUSTERS, strategy="landmarks", n_landmarks=n_landmarks)
    labels = model._fit_rows(LocalRows(tables), meter).labels_
    meter.marks.append(spent_here())
    return Costs.of(meter, labels, idle=Spent(0, 0, 0, 0))


def fit_on_workers(paths: Sequence[str], key: str, n_landmarks: int, part_rows: int | None = None) -> Costs:
    """Fit on two workers; the total counts the start of all processes as well. Labels are fetched at the end."""
    count_moved()
    tables = open_row_tables(paths)
    with connect("local", n_workers=N_WORKERS) as client:
        client.run(count_moved)
        idle = spent_idle(client)
        rows = file_rows(tables, client, part_rows)
        meter = Meter(lambda: spent_by(client))
        model = METHODS[key](N_CLUSTERS, strategy="landmarks", n_landmarks=n_landmarks)
        model._fit_rows(rows, meter)
        meter.marks.append(spent_by(client))
        worker_mb = max(client.run(resident_mb, "VmHWM").values())
        return Costs.of(meter, model.labels_.compute(), idle, len(rows.parts), worker_mb)


# Tables ----------------------------------------------------------------------------------------------


def cpu(sizes: Sequence[int], key: str, n_landmarks: int) -> None:
    """Both ways to fit the same files, and what follows for more rows and workers."""
    print(f"## {METHODS[key].__name__}, {N_VIEWS} views of {N_FEATURES}, {n_landmarks} landmarks: CPU seconds\n")
    found: list[Costs] = []

    def rows() -> Iterator[list[object]]:
        for n in sizes:
            with tempfile.TemporaryDirectory() as folder:
                paths = write_views(Path(folder), n)
                with ThreadPoolExecutor(2) as pool:  # at the same time: what else the machine does slows down both
                    ways = fit_alone, fit_on_workers
                    alone, both = pool.map(lambda fit: in_child(fit, paths, key, n_landmarks), ways)  # noqa: B023
            found.append(both)
            same = adjusted_rand_index(alone.labels, both.labels)
            seconds = [alone.total.cpu, both.total.cpu, both.idling]
            yield [n, *seconds, both.total.cpu / alone.total.cpu, (both.total.cpu - both.idling) / alone.total.cpu,
                   f"{same:.4f}", both.n_parts, alone.peak_mb, both.peak_mb, both.worker_mb]  # fmt: skip

    print_table(["rows", "one process", "client and workers", "of that idling", "ratio", "without idling",
                 "ARI of the two", "partitions", "MB of one process", "MB of the client", "MB of a worker"],
                rows())  # fmt: skip
    print("\n## What it consists of\n")
    print_table(COST_COLUMNS, [cost_row(costs) for costs in found])
    print("\n## On paper\n")
    print_table(PAPER_COLUMNS, [on_paper(found[-1], n, w) for n in (10**8, 10**9) for w in (10, 100)])


COST_COLUMNS = ["rows", "survey, µs a row", "drawing, µs a row", "linking, µs a row", "a round, µs a row", "rounds",
                "fit of the landmarks, s", "client in a pass, ms a partition", "client in a round, ms",
                "kB sent in a round"]  # fmt: skip


def cost_row(costs: Costs) -> list[object]:
    each = 1e6 / costs.n_samples
    return [costs.n_samples, costs.survey.workers * each, costs.landmarks.workers * each, costs.link.workers * each,
            costs.round.workers * each, costs.n_rounds, costs.landmarks.own, 1e3 * costs.survey.own / costs.n_parts,
            1e3 * costs.round.own, costs.round.moved / 1e3]  # fmt: skip


PAPER_COLUMNS = ["rows", "workers", "partitions", "minutes", "of that the client alone", "GB of links on a worker",
                 "MB sent in a round"]  # fmt: skip
LINK_BYTES = 8 * 10  # of a sample in a layer: ten landmarks and their weights
PART_BYTES = 455  # that a partition adds to a round, as `traffic` shows
PASSES = 4  # over all partitions: survey, drawing, links, labels


def on_paper(costs: Costs, n_samples: int, n_workers: int) -> list[object]:
    """Time and traffic on workers of one core each.

    From the costs per row, of the client per partition and pass, and of a round per worker.
    """
    n_parts = -(-n_samples * N_VIEWS * N_FEATURES // PART_ENTRIES)
    more_workers = n_workers / N_WORKERS
    by_rows = costs.survey.workers + costs.landmarks.workers + costs.link.workers + costs.round.workers * costs.n_rounds
    tasks = PASSES * n_parts * costs.survey.own / costs.n_parts + costs.n_rounds * costs.round.own * more_workers
    alone = costs.landmarks.own + tasks
    minutes = (by_rows * n_samples / costs.n_samples / n_workers + alone) / 60
    links = n_samples * LINK_BYTES * (N_VIEWS + 1) / n_workers / 1e9
    moved = costs.round.moved * more_workers + PART_BYTES * n_parts
    return [n_samples, n_workers, n_parts, minutes, alone / 60, links, moved / 1e6]


def traffic(sizes: Sequence[int], key: str, n_landmarks: int) -> None:
    """Bytes of a round, with as many partitions at all sizes, and with partitions of the same size."""
    print(f"## {METHODS[key].__name__}, {n_landmarks} landmarks: bytes that all processes sent in a round\n")

    def rows() -> Iterator[list[object]]:
        for n in sizes:
            with tempfile.TemporaryDirectory() as folder:
                paths = write_views(Path(folder), n)
                for part_rows in sorted({n // 8, sizes[0] // 8}):
                    costs = in_child(fit_on_workers, paths, key, n_landmarks, part_rows)
                    yield [n, costs.n_parts, int(costs.round.moved), int(costs.link.moved), costs.n_rounds]

    print_table(["rows", "partitions", "bytes of a round", "bytes of linking", "rounds"], rows())


def memory(n_samples: int, key: str, n_landmarks: int) -> None:
    """Each size in processes of their own."""
    print(f"## {METHODS[key].__name__}, {n_samples} rows, {n_landmarks} landmarks: peak memory\n")
    with tempfile.TemporaryDirectory() as folder:
        paths = write_views(Path(folder), n_samples)
        sizes = [ROW_GROUP, 2 * ROW_GROUP, 4 * ROW_GROUP]
        fits = ((rows, in_child(fit_on_workers, paths, key, n_landmarks, rows)) for rows in sizes)
        width = N_VIEWS * N_FEATURES * 4 / 1e6
        print_table(
            ["rows of a partition", "MB of a partition", "partitions", "MB of the client", "MB of a worker"],
            ([rows, rows * width, costs.n_parts, costs.peak_mb, costs.worker_mb] for rows, costs in fits),
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["cpu", "traffic", "memory"])
    parser.add_argument("--samples", nargs="+", type=int)
    parser.add_argument("--landmarks", type=int, default=2000)
    parser.add_argument("--method", default="ocbr", choices=["mfmsc", "ocbr"])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.what == "cpu":
        cpu(options.samples or [1_000_000, 4_000_000], options.method, options.landmarks)
    elif options.what == "traffic":
        traffic(options.samples or [20_000, 40_000, 80_000], options.method, options.landmarks)
    else:
        memory((options.samples or [200_000])[0], options.method, options.landmarks)


if __name__ == "__main__":
    main()

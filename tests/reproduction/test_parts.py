"""The parts of the paper: their specs and their selection."""

import pytest

from helpers.tiny_experiment import do_task
from manyview import InputError
from manyview.experiments.runner import check_sources
from manyview.experiments.spec import hashed_seed
from manyview.reproduction.parts import CHECKS, PARTS, read_part, select_parts


def test_seeds_never_change():
    assert hashed_seed({"dataset": ["digits", {}, {}], "corruption": ["none", {}], "repeat": 0}) == 288851407
    first = next(read_part("table-acc").runs())
    assert first.seed == next(read_part("table-nmi").runs()).seed


def test_tables_of_the_paper_share_their_runs():
    acc, nmi, ratio = (
        {run.id for run in read_part(part).runs()} for part in ("table-acc", "table-nmi", "table-consensus")
    )
    assert acc == nmi
    assert ratio < acc


def test_every_part_of_the_paper_can_be_read():
    for part in PARTS:
        experiment = read_part(part)
        check_sources(experiment)
        if part in CHECKS:
            continue
        assert [dataset.name for dataset in experiment.datasets] == ["digits", "awa", "nus"]
    printed = read_part("table-acc").printed
    assert printed.value("acc", "awa", "corrupted", "ocbr") == pytest.approx(0.4455)
    assert printed.value("acc", "awa", "clean", "ocbr") is None
    assert printed.value("acc", "digits", "clean", "mfmsc") == pytest.approx(0.4381)


def test_the_registered_systems_run_unless_others_are_named():
    names = select_parts("table-acc", [], [], None)["table-acc"].method_names
    assert set(names) == {"mfmsc", "maasc", "ccamsc", "cotraining", "rlrr", "lrrgl", "paper-ocbr", "ocbr"}
    named = select_parts("all", ["digits"], ["paper-ocbr-printed"], 2)
    assert list(named) == ["table-acc", "table-nmi"]
    with pytest.raises(InputError, match="Unknown method 'ocbrr' in all"):
        select_parts("all", [], ["ocbrr"], None)
    with pytest.raises(InputError, match="Unknown data set 'mnist' in all"):
        select_parts("all", ["mnist"], [], None)


def test_the_check_of_the_baselines_runs_with_all_its_variants_on_digits_only():
    (check,) = select_parts("table-baselines", ["digits", "awa"], [], 10).values()
    assert len(check.methods) == 7
    assert check.repeats == 3
    awa = select_parts("all", ["awa"], [], None)
    assert "table-baselines" not in awa
    assert [d.subset["classes"] for d in awa["table-classes"].datasets] == [10, 15, 20, 30, 50]


def test_missing_data_make_a_skipped_row(spec_folder, monkeypatch):
    monkeypatch.setenv("MANYVIEW_DATA", str(spec_folder))
    run = next(read_part("table-acc").select(["nus"]).runs())
    row = do_task(run, spec_folder)
    assert row["status"] == "skipped"
    assert "NUS-WIDE-OBJECT.zip" in row["error"]

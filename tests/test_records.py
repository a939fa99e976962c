"""Dataclasses register themselves for saving, each under a name of its own."""

from dataclasses import dataclass

import pytest

from manyview.records import SAVED, saved


@pytest.fixture(autouse=True)
def own_registry(monkeypatch):
    monkeypatch.setattr("manyview.records.SAVED", dict(SAVED))


def test_a_dataclass_registers_itself():
    @saved
    @dataclass(frozen=True)
    class Fresh:
        size: int

    from manyview.records import SAVED

    assert SAVED["Fresh"] is Fresh


def test_a_name_stands_for_one_class():
    with pytest.raises(TypeError, match=r"Scaler is saved by manyview\.preprocessing\.scaling already"):

        @saved
        @dataclass
        class Scaler:
            size: int


def test_other_classes_are_refused():
    with pytest.raises(TypeError, match="Plain is not a dataclass"):

        @saved
        class Plain:
            pass

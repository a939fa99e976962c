"""Fixtures for files."""

import sys

import pytest


@pytest.fixture
def write(tmp_path):
    """Write a text file, and give its path."""

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    return write


@pytest.fixture
def in_this_process(monkeypatch):
    """Start no process to read a file, to try many of them; `test_isolated` is about those processes."""
    monkeypatch.setattr(sys, "executable", "")

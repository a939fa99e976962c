"""Fixtures for files."""

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

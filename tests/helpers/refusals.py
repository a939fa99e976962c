"""How files are refused."""

import pytest

from manyview import InputError
from manyview.io import read_views


def refused(path, **kwargs):
    """Return the message with which a file is refused: of one line, and with the file's name."""
    with pytest.raises(InputError) as error:
        read_views([path], **kwargs)
    message = str(error.value)
    assert len(message.splitlines()) == 1
    assert str(path).split("::")[0] in message
    return message

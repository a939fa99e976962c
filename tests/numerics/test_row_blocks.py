import numpy as np
import pytest

from manyview.numerics.row_blocks import row_blocks


@pytest.mark.parametrize(("n", "d", "most"), [(10, 3, 9), (10, 3, 1000), (7, 0, 3), (5, 100, 10), (0, 4, 8)])
def test_blocks_cover_all_rows_once_and_are_small(n, d, most):
    blocks = row_blocks(n, d, most)
    rows = np.arange(n)
    assert np.array_equal(np.concatenate([rows[:0], *(rows[block] for block in blocks)]), rows)
    assert all(0 < block.stop - block.start <= max(1, most // max(d, 1)) for block in blocks)

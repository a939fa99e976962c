"""Random sparse tables. scipy's own function calls its seed differently in the versions that are supported."""

import scipy.sparse as sp


def random_table(rng, shape, density):
    """Return values between 0 and 1, at random places."""
    return sp.csr_array(rng.random(shape) * (rng.random(shape) < density))

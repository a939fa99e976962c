"""Kernels timed by asv, from one revision to the next: `asv run` in the folder above, then `asv publish`."""

"""What the workers of a cluster do; for tests of faults."""

import time


def nothing_runs(client, seconds=60):
    """Wait until workers have nothing to do; return whether that is so."""
    end = time.monotonic() + seconds
    while any(client.processing().values()) and time.monotonic() < end:
        time.sleep(0.05)
    return not any(client.processing().values())

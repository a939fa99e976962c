r"""How certain a label is: the evidence for each cluster as probabilities.

T (n x c) is the evidence of all layers (`agreement`): how much more likely the labels of a sample's neighbours are in
each cluster than by chance, in nats. The probability that sample i belongs to cluster k is

.. math:: P_{ik} = \frac{\exp(\beta\, T_{ik})}{\sum_h \exp(\beta\, T_{ih})}, \qquad
          \beta = 2.8 \Big(\frac{10}{10 + n/c}\Big)^{1/4} .

T counts the neighbours of a sample as one witness; beta is how many independent witnesses they are worth. Ten
neighbours in a cluster of twenty cover half of it. In a cluster of a thousand they come from one spot: they agree with
each other wherever the border lies, and say less about it. So beta falls with the typical cluster size n/c. The
constants are the same for all data; `benchmarks/calibration.py` shows how they were chosen and checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from manyview.partition.agreement import Agreement
from manyview.partition.blockmodel import Blocks
from manyview.records import saved
from manyview.typing import Dense, Indices, Labels

WITNESSES = 2.8  # independent neighbours of a sample in a small cluster
NEIGHBORHOOD = 10.0  # samples: clusters are small or large compared with this
FALL = 0.25  # exponent: neighbours in large clusters count less


@saved
@dataclass(frozen=True)
class Calibration:
    """What is needed to compute probabilities for other samples: the evidence of a link, and beta."""

    blocks: Blocks
    beta: float

    @classmethod
    def of(cls, model: Agreement, z: Labels) -> Calibration:
        """Compute both from the partition z of some samples."""
        size = len(z) / model.n_clusters
        return cls(model.link_evidence(z), WITNESSES * (NEIGHBORHOOD / (NEIGHBORHOOD + size)) ** FALL)

    def probabilities(self, T: Dense) -> Dense:
        """Return P for the evidence T."""
        Q = np.exp(self.beta * (T - T.max(axis=1, keepdims=True)))
        P: Dense = Q / Q.sum(axis=1, keepdims=True)
        return P

    def of_links(self, z: Labels, links: Sequence[sp.csr_array]) -> Dense:
        """Return P for new samples, from their links to those of z in each layer.

        New samples are nobody's neighbours, so the crossed layers say nothing about them: their labels are a little
        less certain.
        """
        return self.probabilities(self.blocks.evidence(z, links))


def assess_membership(model: Agreement, z: Labels) -> tuple[Dense, Calibration]:
    """Return P for the samples of a partition, and what is needed to compute it for others."""
    calibration = Calibration.of(model, z)
    return calibration.probabilities(model.evaluate(z)[1]), calibration


@saved
@dataclass(frozen=True)
class Assigned:
    """The cluster of each sample, its probability, and the most likely other cluster (-1 if there is only one)."""

    labels: Labels
    confidence: Dense
    second: Labels

    @classmethod
    def of(cls, labels: Labels, P: Dense) -> Assigned:
        """Take them from the probabilities of all clusters."""
        return cls(labels, confidence(P, labels), second_cluster(P, labels).astype(np.int32))


def second_cluster(P: Dense, z: Labels) -> Indices:
    """Return the most likely other cluster of each sample; -1 if there is only one."""
    if P.shape[1] == 1:
        return np.full(len(z), -1)
    others = P.copy()
    others[np.arange(len(z)), z] = -1
    return others.argmax(axis=1)


def confidence(P: Dense, z: Labels) -> Dense:
    """Return the probability of each sample's own label."""
    own: Dense = P[np.arange(len(z)), z]
    return own

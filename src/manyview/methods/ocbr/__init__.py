"""OCBR: orthogonal clustering basis reconstruction, in three variants."""

from manyview.methods.ocbr.estimator import OCBR

__all__ = ["OCBR"]

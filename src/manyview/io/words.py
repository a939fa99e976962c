"""Words with a special meaning in tables: missing values, and names of columns that hold sample ids."""

from __future__ import annotations

import re

MISSING = frozenset({
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA",
    "NULL", "NaN", "None", "n/a", "nan", "null",
})  # fmt: skip
"""Words that mean a missing value, the same as in pandas."""

_NAMES_SAMPLES = re.compile(
    r"#?\s*((sample|subject|patient|participant|individual|donor|specimen|case|cell|object|item|row|obs|observation)s?)?"
    r"[\s_.-]*((id|identifier|name|index|key|code|barcode|no|nr|number)s?)?"
    r"|.*[\s_.-](id|ids|identifier|uid|uuid|guid|accession|barcode)"
    r"|[efiprstu]id|(usubj|subj|pt|pat|person|record|study|user|donor|case|sample|s)id|uuid|guid|idx|mrn|accession"
    r"|unnamed: 0",
    re.IGNORECASE,
)
_CAMEL_CASE_ID = re.compile(r"\w*[a-z]I[Dd]s?")  # PatientID, sampleId


def may_name_samples(column: object) -> bool:
    """Return whether a column of this name may hold sample ids; a column without a name may."""
    if not isinstance(column, str):
        return False
    name = column.strip()
    return _NAMES_SAMPLES.fullmatch(name) is not None or _CAMEL_CASE_ID.fullmatch(name) is not None

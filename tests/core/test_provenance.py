from datetime import datetime

import nefty
from nefty.core.provenance import provenance, usable_cores, versions


def test_provenance_is_text_and_complete():
    found = provenance()
    assert {"created", "python", "nefty", "numpy", "torch", "numba", "host", "system", "processor", "cores"} <= set(
        found
    )
    assert all(isinstance(value, str) and value for value in found.values())
    assert found["nefty"] == nefty.__version__
    assert datetime.fromisoformat(found["created"]).utcoffset() is not None


def test_a_missing_library_is_said_to_be_absent():
    assert versions(["no-such-library"])["no-such-library"] == "absent"


def test_there_is_a_core():
    assert usable_cores() >= 1

"""Facts in files: what is written is read back, and a damaged record is refused."""

import contextlib
import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from nefty.core.errors import InputError
from nefty.data import facts as typed
from nefty.data.facts_file import KNOWN, arrays_apart, arrays_joined, facts_of_meta, plain_facts, read_facts
from nefty.data.radiometry import Scene
from nefty.data.read import read
from nefty.data.sequence import Sequence
from nefty.physics.materials import Material, material
from support.known_facts import alike

FACE = (4, 6)
TEXT = st.text(max_size=6)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
ABOVE = st.floats(1e-9, 1e9)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
TABLE = st.dictionaries(TEXT, PLAIN, max_size=3)
PAIR = st.tuples(NUMBER, NUMBER)
HOLE = st.builds(typed.Hole, st.sampled_from(["round", "rectangular"]), PAIR, PAIR, NUMBER | st.just(np.nan))
MAP = arrays_of.arrays(np.float64, FACE, elements=st.floats(width=64, allow_infinity=False))
MATERIAL = st.sampled_from([material("pvc"), material("cfrp")]) | st.builds(
    Material, name=st.text(min_size=1, max_size=6), alpha_z=ABOVE, alpha_y=ABOVE, alpha_x=ABOVE, note=TEXT
)


def listed(values):
    return st.lists(values, max_size=3).map(tuple)


SIMULATION = st.builds(
    typed.Simulation,
    record=st.builds(lambda table, array: {**table, "excitation_array": array}, TABLE, MAP) | TABLE,
    noise_sigma=ABOVE,
    gain=st.none() | MAP,
    versions=st.dictionaries(TEXT, TEXT, max_size=2),
)
ORIGIN = st.builds(
    typed.Origin,
    source=st.sampled_from(typed.Source),
    name=TEXT,
    flash_known=st.booleans(),
    flash_frame=st.none() | st.integers(0, 9),
    ambient=st.none() | NUMBER,
    parameters=st.dictionaries(TEXT, NUMBER, max_size=2),
    simulation=st.none() | SIMULATION,
)
FACTS = st.builds(
    typed.Facts,
    units=st.builds(typed.Units, TEXT, TEXT, TEXT, TEXT),
    material=st.none() | MATERIAL,
    material_source=st.sampled_from(["", "given", "file"]),
    camera=st.builds(typed.CameraFacts, TEXT, TEXT, st.none() | ABOVE, st.none() | ABOVE, TEXT, TEXT),
    scene=st.builds(Scene, *(st.none() | ABOVE for _ in range(7))),
    heating=st.none() | st.builds(typed.Heating, TEXT, st.none() | ABOVE),
    steps=listed(st.builds(typed.Step, TEXT, TEXT, TABLE, st.booleans())),
    window=st.builds(typed.Window, st.integers(0, 99), st.integers(0, 99), st.integers(1, 9)),
    pixel=st.none() | st.tuples(ABOVE, ABOVE),
    thickness=st.none() | ABOVE,
    unit_length=ABOVE,
    defects=st.none()
    | st.builds(
        typed.KnownDefects,
        mask=st.none() | arrays_of.arrays(np.bool_, FACE),
        depth=st.none() | MAP,
        holes=st.none() | listed(HOLE),
    ),
    calibration=listed(st.builds(typed.CalibratedValue, TEXT, NUMBER, st.none() | NUMBER, TEXT, st.none() | ABOVE)),
    gain=st.none() | MAP,
    origin=ORIGIN,
    notes=listed(st.builds(typed.Note, st.sampled_from(typed.NoteKind), TEXT, st.booleans())),
    extra=TABLE,
)
NAMES = [*vars(typed.Facts()), "colour"]


def test_what_is_as_by_default_is_not_written():
    assert plain_facts(typed.Facts()) == {}
    assert plain_facts(typed.Facts(units=typed.Units(length="m"), window=typed.Window(left=3))) == {
        "units": {"length": "m"},
        "window": {"left": 3},
    }
    assert alike(read_facts({}), typed.Facts())


@given(FACTS)
def test_facts_are_read_back_as_they_were_written(facts):
    again = read_facts(plain_facts(facts))
    assert alike(again, facts)
    for name in ("units", "material", "camera", "heating", "window", "pixel", "calibration", "notes"):
        assert getattr(again, name) == getattr(facts, name)
    assert again.origin.source is facts.origin.source


@given(FACTS)
def test_arrays_go_apart_and_the_rest_is_json(facts):
    rest, arrays = arrays_apart(plain_facts(facts), "facts")
    again = read_facts(arrays_joined(json.loads(json.dumps(rest)), {**arrays, "mask": np.ones(3)}, "facts"))
    assert alike(again, facts)


@pytest.mark.parametrize("suffix", [".h5", ".npz", ".tif"])
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(facts=FACTS)
def test_every_format_of_recordings_holds_all_facts(tmp_path, suffix, facts):
    whole = Sequence(frames=np.ones((2, *FACE), np.float32), times=np.array([1.0, 2.0]), facts=facts)
    again = read(whole.save(tmp_path / f"plate{suffix}")).facts
    assert alike(again, facts)
    if facts.defects is not None and facts.defects.mask is not None:
        assert again.defects is not None
        assert again.defects.mask is not None
        assert again.defects.mask.dtype == bool


@pytest.mark.parametrize(
    "saved",
    [
        7,
        None,
        "units",
        {"colour": "red"},
        {"units": 3},
        {"units": {"colour": "m"}},
        {"material": {"name": "x", "alpha_z": -1.0}},
        {"window": {"top": 0, "colour": 1}},
        {"steps": [3]},
        {"steps": [{"text": "without a name"}]},
        {"pixel": [1.0]},
        {"pixel": ["wide", "high"]},
        {"defects": 3},
        {"defects": {"holes": [{"kind": "round"}]}},
        {"defects": {"holes": [{"centre": None, "width": None}]}},
        {"calibration": [{"name": "without a value"}]},
        {"origin": {"source": "the moon"}},
        {"origin": {"simulation": {"colour": 1}}},
        {"notes": [{"text": "of no kind"}]},
        {"notes": [{"kind": "gossip", "text": "x"}]},
    ],
)
def test_a_damaged_record_is_refused(saved):
    with pytest.raises(InputError, match="what the file says of its recording is damaged"):
        read_facts(saved)


@given(st.dictionaries(st.sampled_from(NAMES), PLAIN, max_size=4) | PLAIN)
def test_whatever_a_damaged_file_holds_it_is_read_or_refused(saved):
    with contextlib.suppress(InputError):
        assert isinstance(read_facts(saved), typed.Facts)


@given(st.dictionaries(st.sampled_from(sorted(KNOWN)), PLAIN, max_size=4) | PLAIN)
def test_whatever_a_damaged_file_of_the_old_version_holds_it_is_read_or_refused(meta):
    with contextlib.suppress(InputError):
        assert isinstance(facts_of_meta(meta), typed.Facts)

"""Planck's law with a camera's constants, the scene between, and the way back."""

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nefty.core.errors import InputError
from nefty.data.given import Given
from nefty.data.radiometry import Air, Planck, Radiometry, Scene

PLANCK = Planck(21106.77, 0.012545258, 1501.0, 1.0, -7340.0)  # of a FLIR SC660
AIR = Air(0.006569, 0.01262, -0.002276, -0.00667, 1.9)
ROOM = Scene(0.95, 293.15, 293.15, 0.5, 1.0, 293.15, 1.0)
SHARE = st.floats(0.2, 1.0)
KELVIN = st.floats(270.0, 330.0)


def seen(scene: Scene, temperature: float) -> float:
    """What the camera counts, by the equation of the module read forward."""
    e, reflected, air, _, _, window, w = (float(value) for value in dataclasses.astuple(scene))
    t = AIR.transmission(scene)
    at_part = e * PLANCK.signal(temperature) + (1 - e) * PLANCK.signal(reflected)
    behind_air = t * at_part + (1 - t) * PLANCK.signal(air)
    return float(w * behind_air + (1 - w) * PLANCK.signal(window)) - PLANCK.o


@given(st.floats(200, 1500))
def test_a_black_body_comes_back(temperature):
    assert PLANCK.temperature(PLANCK.signal(temperature)) == pytest.approx(temperature, rel=1e-12)


@given(SHARE, KELVIN, KELVIN, st.floats(0, 1), st.floats(0, 100), KELVIN, SHARE, st.floats(280, 400))
def test_the_part_comes_back_through_any_scene(e, reflected, air, humidity, distance, window, w, temperature):
    scene = Scene(e, reflected, air, humidity, distance, window, w)
    counts = seen(scene, temperature)
    table = Radiometry(PLANCK, AIR, scene).temperatures()
    low = int(counts)
    step = table[low + 1] - table[low]
    assert step > 0
    assert table[low] + (counts - low) * step == pytest.approx(temperature, abs=1e-3 + 0.1 * step)


def test_a_black_body_without_air_is_planck_alone():
    scene = dataclasses.replace(ROOM, emissivity=1.0, distance=0.0)
    counts = np.array([14000, 15000, 20000])
    expected = 1501 / np.log(21106.77 / (0.012545258 * (counts - 7340)) + 1)  # the closed form
    assert np.allclose(Radiometry(PLANCK, AIR, scene).temperatures()[counts], expected, rtol=1e-12)


def test_in_a_room_of_one_temperature_the_scene_does_not_matter():
    counts = float(PLANCK.signal(293.15)) - PLANCK.o
    for e, w, distance in ((1.0, 1.0, 0.0), (0.3, 0.7, 50.0)):
        scene = dataclasses.replace(ROOM, emissivity=e, transmission=w, distance=distance)
        table = Radiometry(PLANCK, AIR, scene).temperatures()
        assert np.interp(counts, [int(counts), int(counts) + 1], table[int(counts) : int(counts) + 2]) == pytest.approx(
            293.15, abs=1e-4
        )


def test_the_air():
    assert AIR.transmission(dataclasses.replace(ROOM, distance=0.0)) == 1
    # by hand, at 20 degrees C and half saturated: h = 0.5 exp(1.5587 + 1.3878 - 0.111264 + 0.0054764) = 8.566
    h = 0.5 * np.exp(1.5587 + 0.06939 * 20 - 2.7816e-4 * 400 + 6.8455e-7 * 8000)
    by_hand = 1.9 * np.exp(-(0.006569 - 0.002276 * np.sqrt(h))) - 0.9 * np.exp(-(0.01262 - 0.00667 * np.sqrt(h)))
    assert h == pytest.approx(8.566, abs=1e-2)
    assert AIR.transmission(ROOM) == pytest.approx(by_hand, rel=1e-12)
    ways = [AIR.transmission(dataclasses.replace(ROOM, distance=d)) for d in (0.5, 5, 50, 500)]
    assert all(0 < far < near < 1 for near, far in itertools.pairwise(ways))


def test_counts_below_the_scenes_own_have_no_temperature():
    table = Radiometry(PLANCK, AIR, dataclasses.replace(ROOM, emissivity=0.1)).temperatures()
    assert np.isnan(table[0])
    assert np.isfinite(table[-1])
    assert (np.diff(table[np.isfinite(table)]) > 0).all()


def test_what_is_said_goes_before():
    assert ROOM.said(emissivity=0.5, reflected=None) == dataclasses.replace(ROOM, emissivity=0.5)
    assert ROOM.words() == ("emissivity 0.95, reflected 293.15 K, atmosphere 293.15 K, humidity 0.5, distance 1 m")
    assert Scene().words() == ""


@pytest.mark.parametrize(
    ("fact", "message"),
    [
        ({"emissivity": 0}, "emissivity=0 must be above 0"),
        ({"emissivity": 95}, "emissivity=95 must be at most 1"),
        ({"humidity": -0.1}, "humidity=-0.1 must be at least 0"),
        ({"humidity": 50}, "humidity=50 must be at most 1"),
        ({"reflected": -3}, "reflected=-3 must be above 0"),
        ({"distance": -1}, "distance=-1 must be at least 0"),
    ],
)
def test_facts_that_cannot_be_are_refused(fact, message):
    with pytest.raises(InputError, match=message):
        Given.of(fact)

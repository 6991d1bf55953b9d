"""Preparing a large recording takes little more memory than its result."""

import tracemalloc

import numpy as np

from nefty.data.preparation.prepare import prepare
from support.flash_recordings import Camera

MORE = 3 * 2**23  # bytes: samples and some frames


def peak_of(sequence, **choice):
    tracemalloc.start()
    found = prepare(sequence, **choice)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak, found.sequence.frames.nbytes


def test_the_recording_is_not_held_several_times_over():
    """400 frames of 160 x 128 pixels, 33 MB, a twentieth of a PVC recording."""
    camera = Camera(shape=(400, 128, 160), echo=2000)
    prepare(camera.sequence(camera.frames()[:, :8, :8]), roi="auto")  # imports what is imported late
    sequence = camera.sequence(np.minimum(camera.frames(), np.float32(304)))
    whole = sequence.frames.nbytes
    peak, _ = peak_of(sequence, bin=2)
    assert peak < whole / 4 + MORE, f"{peak / whole:.2f} times the recording"
    peak, result = peak_of(sequence, bin="off")
    assert peak < whole + MORE, f"{peak / whole:.2f} times the recording"
    assert result < whole / 5

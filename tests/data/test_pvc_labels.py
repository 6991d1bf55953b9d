import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image

from nefty.core.errors import InputError
from nefty.data.pvc_labels import grey_of, read_label

STEPS = arrays(np.int64, (5, 7), elements=st.integers(0, 5))


def depths(steps):
    return np.where(steps > 0, 0.5e-3 * steps, np.nan)


@given(steps=STEPS)
def test_grey_values_are_steps_of_half_a_millimetre(steps):
    np.testing.assert_array_equal(grey_of(depths(steps)), 51 * steps)


@pytest.mark.parametrize("mode", ["L", "RGB", "P", "RGBA"])
def test_labels_of_any_grey_picture_are_read(tmp_path, rng, mode):
    steps = rng.integers(0, 6, (6, 9))
    Image.fromarray(grey_of(depths(steps))).convert(mode).save(tmp_path / "label.png")
    np.testing.assert_allclose(read_label(tmp_path / "label.png"), depths(steps))


def test_what_is_no_label_is_refused_and_why(tmp_path, rng):
    file = tmp_path / "label.png"
    Image.fromarray(np.array([[0, 51, 52], [102, 200, 0]], dtype=np.uint8)).save(file)
    with pytest.raises(InputError, match=r"the grey values 52, 200 in 2 of 6 pixels.*only 0, 51, 102, 153, 204, 255"):
        read_label(file)
    Image.fromarray(rng.integers(0, 255, (4, 4, 3), dtype=np.uint8)).save(file)
    with pytest.raises(InputError, match="shows colours, and a label is grey"):
        read_label(file)
    file.write_bytes(b"GIF89a, not a PNG")
    with pytest.raises(InputError, match="is no PNG"):
        read_label(file)


def test_a_damaged_label_is_an_error_and_no_crash(tmp_path, rng):
    file = tmp_path / "label.png"
    Image.fromarray(grey_of(depths(rng.integers(0, 6, (40, 50))))).save(file)
    whole = file.read_bytes()
    for length in (10, 30, 50, len(whole) // 2):
        file.write_bytes(whole[:length])
        with pytest.raises(InputError, match=r"damaged|no PNG"):
            read_label(file)
    huge = bytearray(whole)
    huge[16:24] = (2**30).to_bytes(4, "big") * 2
    file.write_bytes(bytes(huge))
    with pytest.raises(InputError, match="damaged"):
        read_label(file)

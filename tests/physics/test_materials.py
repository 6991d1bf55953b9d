"""Materials: the table against its source, units of files, and what is refused."""

import re

import numpy as np
import pytest

from nefty.core.checks import anisotropy_ratios
from nefty.core.errors import InputError
from nefty.physics.materials import MATERIALS, Material, material

#: m2/s through the thickness, as in the table of numbers in THERMOGRAPHY.md; a range as (low, high).
SOURCE = {
    "pvc": 1.2e-7,
    "epoxy": 0.8e-7,
    "pmma": 1.1e-7,
    "gfrp": (1.3e-7, 2.0e-7),
    "cfrp": 4e-7,
    "stainless-steel": 4e-6,
    "mild-steel": 1.3e-5,
    "aluminium": (5e-5, 9e-5),
}
#: W/mK that handbooks give for the families, wide.
CONDUCTIVITY = {
    "pvc": (0.13, 0.20),
    "pmma": (0.17, 0.25),
    "cfrp": (0.4, 0.9),
    "gfrp": (0.25, 0.45),
    "stainless-steel": (13, 17),
    "mild-steel": (43, 66),
    "aluminium": (120, 220),
}


def test_the_table_holds_what_the_source_says():
    assert set(MATERIALS) == set(SOURCE)
    for name, alpha in SOURCE.items():
        own = material(name)
        assert own.name == name
        assert own.note
        if isinstance(alpha, tuple):
            assert alpha[0] < own.alpha_z < alpha[1]
            low, high = re.findall(r"\((\S+), (\S+)\) m2/s", own.note)[0]
            assert (float(low), float(high)) == alpha
        else:
            assert own.alpha_z == alpha
        assert min(own.alpha_z, own.alpha_y, own.alpha_x) > 1e-8
        assert max(own.alpha_z, own.alpha_y, own.alpha_x) < 2e-4
        anisotropy_ratios(own.anisotropy)


def test_conductivities_that_follow_are_those_of_handbooks():
    for name, own in MATERIALS.items():
        if own.k is None:
            assert name == "epoxy"
            continue
        low, high = CONDUCTIVITY[name]
        assert low < own.k < high


def test_fibres_conduct_along_x():
    cfrp = material("CFRP")
    assert 4e-7 <= cfrp.alpha_y <= 1.1e-6
    assert 6e-6 <= cfrp.alpha_x <= 7e-6
    np.testing.assert_allclose(cfrp.anisotropy, (7e-7 / 4e-7, 6.5e-6 / 4e-7), rtol=1e-14)
    assert material("pvc").anisotropy == (1.0, 1.0)


@pytest.mark.parametrize("name", ["Mild Steel", "mild_steel", " mild-steel "])
def test_names_are_found_as_people_write_them(name):
    assert material(name) is MATERIALS["mild-steel"]


def test_heat_loss_is_h_over_the_heat_of_a_volume():
    assert material("pvc").loss(10.0) == pytest.approx(10 / (1400 * 950))
    with pytest.raises(InputError, match=r"'epoxy' has no density and specific heat.*give rho and cp"):
        material("epoxy").loss(10.0)


def test_a_file_with_units(tmp_path):
    file = tmp_path / "weave.toml"
    file.write_text(
        'name = "weave"\nalpha_z = "0.42 mm²/s"\nalpha_y = "3.1e-6 m2/s"\nalpha_x = "0.031 cm2/s"\n'
        'rho = "1.6 g/cm3"\ncp = "1.2 kJ/kgK"\nnote = "measured by us"\n',
        encoding="utf-8",
    )
    for given in (file, str(file)):
        own = material(given)
        assert (own.name, own.alpha_z, own.note) == ("weave", 4.2e-7, "measured by us")
        np.testing.assert_allclose(own.anisotropy, (3.1 / 0.42, 3.1 / 0.42), rtol=1e-12)
        assert own.k == pytest.approx(0.8064)


def test_diffusivity_from_conductivity_density_and_heat(tmp_path):
    file = tmp_path / "inlay.toml"
    file.write_text('name = "inlay"\nk = "0.22 W/mK"\nrho = "908 kg/m3"\ncp = "1800 J/kgK"\n', encoding="utf-8")
    own = material(file)
    assert own.alpha_z == pytest.approx(0.22 / (908 * 1800))
    assert own.anisotropy == (1.0, 1.0)


def test_a_mapping_takes_si_numbers_and_texts_and_a_material_itself():
    own = material({"name": "mine", "alpha_z": 1e-7, "alpha_x": "0.2 mm2/s"})
    assert (own.alpha_z, own.alpha_y, own.alpha_x) == (1e-7, 1e-7, 2e-7)
    assert material(own) is own
    for entry in MATERIALS.values():
        assert material(entry.model_dump(mode="json")) == entry


def test_a_material_cannot_be_changed():
    with pytest.raises(ValueError, match="frozen"):
        material("pvc").alpha_z = 1.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = 'a'\nalpha_z = 4e-7", r"mine.toml: alpha_z=4e-07 has no unit; write a diffusivity"),
        ("name = 'a'\nalpha_z = '4 mm'", r"alpha_z='4 mm' is a length; expected a diffusivity"),
        ("name = 'a'\nalpha_z = '-4 mm2/s'", r"mine.toml: alpha_z=.*greater than 0"),
        ("name = 'a'\nalpha_y = '4 mm2/s'", r"mine.toml: alpha_z=.*Field required"),
        ("alpha_z = '4 mm2/s'", r"mine.toml: name=.*Field required"),
        ("name = 'a'\nalfa_z = '4 mm2/s'\nalpha_z = '4 mm2/s'", r"key 'alfa_z' is unknown.*Did you mean 'alpha_z'\?"),
        ("name = 'a'\nk = '0 W/mK'\nrho = '1 g/cm3'\ncp = '1 J/gK'", r"mine.toml: k=0 must be above 0"),
        ("name = 'a'\nk = '1 W/mK'", r"mine.toml: k alone does not give a diffusivity"),
        (
            "name = 'a'\nalpha_z = '1 mm2/s'\nk = '1 W/mK'\nrho = '1 g/cm3'\ncp = '1 J/gK'",
            r"mine.toml: alpha_z follows from k, rho and cp; leave out alpha_z or k",
        ),
        ("name = ", "cannot read the material"),
    ],
)
def test_bad_files_are_named(tmp_path, text, message):
    file = tmp_path / "mine.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        material(file)


def test_unknown_names_and_files(tmp_path):
    with pytest.raises(InputError, match=r"material='aluminum' is unknown.*Did you mean 'aluminium'\?.*\.toml file"):
        material("aluminum")
    with pytest.raises(InputError, match="there is no material file"):
        material(tmp_path / "none.toml")
    with pytest.raises(InputError, match="material=3 is unknown"):
        material(3)  # pyright: ignore[reportArgumentType]


def test_the_constructor_takes_si_numbers():
    own = Material(name="mine", alpha_z=1e-7, alpha_y=2e-7, alpha_x=4e-7)
    assert own.anisotropy == (2.0, 4.0)
    assert own.k is None

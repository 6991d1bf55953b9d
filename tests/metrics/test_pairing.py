"""Which found defect is which known one."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from nefty.metrics.pairing import paired


@dataclass(frozen=True)
class Disc:
    y: float
    x: float
    diameter: float = 1.0

    @property
    def centre(self):
        return (0.0, self.y, self.x)


def test_the_nearest_belong_together_and_far_ones_stay_alone():
    found, known = [Disc(0, 0), Disc(5, 5), Disc(9, 0)], [Disc(5.2, 5), Disc(0.4, 0), Disc(0, 9)]
    assert paired(found, known) == [(found[0], known[1]), (found[1], known[0]), (found[2], None), (None, known[2])]


def test_a_partner_within_reach_is_not_lost_to_a_shorter_sum_of_distances():
    """By the sum alone, a-A would be torn apart for two pairs of which none is in reach."""
    a, b, one, two = Disc(0, 0), Disc(0, 3), Disc(0, 0.9), Disc(0, -2.2)
    assert (a, one) in paired([a, b], [one, two])


def test_one_known_defect_has_one_partner():
    twice = [Disc(0, 0.1), Disc(0, 0.2)]
    assert paired(twice, [Disc(0, 0)]) == [(twice[0], Disc(0, 0)), (twice[1], None)]


@given(
    st.lists(st.tuples(st.floats(0, 9), st.floats(0, 9)), max_size=6),
    st.lists(st.tuples(st.floats(0, 9), st.floats(0, 9)), max_size=6),
)
def test_everything_appears_once(one, other):
    found, known = [Disc(*p) for p in one], [Disc(*p) for p in other]
    pairs = paired(found, known)
    assert [f for f, _ in pairs if f is not None] == found
    assert sorted((k.y, k.x) for _, k in pairs if k is not None) == sorted((k.y, k.x) for k in known)

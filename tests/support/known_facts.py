"""What is known of a recording or a result, where it must be known; and whether two know the same."""

from __future__ import annotations

from nefty.core.storage.hdf5 import digest
from nefty.data.facts import Facts, KnownDefects, Simulation
from nefty.data.facts_file import plain_facts
from nefty.data.sequence import Sequence
from nefty.physics.materials import Material
from nefty.result.reconstruction import Reconstruction

Described = Sequence | Reconstruction


def material_of(described: Described) -> Material:
    """What it is made of."""
    assert described.facts.material is not None
    return described.facts.material


def defects_of(described: Described) -> KnownDefects:
    """What is known to be in it."""
    assert described.facts.defects is not None
    return described.facts.defects


def simulation_of(described: Described) -> Simulation:
    """How nefty simulated it."""
    assert described.facts.origin.simulation is not None
    return described.facts.origin.simulation


def alike(one: Facts, other: Facts) -> bool:
    """Whether two know the same, arrays and NaN included."""
    return digest(plain_facts(one)) == digest(plain_facts(other))


def same_recording(one: Sequence, other: Sequence) -> bool:
    """Whether two recordings are the same in all they hold."""
    return (one.digest(), digest(one.truth)) == (other.digest(), digest(other.truth)) and alike(one.facts, other.facts)

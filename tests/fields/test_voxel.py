"""The voxel field: its start, its scaling by depth, its box."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.fields.heads import PAPER_HEAD, LinearBox, LogBox, LogHead
from nefty.fields.voxel import VoxelField

GRID = Grid((4, 2, 3), (2.0, 4.0, 6.0))
DEPTHS = np.array([0.125, 0.375, 0.625, 0.875]).reshape(4, 1, 1)
HEADS = (PAPER_HEAD, LogHead(), LinearBox(), LogBox())


@pytest.mark.parametrize("head", HEADS, ids=repr)
@given(start=st.floats(0.004, 0.24), power=st.floats(0, 2))
def test_it_starts_from_a_number_whatever_the_scaling(head, start, power):
    field = VoxelField(GRID, head, start=start, depth_power=power, dtype=torch.float64)
    assert field.unknowns == 24
    assert np.allclose(field().detach(), start, rtol=1e-10)


def test_it_starts_from_a_volume(rng):
    volume = rng.uniform(0.01, 0.2, GRID.shape)
    for given_volume in (volume, torch.from_numpy(volume).requires_grad_()):
        field = VoxelField(GRID, LogHead(), start=given_volume, depth_power=1, dtype=torch.float64)
        assert np.allclose(field().detach(), volume, rtol=1e-12)
        assert field.unknown.is_leaf
        assert field.unknown.is_contiguous()


def test_the_unknown_is_the_value_divided_by_the_relative_depth():
    field = VoxelField(GRID, LogBox(), start=0.1, depth_power=1, dtype=torch.float64)
    assert np.allclose(field.unknown.detach(), np.broadcast_to(math.log(0.1) / DEPTHS, GRID.shape))
    twice = VoxelField(GRID, LogBox(), start=0.1, depth_power=2, dtype=torch.float64)
    assert np.allclose(twice.unknown.detach(), np.broadcast_to(math.log(0.1) / DEPTHS**2, GRID.shape))


def test_the_same_step_moves_deep_cells_further():
    field = VoxelField(GRID, LogBox(), start=0.1, depth_power=1, dtype=torch.float64)
    with torch.no_grad():
        field.unknown.add_(0.01)
    assert np.allclose(np.log(field().detach().numpy() / 0.1), np.broadcast_to(0.01 * DEPTHS, GRID.shape))


def test_a_background_is_where_it_starts_and_what_it_multiplies():
    profile = np.array([0.1, 0.2, 0.15, 0.12])
    field = VoxelField(GRID, LogBox(0.02, 1.3), background=profile, depth_power=1)
    assert np.allclose(field().detach(), np.broadcast_to(profile[:, None, None], GRID.shape))
    ratio = VoxelField(GRID, LogBox(0.02, 1.3), background=profile, start=0.5)
    assert np.allclose(ratio().detach()[:, 0, 0], profile / 2)


def test_the_box_bounds_the_diffusivity_at_every_depth():
    field = VoxelField(GRID, LogBox(0.02, 0.3), start=0.1, depth_power=1, dtype=torch.float64)
    low, high = field.box
    assert np.allclose(low.numpy() * DEPTHS, math.log(0.02))
    assert np.allclose(high.numpy() * DEPTHS, math.log(0.3))
    with torch.no_grad():
        field.unknown[0] -= 100
        field.unknown[1] += 100
    assert float(field().detach().max()) > 0.3  # the field itself does not clamp
    with torch.no_grad():
        field.unknown.clamp_(low, high)
    alpha = field().detach()
    assert np.allclose(alpha[0], 0.02)
    assert np.allclose(alpha[1], 0.3)
    assert np.allclose(alpha[2:], 0.1)


def test_a_head_without_a_box_lets_the_unknowns_go_anywhere():
    field = VoxelField(GRID, start=0.1, depth_power=1)
    low, high = field.box
    assert bool((low == -math.inf).all())
    assert bool((high == math.inf).all())


@pytest.mark.parametrize("head", HEADS, ids=repr)
def test_it_has_its_gradient(head):
    field = VoxelField(GRID, head, start=0.1, depth_power=1, background=[1, 0.5, 0.9, 1], dtype=torch.float64)
    field().square().sum().backward()
    step = 1e-6 * torch.randn(GRID.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    values = []
    for sign in (1, -1):
        with torch.no_grad():
            field.unknown.add_(sign * step)
            values.append(float(field().square().sum()))
            field.unknown.sub_(sign * step)
    assert field.unknown.grad is not None
    assert float((field.unknown.grad * step).sum()) == pytest.approx((values[0] - values[1]) / 2, rel=1e-4)


def test_a_saved_state_gives_the_same_field_back():
    field = VoxelField(GRID, LogHead(), start=0.1, depth_power=1)
    other = VoxelField(GRID, LogHead(), start=0.2)
    other.load_state_dict(field.state_dict())
    assert torch.equal(field(), other())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: VoxelField(GRID), "start is missing; give the diffusivity"),
        (lambda: VoxelField(GRID, start=0.5), "alpha=0.5 must lie between 0.003 and 0.25"),
        (lambda: VoxelField(GRID, start=np.full((4, 3, 2), 0.1)), r"start has shape \(4, 3, 2\).*\(4, 2, 3\)"),
        (lambda: VoxelField(GRID, start=0.1, depth_power=-1), "depth_power=-1 must be at least 0"),
        (lambda: VoxelField(GRID, background=[0.1]), "one diffusivity per depth"),
        (lambda: VoxelField(GRID, background=[0.1] * 4), "alpha=1 must lie between 0.003 and 0.25"),
    ],
)
def test_bad_fields_are_named(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_a_scale_of_each_cell_takes_the_place_of_the_depth(rng):
    scale = rng.uniform(0.2, 3, GRID.shape)
    field = VoxelField(GRID, LogBox(), start=0.1, scale=scale, depth_power=2, dtype=torch.float64)
    assert np.allclose(field.unknown.detach(), math.log(0.1) / scale)
    assert np.allclose(field().detach(), 0.1)
    low, high = field.box
    assert np.allclose(low.numpy() * scale, math.log(0.003))
    assert np.allclose(high.numpy() * scale, math.log(0.25))


@pytest.mark.parametrize("head", HEADS, ids=repr)
def test_rescaling_changes_the_unknowns_and_nothing_else(head, rng):
    volume = rng.uniform(0.01, 0.2, GRID.shape)
    field = VoxelField(GRID, head, start=volume, depth_power=1, dtype=torch.float64)
    parameter, scale = field.unknown, rng.uniform(0.2, 3, GRID.shape)
    field.rescale(scale)
    assert np.allclose(field().detach(), volume, rtol=1e-12)
    assert field.unknown is parameter
    assert field.unknown.requires_grad
    assert np.allclose(field.scale, scale)
    again = VoxelField(GRID, head, start=volume, scale=scale, dtype=torch.float64)
    assert np.allclose(field.unknown.detach(), again.unknown.detach(), rtol=1e-12)


def test_rescaling_moves_the_box_with_the_unknowns(rng):
    field = VoxelField(GRID, LogBox(0.02, 1.1), background=[0.1] * 4, dtype=torch.float64)
    scale = rng.uniform(0.2, 3, GRID.shape)
    field.rescale(scale)
    with torch.no_grad():
        field.unknown.add_(100.0)
        field.unknown.clamp_(*field.box)
    assert np.allclose(field().detach(), 0.11)
    assert np.allclose(field.box[1].numpy() * scale, math.log(1.1))


def test_a_rescaled_field_keeps_its_precision():
    field = VoxelField(GRID, LogBox(), start=0.1)
    field.rescale(np.full(GRID.shape, 2.0))
    assert field.scale.dtype == field.unknown.dtype == torch.float32
    assert "scale" in field.state_dict()

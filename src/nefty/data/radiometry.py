"""From a camera's counts to temperatures: Planck's law with its constants, and what lies between it and the part.

The detector's signal of a black body at T (kelvin), and back:

    W(T) = R1 / (R2 (exp(B/T) - F)),    T = B / ln(R1 / (R2 W) + F)

A count U is W - O. Of what reaches the camera, the part emits the share e t w; the rest are what it reflects, the air,
and a window before the lens (e emissivity, t transmission of the air, w of the window):

    U + O = w (t (e W(T) + (1 - e) W(T_reflected)) + (1 - t) W(T_air)) + (1 - w) W(T_window)

The air over a distance d (metres), with X, alpha and beta of the camera and h the water in it (T_air in degrees C):

    t = X exp(-sqrt(d) (alpha1 + beta1 sqrt(h))) + (1 - X) exp(-sqrt(d) (alpha2 + beta2 sqrt(h)))
    h = humidity exp(1.5587 + 6.939e-2 T_air - 2.7816e-4 T_air^2 + 6.8455e-7 T_air^3)

These are FLIR's equations, of the manuals of its cameras and of its GenICam interface; the constants are in its files.
Minkina and Dudzik, Infrared Thermography: Errors and Uncertainties (2009), sections 2.4 and 3.2, derive them.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

ZERO_CELSIUS = 273.15
WATER = (1.5587, 6.939e-2, -2.7816e-4, 6.8455e-7)  # coefficients of ln(h / humidity)
COUNTS = 2**16


@dataclass(frozen=True)
class Scene:
    """What the camera looked at, and through what; ``None`` where nobody said it.

    Args:
        emissivity: of the part, above 0 and at most 1.
        reflected: temperature that the part reflects, in K.
        atmosphere: temperature of the air between, in K.
        humidity: relative, 0 to 1.
        distance: from the part to the camera, in m.
        window: temperature of a window or lens before the camera, in K.
        transmission: of that window, above 0 and at most 1.
    """

    emissivity: float | None = None
    reflected: float | None = None
    atmosphere: float | None = None
    humidity: float | None = None
    distance: float | None = None
    window: float | None = None
    transmission: float | None = None

    def words(self) -> str:
        """``"emissivity 0.95, reflected 293.15 K, ..."``; empty if nothing is known."""
        units = {"reflected": " K", "atmosphere": " K", "distance": " m", "window": " K"}
        parts = []
        for one in dataclasses.fields(self):
            value = getattr(self, one.name)
            if value is not None and not (one.name in ("window", "transmission") and self.transmission in (None, 1)):
                parts.append(f"{one.name} {value:.6g}{units.get(one.name, '')}")
        return ", ".join(parts)

    def said(self, **values: Any) -> Scene:
        """With what somebody said instead; ``None`` leaves a value as it is."""
        return dataclasses.replace(self, **{name: value for name, value in values.items() if value is not None})


@dataclass(frozen=True)
class Planck:
    """Constants of a camera and its measuring range, by FLIR's names: R1, R2, B (K), F and O (counts)."""

    r1: float
    r2: float
    b: float
    f: float
    o: float

    @property
    def usable(self) -> bool:
        """Whether temperatures follow from them."""
        values = (self.r1, self.r2, self.b, self.f, self.o)
        return bool(np.isfinite(values).all()) and min(self.r1, self.r2, self.b, self.f) > 0

    def signal(self, temperature: np.ndarray | float) -> np.ndarray:
        """W of a black body, in counts above -O."""
        with np.errstate(over="ignore"):
            return self.r1 / (self.r2 * (np.exp(self.b / np.asarray(temperature, np.float64)) - self.f))

    def temperature(self, signal: np.ndarray | float) -> np.ndarray:
        """The temperature (K) of a black body with this W; NaN where there is none."""
        signal = np.asarray(signal, np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = self.b / np.log(self.r1 / (self.r2 * signal) + self.f)
        return np.where((signal > 0) & np.isfinite(found) & (found > 0), found, np.nan)


@dataclass(frozen=True)
class Air:
    """Constants of the air's transmission in a camera's band, by FLIR's names; all 0 for a clear view."""

    alpha1: float = 0.0
    alpha2: float = 0.0
    beta1: float = 0.0
    beta2: float = 0.0
    x: float = 1.0

    def transmission(self, scene: Scene) -> float:
        """t, between 0 and 1; 1 if distance, humidity or the air's temperature is not known."""
        if scene.distance is None or scene.humidity is None or scene.atmosphere is None:
            return 1.0
        celsius = scene.atmosphere - ZERO_CELSIUS
        water = scene.humidity * np.exp(sum(c * celsius**k for k, c in enumerate(WATER)))
        root, far = np.sqrt(water), np.sqrt(scene.distance)
        near = self.x * np.exp(-far * (self.alpha1 + self.beta1 * root))
        rest = (1 - self.x) * np.exp(-far * (self.alpha2 + self.beta2 * root))
        return float(np.clip(near + rest, 0.0, 1.0))


@dataclass(frozen=True)
class Radiometry:
    """What a radiometric file says of its camera and its scene.

    Args:
        planck: constants of the camera.
        air: and of the air.
        scene: what it looked at, as the file says.
    """

    planck: Planck
    air: Air
    scene: Scene

    def temperatures(self) -> np.ndarray:
        """Temperature of the part (K) of every count from 0 to 65535; NaN where a count lies below the scene's own."""
        scene, planck = self.scene, self.planck
        e = 1.0 if scene.emissivity is None else scene.emissivity
        t = self.air.transmission(scene)
        w = 1.0 if scene.transmission is None else scene.transmission
        reflected, air, window = (
            0.0 if kelvin is None else planck.signal(kelvin)
            for kelvin in (scene.reflected, scene.atmosphere, scene.window)
        )
        counts = np.arange(COUNTS, dtype=np.float64)
        behind = ((counts + planck.o) - (1 - w) * window) / w  # before the window
        own = (behind - (1 - t) * air) / t  # at the part
        return planck.temperature((own - (1 - e) * reflected) / e)

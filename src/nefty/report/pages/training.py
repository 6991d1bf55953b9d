"""The page of a training: learning curves, and what the network was trained on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from nefty.core.words import duration
from nefty.report.figures.curves import log_axis
from nefty.report.figures.style import BLUE, MUTED, RULE, VERMILION, dress
from nefty.report.pages.page import Fact, Page, Section, Table
from nefty.supervised.network import trained_on


def training_page(network: Any, about: Mapping[str, Any]) -> Page:
    """Build the page.

    Args:
        network: a ``nefty.supervised.network.VolumeNetwork``.
        about: its training, as ``load_network`` returns it.
    """
    history, data = about["history"], about["data"]
    best = int(about["best_epoch"])
    trained = sum(data["trained"].values())
    settings = network.settings.model_dump(mode="json")
    rows = [(key, str(value)) for key, value in settings.items()]
    return Page(
        title=f"Training of {network.settings.architecture}",
        lead=f"Trained on {trained_on(about)}; {data['held_out']} others were held out. The network of epoch "
        f"{best} is kept, which was the best on them.",
        facts=[
            Fact("Unknowns", f"{network.unknowns:,}"),
            Fact("Recordings", str(trained), f"and {data['held_out']} held out"),
            Fact("Epochs", str(len(history["loss"])), f"of {network.settings.epochs}"),
            Fact("Validation", f"{history['validation'][best - 1]:.3g}", f"in epoch {best}"),
            Fact("Time", duration(float(about["seconds"]))),
        ],
        sections=[
            Section(
                title="Learning curves",
                shows="Mean squared error of the diffusivity over the square of the head's range: the mean over each "
                "epoch while it is trained, and of the held-out recordings after it.",
                figure=learning_curves(history, best),
                good="Both curves fall together and end level.",
                bad="The held-out curve rises while the other falls: the network memorises instead of generalising. "
                "Both still fall at the end: it was stopped early.",
                do="Simulate more recordings if it memorises; train for more epochs if the curves still fall.",
            ),
            Section(
                title="Settings",
                shows="All settings that determined the training.",
                table=Table(("setting", "value"), rows),
            ),
        ],
        provenance=dict(about["provenance"]),
    )


def learning_curves(history: Mapping[str, np.ndarray], best: int) -> go.Figure:
    """Loss on the recordings of the training and on those held out, by epoch; a line marks the best."""
    figure = go.Figure()
    epochs = np.arange(1, len(history["loss"]) + 1)
    for name, key, colour in (("training", "loss", BLUE), ("held out", "validation", VERMILION)):
        figure.add_scatter(
            x=epochs, y=history[key], name=name, mode="lines+markers", line={"color": colour, "width": 2},
            hovertemplate=f"epoch %{{x}}<br>%{{y:.3~g}}<extra>{name}</extra>",
        )  # fmt: skip
    figure.add_vline(x=best, line={"color": MUTED, "width": 1, "dash": "dash"}, annotation_text="kept")  # pyright: ignore[reportArgumentType]
    dress(figure, height=360, below=60, legend=True)
    both = np.concatenate([history["loss"], history["validation"]])
    low, high = float(both.min()) / 1.2, float(both.max()) * 1.2
    figure.update_xaxes(title_text="epoch", gridcolor=RULE)
    figure.update_yaxes(title_text="mean squared error", gridcolor=RULE, **log_axis(low, high))
    return figure

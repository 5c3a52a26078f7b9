"""Label embeddings as pictures (eagle, Figures 5 and 10), and how much alike those of different labels are."""

import textwrap
from dataclasses import dataclass

import numpy as np

from orchard.errors import ConfigError
from orchard.report.plots import ORANGE, explain_marks, mark_simulated, new_panels, save_figure
from orchard.report.tables import write_csv

CSV_HEADER = ["data set", "title", "label", "source", "mean cosine to the others"]
FIGURE_WIDTH, TITLE_WIDTH = 7.2, 1.0  # inches: both columns of a paper, and what titles take of it
NAMES_HEIGHT = 0.2
TITLE_LETTERS = 15  # in a line of a title


@dataclass(frozen=True)
class Embeddings:
    """The embeddings of some labels, float (L, d), and what they are; a row of them is a picture of `shape`."""

    dataset: str
    title: str
    source: str
    names: list[str]
    pictures: np.ndarray  # (L, height, width)
    cosines: np.ndarray  # (L,)

    @classmethod
    def read(cls, path) -> "Embeddings":
        with np.load(path, allow_pickle=False) as file:
            embeddings, names, shape = file["embeddings"], file["names"].tolist(), file["shape"].tolist()
            about = [str(file[key]) for key in ("dataset", "title", "source")]
        if embeddings.shape != (len(names), np.prod(shape)):
            told = f"{len(names)} names, and pictures of {shape[0]} × {shape[1]}"
            raise ConfigError(f"{path}: embeddings: they are {embeddings.shape}, which does not fit {told}")
        return cls(*about, names, embeddings.reshape(-1, *shape), mean_cosines(embeddings))


def mean_cosines(embeddings: np.ndarray) -> np.ndarray:
    """The mean cosine of every row to the other rows; NaN if there is no other. An empty row is at right angles."""
    lengths = np.linalg.norm(embeddings, axis=1, keepdims=True)
    unit = np.divide(embeddings, lengths, out=np.zeros(embeddings.shape), where=lengths > 0)
    own = np.einsum("ij,ij->i", unit, unit)
    others = len(unit) - 1
    return (unit @ unit.sum(axis=0) - own) / others if others else np.full(len(unit), np.nan)


def embedding_figure(artefact: dict, files: list, outputs) -> None:
    """A row of pictures for every file.

    files : npz with `embeddings` (L, d), `names` (L,), `shape` (height and width, d in all), and the texts `dataset`,
        `title` and `source` (measured or simulated).
    """
    if not files:
        raise ConfigError(f"{artefact['title']}: there are no label embeddings to show")
    shown = [Embeddings.read(path) for path in files]
    across = max(len(one.names) for one in shown)
    figure, axes = new_panels(len(shown) * across, columns=across)
    height = (FIGURE_WIDTH - TITLE_WIDTH) / across * shown[0].pictures.shape[1] / shown[0].pictures.shape[2]
    named = [number == 0 or one.names != shown[number - 1].names for number, one in enumerate(shown)]
    figure.set_size_inches(FIGURE_WIDTH, len(shown) * height + NAMES_HEIGHT * sum(named))
    figure.get_layout_engine().set(w_pad=0.02, h_pad=0.02)
    for number, one in enumerate(shown):
        of_row = axes[number * across : (number + 1) * across]
        _draw(of_row, one, with_names=named[number])
        if one.source == "simulated":
            over = figure.add_subplot(of_row[0].get_gridspec()[number, :], zorder=2)
            over.set_axis_off()
            mark_simulated(over, ORANGE, alpha=0.8)  # on grey pictures grey cannot be read
    notes = [
        *artefact.get("notes", []),
        "Grey is 0, white is positive and black negative, within the same limits for all pictures of a row. Below a "
        "title: the mean cosine between two of its embeddings; 1 if all of them are the same.",
    ]
    explain_marks(figure, {}, artefact["title"], notes)
    save_figure(figure, outputs["png"], outputs["svg"])
    records = [
        [one.dataset, one.title, name, one.source, f"{round(cosine, 4):g}" if cosine == cosine else ""]
        for one in shown
        for name, cosine in zip(one.names, one.cosines.tolist(), strict=True)
    ]
    write_csv(outputs["csv"], CSV_HEADER, records)


def _draw(panels: list, one: Embeddings, with_names: bool) -> None:
    """The pictures of one row, its title beside them."""
    limit = np.abs(one.pictures).max() or 1
    for panel in panels:
        panel.set(xticks=[], yticks=[])
        panel.spines[:].set_visible(False)
    for panel, picture, name in zip(panels, one.pictures, one.names, strict=False):
        panel.imshow(picture, cmap="gray", vmin=-limit, vmax=limit, interpolation="nearest")
        if with_names:
            panel.set_title(name, fontsize=7, pad=2)
    kept_together = one.title.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")
    told = [textwrap.fill(kept_together, TITLE_LETTERS, break_on_hyphens=False)]
    told += [f"cosine {one.cosines.mean():.2f}".replace("-", "−")] if len(one.names) > 1 else []
    told += ["simulated data"] if one.source == "simulated" else []
    panels[0].set_ylabel("\n".join(told), rotation=0, ha="right", va="center", labelpad=4, fontsize=7)

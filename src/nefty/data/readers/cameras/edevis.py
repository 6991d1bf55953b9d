"""Measurements of edevis' programs: .di, .OTvis, .ITvisPulse.

A tar archive; ``content.xml``, in UTF-16 or UTF-8, lists the sequences, and each frame is a member.

| member | holds |
|---|---|
| ``content.xml`` | a ``Sequence`` with an ``id`` for each: ``SequenceInfo`` and ``FrameInfo`` |
| - ``SequenceInfo`` | ``FrameRate``, ``CameraName``, ``Lens``, ``ExcitationPulseLength`` |
| - ``FrameInfo`` | a ``Frame`` for each, with ``FrameIndex`` and ``FrameTime`` |
| ``sequenceN/fINDEX.bin`` | 16 bytes of text; uint32: columns, rows, kind; the pixels |
| ``sequenceN/calibration.bin`` | 65536 float32: temperature of each count, in degrees C |

Kinds: 0 uint8, 2 uint16 counts, 5 float32, 13 complex float32: amplitude and phase of lock-in, which is no recording.
All numbers are little-endian. Sources: DisplayImg Dateiformat .DI Rev H of edevis, as others report it; pythermondt
(Apache-2.0), whose release 0.3.8 reads kind 13 alone. Packed frames (attribute ``Cmpr``) are refused.

The archive is walked here: a few wrong bytes in a tar can hold the standard library's reader in an endless loop.
"""

from __future__ import annotations

import itertools
import mmap
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from nefty.core.errors import InputError, unknown_name
from nefty.data.assemble import Found, assemble
from nefty.data.facts import CameraFacts, Facts
from nefty.data.formats import Format
from nefty.data.given import Given
from nefty.data.radiometry import ZERO_CELSIUS
from nefty.data.readers.cameras.mapped import mapped
from nefty.data.readers.pieces import Box, Pieces
from nefty.data.readers.sizes import MOST_FRAMES, refuse_longer
from nefty.data.sequence import Sequence

SUFFIXES = (".di", ".otvis", ".itvispulse")
BLOCK = 512
BEFORE = 28  # bytes of a frame before its pixels
KINDS = {0: np.dtype(np.uint8), 2: np.dtype("<u2"), 5: np.dtype("<f4")}
COMPLEX = 13
TABLE = 2**16  # entries of a calibration
LARGEST = 2**25  # bytes of content.xml
MOST_MEMBERS = 4 * MOST_FRAMES
NUMBER = re.compile(r"\s*([-+]?\d{1,12}(?:[.,]\d{1,12})?(?:[eE][-+]?\d{1,2})?)\s*(ms|us|µs|s|Hz)?\s*$")
FACTORS = {"ms": 1e-3, "us": 1e-6, "µs": 1e-6}


@dataclass(frozen=True)
class Member:
    """Place of a member's first byte in the file, and its size."""

    place: int
    size: int


def read(path: Path, given: Given) -> Sequence:
    """Read the frames of the only sequence in time, or of the one that ``variable`` names."""
    raw = mapped(path)
    members = dict(_members(path, raw))
    names = _names(path, raw, members)
    name = _chosen(path, raw, members, names, given)
    nodes = names[name].findall("FrameInfo/Frame")
    frames, dtype, shape = _frames(path, raw, members, name, nodes)

    def read_box(box: Box) -> np.ndarray:
        pixels = shape[0] * shape[1]
        kept = [np.frombuffer(raw, dtype, pixels, frame.place + BEFORE) for frame in frames[box[0]]]
        return np.stack(kept).reshape(-1, *shape)[:, box[1], box[2]]

    times, notes = _times(names[name], nodes)
    lookup = _calibration(path, raw, members.get(f"{name}/calibration.bin")) if dtype.kind == "u" else None
    found = Found(
        frames=Pieces((len(frames), *shape), dtype, read_box),
        times=times,
        unit="K" if lookup is not None else "counts" if dtype.kind == "u" else None,
        lookup=lookup,
        facts=Facts(camera=_camera(names[name])),
        notes=(f"The frames are those of {name}.", *notes),
    )
    return assemble(path, found, given)


def _members(path: Path, raw: mmap.mmap) -> Iterator[tuple[str, Member]]:
    """Files of the archive; blocks that are no header are passed over, as the special one at the start."""
    at, seen = 0, 0
    while at + BLOCK <= len(raw):
        head = raw[at : at + BLOCK]
        at += BLOCK
        size = _size(head)
        if size is None:
            continue
        if head[156:157] not in (b"0", b"\0"):
            continue
        refuse_longer(path, at + size, len(raw), f"the member at byte {at - BLOCK}")
        seen += 1
        if seen > MOST_MEMBERS:
            raise InputError(f"{path} holds more than {MOST_MEMBERS} members; a measurement has one for each frame.")
        prefix, name = (head[a:b].split(b"\0")[0].decode("latin-1") for a, b in ((345, 500), (0, 100)))
        yield (f"{prefix}/{name}" if prefix else name).removeprefix("./"), Member(at, size)
        at += -(-size // BLOCK) * BLOCK


def _size(head: bytes) -> int | None:
    """The size that the header of a member states; ``None`` if this is none, by its check sum."""
    try:
        told = int(head[148:156].strip(b"\0 ") or b"x", 8)
        size = int(head[124:136].strip(b"\0 ") or b"0", 8)
    except ValueError:
        return None
    return size if told == sum(head) - sum(head[148:156]) + 8 * 32 and size >= 0 else None


def _names(path: Path, raw: mmap.mmap, members: dict[str, Member]) -> dict[str, ElementTree.Element]:
    """The sequences of content.xml, by the name of their folder."""
    content = members.get("content.xml")
    if content is None:
        raise InputError(f"{path} has no content.xml; copy it again from where it was made.")
    if content.size > LARGEST:
        raise InputError(f"{path} has a content.xml of {content.size} bytes, more than {LARGEST}; export the frames.")
    text = raw[content.place : content.place + content.size]
    wide = text[:2] in (b"\xff\xfe", b"\xfe\xff")
    words = text.decode("utf-16" if wide else "utf-8-sig", "replace").strip("\0 \r\n\t")
    if "<!DOCTYPE" in words or "<!ENTITY" in words:
        raise InputError(f"{path} has a content.xml that declares entities, which are not read; copy it again.")
    try:
        root = ElementTree.fromstring(words)
    except ElementTree.ParseError as error:
        raise InputError(f"{path} has a damaged content.xml ({error}); copy it again from where it was made.") from None
    return {f"sequence{node.get('id', '')}": node for node in root.iter("Sequence")}


def _chosen(
    path: Path, raw: mmap.mmap, members: dict[str, Member], names: dict[str, ElementTree.Element], given: Given
) -> str:
    if given.variable is not None:
        if given.variable not in names:
            raise unknown_name(f"{path}: variable", given.variable, names)
        return given.variable
    kinds = {name: _kind(raw, members, name, node) for name, node in names.items()}
    in_time = [name for name, kind in kinds.items() if kind in KINDS]
    if len(in_time) == 1:
        return in_time[0]
    if in_time:
        raise InputError(f"{path} holds several sequences: {', '.join(in_time)}; name one with variable=...")
    why = "of amplitude and phase (lock-in) alone" if COMPLEX in kinds.values() else "of no known kind"
    raise InputError(f"{path} holds images {why}, no frames in time; save the recording itself with edevis' program.")


def _kind(raw: mmap.mmap, members: dict[str, Member], name: str, node: ElementTree.Element) -> int | None:
    """Of the pixels of a sequence, by its first frame."""
    first = node.findtext("FrameInfo/Frame/FrameIndex", "").strip()
    member = members.get(f"{name}/f{first}.bin")
    if member is None or member.size < BEFORE:
        return None
    return struct.unpack_from("<I", raw, member.place + 24)[0]


def _frames(
    path: Path, raw: mmap.mmap, members: dict[str, Member], name: str, nodes: list[ElementTree.Element]
) -> tuple[list[Member], np.dtype, tuple[int, int]]:
    """Members with the frames, their type, rows and columns."""
    if len(nodes) > MOST_FRAMES:
        raise InputError(f"{path} lists {len(nodes)} frames, more than {MOST_FRAMES}; cut the recording into several.")
    frames: list[Member] = []
    first: tuple[int, int, int] | None = None
    for node in nodes:
        index = node.findtext("FrameIndex", "").strip()
        member = members.get(f"{name}/f{index}.bin")
        if member is None or member.size < BEFORE:
            raise InputError(f"{path} lacks frame {index!r} of {name}; copy it again from where it was made.")
        columns, rows, kind = struct.unpack_from("<3I", raw, member.place + 16)
        first = first or (columns, rows, kind)
        if kind not in KINDS or node.get("Cmpr") or not (rows and columns) or (columns, rows, kind) != first:
            raise InputError(
                f"{path}: frame {index!r} of {name} has {columns} x {rows} pixels of kind {kind} (packed: "
                f"{node.get('Cmpr') or 'no'}), and the first {first}; known are unpacked frames of one size and of "
                "kind 0, 2 or 5."
            )
        what = f"{columns} x {rows} pixels of frame {index!r}"
        refuse_longer(path, BEFORE + rows * columns * KINDS[kind].itemsize, member.size, what)
        frames.append(member)
    if first is None:
        raise InputError(f"{path} lists no frame of {name}; copy it again from where it was made.")
    return frames, KINDS[first[2]], (first[1], first[0])


def _times(sequence: ElementTree.Element, nodes: list[ElementTree.Element]) -> tuple[np.ndarray | None, list[str]]:
    """Times of the frames, and what to say of them; pulse and rate are said as the file has them."""
    info = sequence.find("SequenceInfo")
    rate = _number(None if info is None else info.findtext("FrameRate"))
    pulse = "" if info is None else (info.findtext("ExcitationPulseLength") or "").strip()[:40]
    notes = [f"The file says that the excitation lasted {pulse}."] if pulse.isprintable() and pulse else []
    times = [_number(node.findtext("FrameTime")) for node in nodes]
    told = [time for time in times if time is not None]
    if len(told) == len(times) and all(a < b for a, b in itertools.pairwise(told)):
        return np.array(told), [*notes, "Times are those beside each frame."]
    if rate is not None and rate > 0:
        return np.arange(len(nodes)) / rate, [*notes, f"The file says {rate:g} frames per second."]
    return None, notes


def _number(text: str | None) -> float | None:
    """``"0.02 s"``, ``"20 ms"``, ``"50Hz"``, also with a comma, in SI units."""
    found = NUMBER.match(text or "")
    return float(found[1].replace(",", ".")) * FACTORS.get(found[2], 1.0) if found else None


def _calibration(path: Path, raw: mmap.mmap, member: Member | None) -> np.ndarray | None:
    """Temperature of each count in K, if the sequence has a table."""
    if member is None:
        return None
    refuse_longer(path, 4 * TABLE, member.size, "the temperatures of its calibration")
    table = np.frombuffer(raw, "<f4", TABLE, member.place).astype(np.float64) + ZERO_CELSIUS
    return np.where(np.isfinite(table), table, np.nan)


def _camera(sequence: ElementTree.Element) -> CameraFacts:
    info = sequence.find("SequenceInfo")
    if info is None:
        return CameraFacts()
    model, lens = ((info.findtext(name) or "").strip()[:80] for name in ("CameraName", "Lens"))
    return CameraFacts(model=model, lens=lens, frame_rate=_number(info.findtext("FrameRate")))


def _sniff(head: bytes, path: Path) -> bool:
    return path.suffix.lower() in SUFFIXES and (head[257:262] == b"ustar" or b"content.xml" in head or len(head) > 512)


FORMATS = (Format("an edevis file", SUFFIXES, _sniff, read),)

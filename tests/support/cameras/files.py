"""Small files of cameras, written by the layouts that the readers' docstrings state."""

from __future__ import annotations

import struct

import numpy as np

from support.recordings import COUNTS

PALETTE = np.linspace(280, 320, 256).astype("<f4")
DAY = 41654.5 + 10 / 86400  # 2014-01-15 12:00:10


def kelvin(places: np.ndarray, palette: np.ndarray = PALETTE) -> np.ndarray:
    """The temperatures of pixels i * 256 + f of an .irb."""
    i, f = places // 256, (places % 256) / 256
    above = np.append(palette[1:], palette[-1]).astype(float)
    return palette.astype(float)[i] * (1 - f) + above[i] * f


def irb_image(places: np.ndarray, compression: int = 0, seconds: float = 0.0, milliseconds: int = 0) -> bytes:
    """One image: head, palette, metadata, pixels."""
    rows, columns = places.shape
    head = bytearray(1728)
    struct.pack_into("<4h", head, 0, 2, compression, columns, rows)
    struct.pack_into("<3f", head, 24, 0.93, 1.5, 296.15)
    struct.pack_into("<f", head, 40, 295.15)
    head[60:1084] = PALETTE.tobytes()
    head[1226:1237], head[1286:1291], head[1534:1538] = b"VARIOCAM_HD", b"30 mm", b"4711"
    struct.pack_into("<di", head, 1624, DAY + seconds / 86400, milliseconds)
    return bytes(head) + irb_pixels(places, compression)


def irb_pixels(places: np.ndarray, compression: int) -> bytes:
    flat = places.astype("<u2").ravel()
    if compression != 1:
        return flat.tobytes()
    whole, runs = flat // 256, b""
    at = 0
    while at < whole.size:
        run = 1
        while run < 255 and at + run < whole.size and whole[at + run] == whole[at]:
            run += 1
        runs += bytes([run, whole[at]])
        at += run
    return (flat % 256).astype(np.uint8).tobytes() + runs


def irb_block(kind: int, frame: int, place: int, size: int) -> bytes:
    return struct.pack("<8i", kind, 101, frame, place, size, 0, 1, 0)


def irb_head(blocks: list[bytes], kind: bytes = b"VARIOCAM") -> bytes:
    head = bytearray(64)
    head[:5], head[5 : 5 + len(kind)] = b"\xffIRB\0", kind
    struct.pack_into("<3i", head, 21, 100, 64, len(blocks))
    return bytes(head) + b"".join(blocks)


def irb(places: np.ndarray = COUNTS[0], compression: int = 0, **when) -> bytes:
    """A picture with a preview, a text and an empty block."""
    image, text = irb_image(places, compression, **when), b"[Settings]\r\n"
    start = 64 + 4 * 32
    table = [irb_block(2, 1, start, 10), irb_block(1, 1, start + 10, len(image))]
    table += [irb_block(3, 1, start + 10 + len(image), len(text)), bytes(32)]
    return irb_head(table) + bytes(10) + image + text


def irb_video(frames: np.ndarray = COUNTS, compression: int = 0, step: float = 0.02) -> bytes:
    """A sequence as a camera writes it: headers of frames lead to each other, between them files without pixels."""
    raw = bytearray(irb_head([irb_block(4, 1, 64 + 11 * 32, 64)] + [bytes(32)] * 10, b"oSaveIRB"))
    previous = 0  # place of the block that shall lead to the next header
    for i, places in enumerate(frames):
        whole = 1000 * step * i
        image = irb_image(places, compression, int(whole // 1000), round(whole) % 1000)
        if i:
            base, text = len(raw), b"[Merge]" + bytes(57)
            start = base + 64 + 4 * 32
            table = [irb_block(1, i + 1, start, len(image)), irb_block(3, i + 1, start + 1728, len(text))]
            raw += irb_head([*table, bytes(32), bytes(32)]) + image[:1728] + text
            struct.pack_into("<i", raw, previous + 12, len(raw))
        previous = len(raw) + 32
        raw += irb_block(1, i + 1, len(raw) + 64, len(image)) + irb_block(4, i + 2, 0, 64) + image
    return bytes(raw)


PLANCK = {"r1": 21106.77, "r2": 0.012545258, "b": 1501.0, "f": 1.0, "o": -7340}
AIR = (0.006569, 0.01262, -0.002276, -0.00667, 1.9)


def fff(
    counts: np.ndarray = COUNTS[0], order: str = "<", seconds: int = 1339617128, milliseconds: int = 0, **scene
) -> bytes:
    """A frame with the record of the camera and the counts."""
    rows, columns = counts.shape
    values = {"e": 0.95, "d": 1.0, "refl": 293.15, "air": 293.15, "window": 293.15, "w": 1.0, "h": 0.5, "rate": 50}
    values |= PLANCK | scene
    camera = bytearray(1200)
    names = ("e", "d", "refl", "air", "window", "w")
    struct.pack_into(f"{order}H6f", camera, 0, 2, *([0.0] * 6))
    struct.pack_into(f"{order}6f", camera, 32, *(values[name] for name in names))
    struct.pack_into(f"{order}f", camera, 60, values["h"])
    struct.pack_into(f"{order}3f", camera, 88, values["r1"], values["b"], values["f"])
    struct.pack_into(f"{order}5f", camera, 112, *AIR)
    struct.pack_into(f"{order}if", camera, 776, values["o"], values["r2"])
    camera[212:222], camera[260:264], camera[368:373] = b"FLIR SC660", b"4040", b"FOL38"
    struct.pack_into(f"{order}2I", camera, 900, seconds, milliseconds)
    struct.pack_into(f"{order}H", camera, 1124, values["rate"])
    data = struct.pack(f"{order}3H", 2, columns, rows) + bytes(26) + counts.astype(f"{order}u2").tobytes()
    head = bytearray(64)
    head[:14] = b"FFF\0ResearchIR"
    struct.pack_into(f"{order}4I", head, 20, 100, 64, 2, 3)
    table = struct.pack(f"{order}2H7I", 32, 0, 105, 1, 128, len(camera), 0, 0, 0)
    table += struct.pack(f"{order}2H7I", 1, 2, 100, 2, 128 + len(camera), len(data), 0, 0, 0)
    return bytes(head) + table + bytes(camera) + data


def seq(frames: np.ndarray = COUNTS, step: int = 20, **options) -> bytes:
    """Frames so many milliseconds apart."""
    start = 1339617128
    stamps = [divmod(step * i, 1000) for i in range(len(frames))]
    return b"".join(
        fff(frame, seconds=start + s, milliseconds=ms, **options) for frame, (s, ms) in zip(frames, stamps, strict=True)
    )


def ats(counts: np.ndarray = COUNTS, mark: str = "1400d5033400") -> bytes:
    """Header with the record of the camera and the settings, then frames with a row of marks each."""
    _, rows, columns = counts.shape
    source = bytearray(400)
    struct.pack_into("<2H", source, 80, columns, rows)
    source[142:152], source[190:194], source[206:211] = b"FLIR A8581", b"0815", b"50 mm"
    xml = b'<workspaceFileSettings><objectParameters emissivity="0.92" reflectedTemp="22.5" distance="0.4"/>'
    head = b"FLIR ATS-US File" + bytes(48) + b"SourceInfo".ljust(77, b"\0") + bytes(source) + xml
    head += b"</workspaceFileSettings>" + bytes(99)
    row = bytes.fromhex(mark).ljust(2 * columns, b"\7")
    return head + b"".join(row[: 2 * columns] + frame.astype("<u2").tobytes() for frame in counts)


def sfmov(values: np.ndarray = COUNTS) -> bytes:
    t, rows, columns = values.shape
    kind = "Flt32" if values.dtype.kind == "f" else "UInt16"
    text = f"SAF_HEADER 1\nxPixls {columns}\nyPixls {rows}\nNumDPs {t}\nDaType {kind}\nsaf_padding xxxx\nDATA\r\n"
    return text.encode() + values.astype("<f4" if kind == "Flt32" else "<u2").tobytes()


def tar_member(name: str, content: bytes, kind: bytes = b"0") -> bytes:
    head = bytearray(512)
    head[: len(name)] = name.encode()
    head[100:108], head[124:136] = b"0000644\0", f"{len(content):011o}\0".encode()
    head[148:156], head[156:157], head[257:265] = b" " * 8, kind, b"ustar\x0000"
    head[148:156] = f"{sum(head):06o}\0 ".encode()
    return bytes(head) + content + bytes(-len(content) % 512)


def edevis(
    counts: np.ndarray = COUNTS,
    *,
    kind: int = 2,
    table: np.ndarray | None = None,
    also: bytes = b"",
    times: bool = True,
) -> bytes:
    """A measurement with a lock-in image in sequence 0 and the frames in time in sequence 1."""
    t, rows, columns = counts.shape
    dtype = {0: "u1", 2: "<u2", 5: "<f4", 13: "<c8"}[kind]

    def frame(values: np.ndarray, kind: int, dtype: str) -> bytes:
        return b"DIFFJPBG00000001" + struct.pack("<3I", columns, rows, kind) + values.astype(dtype).tobytes()

    listed = "".join(
        f'<Frame TarFileHeaderDataOffset="0"><FrameIndex>{2**32 + i}</FrameIndex>'
        + (f"<FrameTime>{0.02 * i:.3f} s</FrameTime>" if times else "")
        + "</Frame>"
        for i in range(t)
    )
    xml = (
        '<?xml version="1.0" encoding="utf-16"?><Content><FileInfo/>'
        f'<Sequence id="0"><SequenceInfo><Window>0,0,{columns},{rows}</Window><DataType>13</DataType>'
        '<BitDepth>64</BitDepth></SequenceInfo><FrameInfo><Frame TarFileHeaderDataOffset="1024">'
        "<FrameIndex>0</FrameIndex><FourierFrequency>0.1 Hz</FourierFrequency></Frame></FrameInfo></Sequence>"
        '<Sequence id="1"><SequenceInfo><FrameRate>50Hz</FrameRate><CameraName>ImageIR 8300</CameraName>'
        "<Lens>25 mm</Lens><ExcitationPulseLength>0,5 s</ExcitationPulseLength></SequenceInfo>"
        f"<FrameInfo>{listed}</FrameInfo></Sequence></Content>"
    )
    members = [tar_member("HIDDEN TOC", b"", b"4"), bytes(512)]
    members.append(tar_member("sequence0/f0.bin", frame(counts[0], 13, "<c8")))
    if table is not None:
        members.append(tar_member("sequence1/calibration.bin", table.astype("<f4").tobytes()))
    members += [tar_member(f"sequence1/f{2**32 + i}.bin", frame(v, kind, dtype)) for i, v in enumerate(counts)]
    members.append(tar_member("content.xml", xml.encode("utf-16") + also))
    return b"".join(members) + bytes(1024)

"""Recognises media files by their first bytes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Literal, TypeAlias, get_args

from msgspec import Struct

MediaKind: TypeAlias = Literal["image", "video", "audio"]
"""Kinds of content that a model is shown besides text."""

MEDIA_KINDS: tuple[MediaKind, ...] = get_args(MediaKind)
"""All kinds, in the order in which messages list them."""

HEAD_BYTES = 512
"""How many bytes show the format."""
TAIL_BYTES = 12 * 1024
"""How far from the end of a file to search for the end of its picture, because other data may follow it."""


class MediaFormat(Struct, frozen=True):
    """A file format. Some contain only pictures or sound; containers may have either."""

    name: str
    """Short name, as APIs expect it with audio data: wav, mp3, …"""
    mimes: Mapping[MediaKind, str]
    """The MIME type for each kind that such a file can be, the more likely kind first."""

    @property
    def title(self) -> str:
        """For messages, with its article: `a PNG image`."""
        kind = next(iter(self.mimes))
        name = "QuickTime" if self.name == "mov" else self.name.upper()
        return f"{'an' if name[0] in 'AEFHILMNORSX' else 'a'} {name} {'' if len(self.mimes) > 1 else kind}".strip()


def _format(name: str, **mimes: str) -> MediaFormat:
    return MediaFormat(name, {kind: mimes[kind] for kind in mimes})  # type: ignore[misc]  # written below, each a kind


JPEG = _format("jpeg", image="image/jpeg")
PNG = _format("png", image="image/png")
GIF = _format("gif", image="image/gif")
WEBP = _format("webp", image="image/webp")
BMP = _format("bmp", image="image/bmp")
TIFF = _format("tiff", image="image/tiff")
AVIF = _format("avif", image="image/avif")
HEIC = _format("heic", image="image/heic")
SVG = _format("svg", image="image/svg+xml")
WAV = _format("wav", audio="audio/wav")
MP3 = _format("mp3", audio="audio/mpeg")
FLAC = _format("flac", audio="audio/flac")
AAC = _format("aac", audio="audio/aac")
AIFF = _format("aiff", audio="audio/aiff")
AMR = _format("amr", audio="audio/amr")
M4A = _format("m4a", audio="audio/mp4")
OGG = _format("ogg", audio="audio/ogg", video="video/ogg")
MP4 = _format("mp4", video="video/mp4", audio="audio/mp4")
MOV = _format("mov", video="video/quicktime")
WEBM = _format("webm", video="video/webm", audio="audio/webm")
MKV = _format("mkv", video="video/x-matroska", audio="audio/x-matroska")
AVI = _format("avi", video="video/x-msvideo")
MPEG = _format("mpeg", video="video/mpeg")
MPEG_TS = _format("ts", video="video/mp2t")
THREE_GP = _format("3gp", video="video/3gpp", audio="audio/3gpp")
FLV = _format("flv", video="video/x-flv")
WMV = _format("wmv", video="video/x-ms-wmv", audio="audio/x-ms-wma")

_STARTS: tuple[tuple[bytes, MediaFormat], ...] = (
    (b"\xff\xd8\xff", JPEG),
    (b"\x89PNG\r\n\x1a\n", PNG),
    (b"GIF87a", GIF),
    (b"GIF89a", GIF),
    (b"II*\x00", TIFF),
    (b"MM\x00*", TIFF),
    (b"ID3", MP3),
    (b"fLaC", FLAC),
    (b"OggS", OGG),
    (b"#!AMR", AMR),
    (b"FLV\x01", FLV),
    (b"\x00\x00\x01\xba", MPEG),
    (b"\x00\x00\x01\xb3", MPEG),
    (b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", WMV),
)
_RIFF = {b"WEBP": WEBP, b"WAVE": WAV, b"AVI ": AVI}
_BRANDS = {
    b"avif": AVIF, b"avis": AVIF, b"heic": HEIC, b"heix": HEIC, b"mif1": HEIC, b"msf1": HEIC, b"qt  ": MOV,
    b"M4A ": M4A, b"M4B ": M4A,
}  # fmt: skip
_QUICKTIME_BOXES = (b"moov", b"mdat", b"wide", b"pnot")
_ENDINGS = {
    "jpg": JPEG, "jpeg": JPEG, "png": PNG, "gif": GIF, "webp": WEBP, "bmp": BMP, "tif": TIFF, "tiff": TIFF,
    "avif": AVIF, "heic": HEIC, "heif": HEIC, "svg": SVG,
    "wav": WAV, "mp3": MP3, "flac": FLAC, "aac": AAC, "aif": AIFF, "aiff": AIFF, "amr": AMR, "m4a": M4A,
    "ogg": OGG, "oga": OGG, "opus": OGG, "ogv": OGG,
    "mp4": MP4, "m4v": MP4, "mov": MOV, "webm": WEBM, "mkv": MKV, "avi": AVI, "mpg": MPEG, "mpeg": MPEG,
    "ts": MPEG_TS, "3gp": THREE_GP, "flv": FLV, "wmv": WMV,
}  # fmt: skip
_NOT_MEDIA = (
    (b"version https://git-lfs", "a Git LFS pointer, not the file itself; fetch it with: git lfs pull"),
    (b"<!doctype html", "a web page; was the download refused?"),
    (b"<html", "a web page; was the download refused?"),
    (b"%pdf", "a PDF document; export its pages as images"),
    (b"pk\x03\x04", "a zip archive; unpack it"),
)


def sniff_media(head: bytes) -> MediaFormat | None:
    """The format that the first bytes of a file show; None if they show none.

    >>> sniff_media(b"RIFF....WAVEfmt ").name
    'wav'
    """
    for start, found in _STARTS:
        if head.startswith(start):
            return found
    if head[:4] == b"RIFF":
        return _RIFF.get(head[8:12])
    if head[:4] == b"FORM" and head[8:12] in (b"AIFF", b"AIFC"):
        return AIFF
    if head[4:8] == b"ftyp":
        brand = head[8:12]
        return THREE_GP if brand[:3] == b"3gp" else _BRANDS.get(brand, MP4)
    if head[4:8] in _QUICKTIME_BOXES:
        return MOV
    if head.startswith(b"\x1a\x45\xdf\xa3"):  # EBML; its DocType tells the two apart
        return WEBM if b"webm" in head[:64] else MKV
    if head.startswith(b"BM") and head[6:10] == b"\x00\x00\x00\x00" and len(head) > 14:
        return BMP
    if len(head) > 188 and head[0] == head[188] == 0x47:
        return MPEG_TS
    if b"<svg" in head.lower() and head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        return SVG
    return _mpeg_audio(head)


def cut_short(format: MediaFormat, head: bytes, tail: bytes, size: int) -> bool:
    r"""Whether a file ends before its format says it does, as after a download that broke off.

    >>> cut_short(PNG, b"\x89PNG\r\n\x1a\n", b"IDAT....", 8)
    True
    """
    if format is PNG:
        return b"IEND" not in tail
    if format is JPEG:
        return b"\xff\xd9" not in tail
    if format is GIF:
        return b";" not in tail[-16:]
    if format is WEBP:
        return int.from_bytes(head[4:8], "little") + 8 > size
    return False


def format_by_name(name: str) -> MediaFormat | None:
    """The format that the ending of a path or address names."""
    return _ENDINGS.get(PurePath(name).suffix.lower().lstrip("."))


def known_other(head: bytes) -> str | None:
    """A description of a file that is not media at all, with the cure; None if it is not recognised."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return next((what for begins, what in _NOT_MEDIA if start.startswith(begins)), None)


def _mpeg_audio(head: bytes) -> MediaFormat | None:
    """MP3 and AAC streams begin with eleven set bits; the layer bits that follow tell them apart."""
    if len(head) < 2 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:
        return None
    layer = head[1] & 0x06
    if layer == 0:
        return AAC if head[1] & 0xF0 == 0xF0 else None
    return MP3 if layer == 0x02 else None

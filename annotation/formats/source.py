"""Opening a file of unknown make: gzip and zip, encodings, line ends and sizes.

Line ends: LF and CRLF are read alike and always written as LF. A lone CR is a character of its
line. A byte order mark is dropped. Nothing is fetched: a source is an open binary stream.
"""

import codecs
import gzip
import io
import lzma
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any, BinaryIO, NoReturn, cast

from annotation.formats.records import FormatError, Problem, ReadOptions, Unreadable

_EPOCH = (1980, 1, 1, 0, 0, 0)  # members have no dates, so that equal answers make equal bytes
_COPY = 1 << 20
_BROKEN = (  # what the standard library raises on archives that are damaged or of a kind unknown
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
    OSError,
    EOFError,
    ValueError,
    zlib.error,
    lzma.LZMAError,
    struct.error,
)

GZIP_MAGIC = b"\x1f\x8b"
_CHUNK = 1 << 18
_NO_ENCODINGS = {"punycode", "idna", "undefined", "unicode_escape", "raw_unicode_escape", "utf-7"}
_NUL = "a NUL character, which no text has; is this a text file?"


class Source:
    """A file being read, in lines, in blocks of lines or in chunks; only a chunk is in memory."""

    def __init__(self, stream: BinaryIO, *, file_name: str, options: ReadOptions) -> None:
        self.file_name = file_name
        self.options = options
        self._bytes = _uncompressed(stream)
        self._chunks = self._decoded()
        self._pending = ""
        self.lacks_final_newline = False  # known once the last line is read
        self._line = 0  # lines handed out so far
        self._size = 0  # bytes read so far

    def problem(self, line: int, message: str) -> Problem:
        """A problem of this file."""
        return Problem(self.file_name, line, message)

    def stop(self, line: int, message: str) -> NoReturn:
        """Give up the file at a line."""
        raise Unreadable(self.problem(line, message))

    def head(self) -> str:
        """The beginning of the text, up to some hundred thousand characters; nothing is used up."""
        if not self._pending:
            self._pending = next(self._chunks, "")
        return self._pending

    def chunks(self) -> Iterator[str]:
        """The text in pieces of unspecified size."""
        if self._pending:
            yield self._pending
            self._pending = ""
        yield from self._chunks

    def lines(self) -> Iterator[str]:
        """Every line without its end."""
        for lines in self._lists_of_lines():
            yield from lines

    def blocks(self) -> Iterator[tuple[int, list[str]]]:
        """The runs of lines between blank lines, each with the number of its first line.

        Lines of white space alone count as blank.
        """
        block: list[str] = []
        for lines in self._lists_of_lines():
            if any(map(str.isspace, lines)):
                lines = ["" if line.isspace() else line for line in lines]
            start, number = 0, self._line + 1
            for _ in range(lines.count("")):
                end = lines.index("", start)
                block += lines[start:end]
                if block:
                    yield number + end - len(block), block
                    block = []
                start = end + 1
            block += lines[start:]
            self._check_block_length(block, number + len(lines))
        if block:
            yield self._line + 1 - len(block), block

    def read_bytes(self, size: int) -> bytes:
        """The next bytes, uncompressed, for formats that are no text."""
        return self._next_bytes(size)

    def _lists_of_lines(self) -> Iterator[list[str]]:
        rest = ""
        for chunk in self.chunks():
            lines = (rest + chunk).split("\n")
            rest = lines.pop()
            self._check_line_length(rest, self._line + len(lines) + 1)
            if "\r" in chunk or (lines and lines[0][-1:] == "\r"):
                lines = [line[:-1] if line[-1:] == "\r" else line for line in lines]
            yield lines
            self._line += len(lines)
        if rest:
            self.lacks_final_newline = True
            yield [rest.removesuffix("\r")]
            self._line += 1

    def _decoded(self) -> Iterator[str]:
        decoder = _decoder(self.options.encoding)
        data = b"\n"
        while data:
            data = self._next_bytes(_CHUNK)
            try:
                text = decoder.decode(data, not data)
            except UnicodeDecodeError as error:
                yield _up_to_the_fault(decoder, data)
                self.stop(self._line + 1, _undecodable(error))
            except UnicodeError as error:
                self.stop(self._line + 1, _without_mark(self.options.encoding, error))
            if "\0" in text:
                yield text.partition("\0")[0]
                self.stop(self._line + 1, _NUL)
            if text:
                yield text

    def _next_bytes(self, size: int) -> bytes:
        try:
            data = self._bytes.read(size)
        except EOFError:
            self.stop(
                self._line + 1, "the gzip data ends too early; the file was cut, copy it again"
            )
        except (zlib.error, gzip.BadGzipFile) as error:
            self.stop(self._line + 1, f"cannot be uncompressed ({error}); copy the file again")
        self._size += len(data)
        most = self.options.limits.file_bytes
        if self._size > most:
            self.stop(
                self._line + 1,
                f"more than {most:,} bytes uncompressed, the limit for one file; split the file",
            )
        return data

    def _check_block_length(self, block: list[str], end: int) -> None:
        tokens = self.options.limits.sentence_tokens
        most = 2 * tokens + 1_000  # comments and other rows come on top of the tokens
        if len(block) > most:
            self.stop(
                end - len(block),
                f"more than {most:,} lines without a blank line, but a sentence has at most "
                f"{tokens:,} tokens; separate the sentences by blank lines",
            )

    def _check_line_length(self, line: str, number: int) -> None:
        most = self.options.limits.line_characters
        if len(line) > most:
            self.stop(number, f"a line of more than {most:,} characters, the limit; break the line")


def decode_whole(data: bytes, encoding: str) -> str:
    """The text of a file that is small enough to be read at once; raises ValueError.

    A byte order mark is left in, because offsets may count it.
    """
    _decoder(encoding)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise ValueError(_undecodable(error)) from error
    except UnicodeError as error:
        raise ValueError(_without_mark(encoding, error)) from error
    if "\0" in text:
        raise ValueError(_NUL)
    return text


def _uncompressed(stream: BinaryIO) -> BinaryIO:
    """The stream, or what is in it when it begins like gzip."""
    if stream.seekable():
        start = stream.tell()
        magic = stream.read(2)
        stream.seek(start)
        whole = stream
    else:
        magic = stream.read(2)
        whole = io.BufferedReader(_Replayed(magic, stream))
    if magic == GZIP_MAGIC:
        return cast(BinaryIO, gzip.GzipFile(fileobj=whole, mode="rb"))
    return whole


class _Replayed(io.RawIOBase):
    """A stream that cannot seek, with the bytes already taken from it put back in front."""

    def __init__(self, taken: bytes, stream: BinaryIO) -> None:
        self._taken = taken
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._taken or self._stream.read(len(buffer))
        self._taken = data[len(buffer) :] if self._taken else b""
        data = data[: len(buffer)]
        buffer[: len(data)] = data
        return len(data)


def _decoder(encoding: str) -> codecs.IncrementalDecoder:
    try:
        name = codecs.lookup(encoding).name
        if name in _NO_ENCODINGS:
            raise LookupError(name)
        "".encode(name)
        return codecs.getincrementaldecoder("utf-8-sig" if name == "utf-8" else name)("strict")
    except (LookupError, TypeError, ValueError) as error:
        raise FormatError(
            f"No text encoding '{encoding}'. Known: utf-8, utf-16, latin-1, cp1252, shift_jis, "
            "gb18030 and all others of Python's codecs."
        ) from error


def _up_to_the_fault(decoder: codecs.IncrementalDecoder, data: bytes) -> str:
    decoder.errors = "replace"
    try:
        return decoder.decode(data, True).partition("\ufffd")[0]
    except UnicodeError:  # without a byte order mark there is no beginning
        return ""


def _without_mark(encoding: str, error: UnicodeError) -> str:
    return (
        f"the file is not {encoding}: {error}; state the order of bytes, as utf-16-le or "
        "utf-16-be, or save the file as UTF-8"
    )


def _undecodable(error: UnicodeDecodeError) -> str:
    found = error.object[error.start : error.start + 2]
    if found in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return "the file begins like UTF-16, not UTF-8; state its encoding: utf-16"
    return (
        f"byte 0x{error.object[error.start]:02x} is not {error.encoding}; save the file as UTF-8 "
        "or state its encoding (latin-1, cp1252, utf-16, ...)"
    )


def open_archive(source: Source) -> zipfile.ZipFile:
    """The archive in a file; gives up the file if it is none, too large or names bad paths."""
    try:
        archive = zipfile.ZipFile(_seekable(source))
    except _BROKEN as error:
        source.stop(1, f"no zip archive ({error}); put the .txt and .ann files into a zip")
    limits = source.options.limits
    members = archive.infolist()
    if len(members) > limits.archive_members:
        source.stop(1, f"{len(members):,} members, at most {limits.archive_members:,} are allowed")
    total = sum(member.file_size for member in members)
    if total > limits.file_bytes:
        source.stop(1, f"{total:,} bytes uncompressed, at most {limits.file_bytes:,} are allowed")
    for member in members:
        path = PurePosixPath(member.filename)
        if path.is_absolute() or ".." in path.parts or "\\" in member.filename:
            source.stop(1, f"member {member.filename[:80]!r} is no path within the archive")
    return archive


def read_member(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    """The bytes of a member; raises ValueError with the reason where they cannot be had."""
    member = archive.getinfo(name)
    if member.flag_bits & 1:
        raise ValueError("the member is encrypted; make an archive without a password")
    if member.file_size > most:
        raise ValueError(f"{member.file_size:,} bytes, at most {most:,} are allowed for a document")
    try:
        with archive.open(member) as file:
            data = file.read(most + 1)
    except _BROKEN as error:
        raise ValueError(f"cannot be uncompressed ({error}); make the archive again") from error
    if len(data) > most:
        raise ValueError(f"more than {most:,} bytes, the limit for a document")
    return data


def write_archive(members: Iterable[tuple[str, str]]) -> Iterator[bytes]:
    """The bytes of an archive of texts by name, member by member."""
    sink = _Sink()
    with zipfile.ZipFile(cast(BinaryIO, sink), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members:
            info = zipfile.ZipInfo(name, _EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, text)
            yield sink.take()
    yield sink.take()


def write_files(members: Iterable[tuple[str, BinaryIO | bytes, bool]]) -> Iterator[bytes]:
    """The bytes of an archive of files by name, in pieces; the third says whether to compress."""
    sink = _Sink()
    with zipfile.ZipFile(cast(BinaryIO, sink), "w") as archive:
        for name, content, is_packed in members:
            info = zipfile.ZipInfo(name, _EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED if is_packed else zipfile.ZIP_STORED
            stream = io.BytesIO(content) if isinstance(content, bytes) else content
            with archive.open(info, "w", force_zip64=not isinstance(content, bytes)) as member:
                while data := stream.read(_COPY):
                    member.write(data)
                    yield sink.take()
    yield sink.take()


def bundle(files: Iterable[tuple[str, BinaryIO]]) -> BinaryIO:
    """An archive of open files by name, for what is handed in as several files."""
    target = tempfile.SpooledTemporaryFile(max_size=16 * _COPY)  # noqa: SIM115
    with zipfile.ZipFile(target, "w") as archive:
        for name, stream in files:
            with archive.open(zipfile.ZipInfo(name, _EPOCH), "w") as member:
                while data := stream.read(_COPY):
                    member.write(data)
    target.seek(0)
    return cast(BinaryIO, target)


def _seekable(source: Source) -> BinaryIO:
    """The source's bytes as a file that can seek, which is how archives are read."""
    copy = tempfile.SpooledTemporaryFile(max_size=16 * _COPY)  # noqa: SIM115
    while data := source.read_bytes(_COPY):
        copy.write(data)
    copy.seek(0)
    return cast(BinaryIO, copy)


class _Sink(io.RawIOBase):
    """Takes what a writer gives and hands it on; it cannot seek, so archives are streamed."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self._parts.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        """What has been written since the last time."""
        data, self._parts = b"".join(self._parts), []
        return data

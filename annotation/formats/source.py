"""Opening a file of unknown make: gzip, encodings, line ends and sizes.

Line ends: LF and CRLF are read alike and always written as LF. A lone CR is a character of its
line. A byte order mark is dropped. Nothing is fetched: a source is an open binary stream.
"""

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, NoReturn, cast

from annotation.formats.options import ReadOptions
from annotation.formats.records import FormatError, Problem, Unreadable

GZIP_MAGIC = b"\x1f\x8b"
_CHUNK = 1 << 18
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
                decoder.errors = "replace"
                yield decoder.decode(data, True).partition("\ufffd")[0]
                self.stop(self._line + 1, _undecodable(error))
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
        "".encode(name)
        return codecs.getincrementaldecoder("utf-8-sig" if name == "utf-8" else name)("strict")
    except (LookupError, TypeError) as error:
        raise FormatError(
            f"No text encoding '{encoding}'. Known: utf-8, utf-16, latin-1, cp1252, shift_jis, "
            "gb18030 and all others of Python's codecs."
        ) from error


def _undecodable(error: UnicodeDecodeError) -> str:
    found = error.object[error.start : error.start + 2]
    if found in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return "the file begins like UTF-16, not UTF-8; state its encoding: utf-16"
    return (
        f"byte 0x{error.object[error.start]:02x} is not {error.encoding}; save the file as UTF-8 "
        "or state its encoding (latin-1, cp1252, utf-16, ...)"
    )

"""File formats: one module per format, pure: a stream -> records, records -> bytes.

format = get_format("conllu")
for item in format.read(stream, file_name="dev.conllu", options=ReadOptions()):
    ...  # a SentenceRecord, or a Problem whose str is "file:line: what, value, remedy"

mapping = match_layers(format.layers, tasks)       # task name -> layer name
extra = format.remainder(record, mapping.values())  # what to store beside the answers

for piece in format.write(export_records, options=WriteOptions(tasks=tasks)):
    file.write(piece)                               # bytes; CannotWrite instead of a loss
"""

from annotation.formats.format import Format, detect, formats, get_format, readable_formats
from annotation.formats.records import (
    CannotWrite,
    ExportRecord,
    FormatError,
    Layer,
    Limits,
    Problem,
    ReadOptions,
    SentenceRecord,
    WriteOptions,
    layer_spec,
    match_layers,
)

__all__ = [
    "CannotWrite",
    "ExportRecord",
    "Format",
    "FormatError",
    "Layer",
    "Limits",
    "Problem",
    "ReadOptions",
    "SentenceRecord",
    "WriteOptions",
    "detect",
    "formats",
    "get_format",
    "layer_spec",
    "match_layers",
    "readable_formats",
]

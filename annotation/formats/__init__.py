"""File formats: one module per format, pure: a stream -> records, records -> bytes."""

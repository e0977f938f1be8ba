"""Static files under names that change with their content, imports between scripts included."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class StaticStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Compressed files that a browser may keep for ever.

    Scripts import each other by hashed names too; otherwise each would be fetched twice, once for
    the preload and once, stale for a minute, for the import.
    """

    support_js_module_import_aggregation = True

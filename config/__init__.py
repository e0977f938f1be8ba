"""Settings, URLs and the version of an installation."""

VERSION = "0.1.0"

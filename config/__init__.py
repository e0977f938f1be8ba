"""Settings, URLs and the version of an installation."""

VERSION = "0.2.0.dev0"  # of server, engine and client: nowhere else

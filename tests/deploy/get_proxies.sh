#!/bin/sh
# Make nginx and Caddy available below a folder, unpacked from the distribution's packages and not installed.
# Each appears whole by one rename: others may be starting it, or unpacking it too.
set -e
mkdir -p "$1"
cd "$1"
for name in nginx caddy; do
    if ! command -v "$name" >/dev/null 2>&1 && [ ! -d "$name" ]; then
        mine=$(mktemp -d "$PWD/unpacking.XXXXXX")
        (cd "$mine" && apt-get download -qq "$name" 2>/dev/null && dpkg -x "$name"_*.deb files)
        mv -T "$mine/files" "$name" 2>/dev/null || true # somebody else was first
        rm -r "$mine"
    fi
done

#!/bin/sh
# Make nginx and Caddy available below a folder, unpacked from the distribution's packages and not installed.
set -e
mkdir -p "$1"
cd "$1"
for name in nginx caddy; do
    if ! command -v "$name" >/dev/null 2>&1 && [ ! -x "usr/sbin/$name" ] && [ ! -x "usr/bin/$name" ]; then
        apt-get download -qq "$name" 2>/dev/null
        dpkg -x "$name"_*.deb .
    fi
done

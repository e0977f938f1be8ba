#!/bin/sh
# Make a Chromium available to the browser tests: the system's, else the distribution's, else Playwright's.
# The headless shell is the same engine at half the cost; where it cannot be had, a whole browser does.
set -e
FONTS="fonts-dejavu-core fonts-noto-cjk fonts-noto-color-emoji"
if command -v chromium-headless-shell >/dev/null 2>&1; then exit 0; fi
have=""
for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null 2>&1; then have="$name"; fi
done
if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
    quick="-o Acquire::Retries=1 -o Acquire::http::Timeout=10"
    install="apt-get install -y -qq --no-install-recommends $quick"
    export DEBIAN_FRONTEND=noninteractive
    if [ -z "$have" ]; then apt-get update -qq $quick; fi
    # A distribution may not have the shell.
    if $install chromium-headless-shell $FONTS >/dev/null 2>&1; then exit 0; fi
    if [ -n "$have" ]; then exit 0; fi
    $install chromium $FONTS >/dev/null
    exit 0
fi
if [ -n "$have" ]; then exit 0; fi
"$1" install chromium

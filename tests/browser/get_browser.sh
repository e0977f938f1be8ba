#!/bin/sh
# Make a Chromium available to the browser tests: the system's, else the distribution's, else Playwright's.
set -e
for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null 2>&1; then exit 0; fi
done
if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        chromium fonts-dejavu-core fonts-noto-cjk fonts-noto-color-emoji >/dev/null
    exit 0
fi
"$1" install chromium

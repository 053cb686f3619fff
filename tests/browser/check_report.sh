#!/bin/sh
# Opens HTML reports in Chromium: tests/browser/check_report.sh [-o SCREENSHOT_DIR] REPORT.html...
#
# Needs chromium (CHROMIUM=… names another one than /usr/bin/chromium), node ≥ 18 and npm. The two packages that drive and
# check the page are installed outside the tree, at these versions, and kept for the next time.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
modules=${XDG_CACHE_HOME:-$HOME/.cache}/dowbench-browser/playwright-core-1.65.1-axe-core-4.14.1
if [ ! -e "$modules/done" ]; then
  mkdir -p "$modules"
  npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$modules" playwright-core@1.65.1 axe-core@4.14.1
  touch "$modules/done"
fi
MODULES=$modules exec node "$here/check_report.mjs" "$@"

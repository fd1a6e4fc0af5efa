#!/bin/sh
# Draws pages of reports in headless Chromium, light and dark, wide and on a phone, and looks at what came of it: the script
# must come to its end, every picture must have something on it, and nothing may be wider than the page.
# KEEP=DIR keeps the pictures.
set -eu

browser=$(command -v chromium || command -v chromium-browser || true)
if [ -z "$browser" ]; then
    echo "SKIP: no Chromium"
    exit 77
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
pictures=${KEEP:-$tmp}
failed=0
fail() {
    echo "FAIL: $*"
    failed=1
}
open_page() { # page, width, height, more arguments
    drawn=$1 size="$2,$3"
    shift 3
    timeout 100 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$tmp/profile" \
        --virtual-time-budget=5000 --window-size="$size" "$@" "file://$tmp/$drawn" 2>/dev/null
}

options=
[ "$SAGO_MPI" != openmpi ] || options="--oversubscribe --allow-run-as-root"
SAGO_MADE_UP=$tmp/many.html "$SAGO_BUILD/tests/unit/trace/test_rank_record" >out 2>&1 || fail "the made-up record: $(cat out)"
# shellcheck disable=SC2086
SAGO_REPORT=job.html "$SAGO_MPIEXEC" $options -n 4 "$SAGO_BUILD/bin/sago" bench block3d --dims 64x64x64 --engines sago \
    --repeat 5 --hint sago_strategy=aggregated --dir "$tmp" >out 2>&1 || fail "the job: $(cat out)"
"$SAGO_BUILD/bin/sago" report --compare --html two.html job.json job.json 2>out || fail "two runs: $(cat out)"

# A copy of the page that also measures itself, and writes down what it found.
for page in job many two; do
    sed 's#document.documentElement.dataset.drawn = "yes";#&\
const flat = [...document.querySelectorAll("canvas")].filter(c => new Set(new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer)).size < 3).length;\
document.documentElement.dataset.flat = flat; document.documentElement.dataset.pictures = document.querySelectorAll("canvas, svg").length;\
document.documentElement.dataset.cut = [...document.querySelectorAll("canvas, svg")].filter(p => p.getBoundingClientRect().right > innerWidth + 1).length;\
document.documentElement.dataset.over = Math.max(0, document.documentElement.scrollWidth - innerWidth);#' "$page.html" >"$page-measured.html"
    for width in 1200 390; do
        open_page "$page-measured.html" $width 2400 --dump-dom >"$page.dom" || fail "$page at $width"
        head=$(grep -o '<html[^>]*>' "$page.dom" | head -1)
        echo "$page, $width wide: $head"
        case $head in *'data-drawn="yes"'*) ;; *) fail "$page: the script did not come to its end" ;; esac
        case $head in *'data-flat="0"'*) ;; *) fail "$page: a picture with nothing on it" ;; esac
        case $head in *'data-over="0"'*) ;; *) fail "$page: wider than a page of $width" ;; esac
        case $head in *'data-cut="0"'*) ;; *) fail "$page: a picture that $width do not show to its end" ;; esac
        case $head in *'data-pictures="0"'*) fail "$page: no pictures" ;; esac
        open_page "$page.html" $width 2400 --screenshot="$pictures/$page-$width.png" >/dev/null || fail "no picture of $page"
    done
    open_page "$page.html" 1200 2400 --blink-settings=preferredColorScheme=0 --screenshot="$pictures/$page-dark.png" >/dev/null ||
        fail "no dark picture of $page"
    if cmp -s "$pictures/$page-dark.png" "$pictures/$page-1200.png"; then fail "$page: dark is as light"; fi
    open_page "$page.html" 1200 2400 --no-pdf-header-footer --print-to-pdf="$pictures/$page.pdf" >/dev/null || fail "$page: not printed"
    [ -s "$pictures/$page.pdf" ] || fail "$page: nothing was printed"
done
exit $failed

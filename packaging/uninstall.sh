#!/bin/sh
# uninstall.sh MANIFEST: removes the files that `make install` has written down, and the folders that are empty then.
set -eu
if [ ! -f "$1" ]; then
    echo "make uninstall: nothing was installed from this build tree ($1)" >&2
    exit 1
fi
files=0
while IFS= read -r file || [ -n "$file" ]; do
    if [ -e "${DESTDIR:-}$file" ] || [ -L "${DESTDIR:-}$file" ]; then
        rm -f "${DESTDIR:-}$file"
        files=$((files + 1))
    fi
    case $file in
    */sago/* | */doc/*) rmdir -p --ignore-fail-on-non-empty "$(dirname "${DESTDIR:-}$file")" 2>/dev/null || true ;;
    esac
done <"$1"
if [ "$files" -eq 0 ]; then
    echo "make uninstall: none of the files is there any more that were installed ($1)" >&2
    exit 1
fi
rm "$1"
echo "$files files removed"

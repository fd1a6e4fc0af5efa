#!/bin/sh
# uninstall.sh MANIFEST: removes the files that `make install` has written down, and the folders that are empty then.
set -eu
if [ ! -f "$1" ]; then
    echo "make uninstall: nothing was installed from this build tree ($1)" >&2
    exit 1
fi
# Of a prefix that others share only folders of Sago's own go; else all that are empty then, up to the prefix.
prefix=$(sed -n 's,/bin/sago$,,p' "$1")
case $prefix in
"" | /usr | /usr/local) prefix= ;;
esac
remove_folders() { # the folder of a file
    folder=$1
    while case $folder in */sago | */sago/* | */sago-gio | */doc/*) true ;; *) [ -n "$prefix" ] ;; esac &&
        rmdir "${DESTDIR:-}$folder" 2>/dev/null && [ "$folder" != "$prefix" ]; do
        folder=$(dirname "$folder")
    done
}
files=0
while IFS= read -r file || [ -n "$file" ]; do
    if [ -e "${DESTDIR:-}$file" ] || [ -L "${DESTDIR:-}$file" ]; then
        rm -f "${DESTDIR:-}$file"
        files=$((files + 1))
    fi
    remove_folders "$(dirname "$file")"
done <"$1"
if [ "$files" -eq 0 ]; then
    echo "make uninstall: none of the files is there any more that were installed ($1)" >&2
    exit 1
fi
rm "$1"
echo "$files files removed"

#!/bin/bash
# Checkpoints on storage that hangs, at every kind of call and with a server that is stopped.
#     hang.sh [--sample | WHERE[:PART]...]     WHERE: global, local, only; PART: run, open, leave, rbio, coio, redundant
# Without a PART it is all of them, which takes longer than a quarter of an hour.
# A call that takes longer than HANG_PATIENCE seconds counts as hung: 1, more on a busy machine.
# Needs root, /dev/fuse and libfuse3; where they are missing it says so and exits with 77.
set -u

hangfs=$SAGO_BUILD/tests/hang/hangfs
skip() {
    echo "SKIP: $1"
    exit 77
}
[ -x "$hangfs" ] || skip "hangfs was not built: libfuse3 is missing (Debian: libfuse3-dev)"
[ -c /dev/fuse ] || skip "there is no /dev/fuse"
[ "$(id -u)" = 0 ] || skip "mounting needs root"

root=/tmp
[ -w /dev/shm ] && root=/dev/shm
work=$(mktemp -d "$root/sago-test.XXXXXX")
exec 9<"$work"
flock -n 9
servers=
finish() {
    for place in global local; do
        : >"$work/$place.control"
        umount -l "$work/$place" 2>/dev/null
    done
    for server in $servers; do
        kill -CONT "$server" 2>/dev/null
        kill -KILL "$server" 2>/dev/null
    done
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' HUP INT TERM

for place in global local; do
    mkdir "$work/$place" "$work/$place.behind"
    "$hangfs" "$work/$place.behind" "$work/$place" "$work/$place.control" 9<&- >"$work/$place.out" 2>&1 &
    server=$!
    servers="$servers $server"
    for ((i = 0; i < 100; i++)); do
        mountpoint -q "$work/$place" && break
        sleep 0.05
    done
    mountpoint -q "$work/$place" || skip "a FUSE file system cannot be mounted here: $(head -c 200 "$work/$place.out")"
    declare -x "HANG_DIR_${place^^}=$work/$place" "HANG_CONTROL_${place^^}=$work/$place.control"
    declare -x "HANG_SERVER_${place^^}=$server"
done

release() {
    for place in global local; do
        : >"$work/$place.control"
    done
    for server in $servers; do
        kill -CONT "$server"
    done
}

# The kernel keeps a process while a call of it is with the server; so it is let go when all ranks have come to their end.
release_when_left() {
    local patience=1200
    while [ "$(find "$work/left" -type f | wc -l)" -lt "$1" ] && [ $patience -gt 0 ]; do
        sleep 0.1
        patience=$((patience - 1))
    done
    [ $patience -gt 0 ] || echo "FAIL: not all ranks came to their end while it hung" | tee "$work/stayed"
    release
}

mkdir "$work/left" # in a folder of its own: who looks at the mount points hangs, too
export HANG_LEFT=$work/left/rank
failed=0
# campaign RANKS PHASE WHERE STYLE KIND...
campaign() {
    local watcher=
    rm -rf "$work"/left/* "$work/stayed" "$work"/global.behind/* "$work"/local.behind/*
    if [ "$2" = leave ]; then
        release_when_left "$1" 9<&- &
        watcher=$!
    fi
    if ! "$SAGO_SOURCE/tests/run-mpi.sh" -t $((200 + 100 * ${HANG_PATIENCE:-1})) "$1" "$SAGO_BUILD/tests/hang/ckpt_hang" "${@:2}" 9<&-; then
        echo "FAIL: $*"
        failed=1
    fi
    [ -z "$watcher" ] || wait "$watcher"
    [ ! -e "$work/stayed" ] || failed=1
    release
}

kinds="getattr open create read write flush fsync mkdir unlink rename opendir readdir fsyncdir statfs all stopped"
# hang_part WHERE PART
hang_part() {
    local kind
    case $2 in
    run) campaign 2 run "$1" threaded $kinds ;;
    open) campaign 2 open "$1" threaded $kinds link access ;;
    leave)
        for kind in $kinds; do
            campaign 3 leave "$1" threaded "$kind"
        done
        ;;
    rbio | coio | redundant)
        [ "$2 $1" != "redundant only" ] || return # it is on local storage
        campaign 3 run "$1" "$2" create write fsync rename read opendir all stopped
        campaign 3 leave "$1" "$2" write
        campaign 3 leave "$1" "$2" stopped
        ;;
    *)
        echo "FAIL: there is no part $2"
        failed=1
        ;;
    esac
}

if [ "${1:-}" = --sample ]; then
    campaign 2 run global threaded stopped
    campaign 2 run local redundant write
    campaign 2 leave only threaded write
else
    [ $# -gt 0 ] || set -- global local only
    for piece in "$@"; do
        where=${piece%%:*} parts=${piece#*:}
        [ "$parts" != "$piece" ] || parts="run open leave rbio coio redundant"
        for part in $parts; do
            hang_part "$where" "$part"
        done
    done
fi
grep -h hung "$work"/*.control.log 2>/dev/null | sort | uniq -c
grep -q hung "$work"/*.control.log || [ "${1:-}" = --sample ] || { echo "FAIL: nothing ever hung"; failed=1; }
exit $failed

#!/bin/bash
# A real CephFS: a monitor, two OSDs on files, a metadata server, mounted by ceph-fuse.  Files get the stripes that
# the hints ask for, plans follow the live layout (domains of whole stripes, one aggregator a storage target), and the
# bytes are right.
#     check_ceph.sh [SEEDS [FIRST]]
set -euo pipefail
# shellcheck source=tests/storage/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
for tool in ceph ceph-mon ceph-mgr ceph-osd ceph-mds ceph-fuse getfattr; do
    command -v $tool >/dev/null || storage_skip "no $tool"
done
storage_enter "$0" "$@"

CONF=$AREA/ceph.conf
FS=$AREA/fs

start_ceph() {
    local fsid i
    fsid=$(cat /proc/sys/kernel/random/uuid)
    mkdir -p $AREA/{mon,mgr,osd0,osd1,mds,run,log} $FS
    cat >$CONF <<END
[global]
fsid = $fsid
mon host = 127.0.0.1
auth cluster required = none
auth service required = none
auth client required = none
osd pool default size = 1
osd pool default min size = 1
osd crush chooseleaf type = 0
mon allow pool size one = true
mon warn on pool no redundancy = false
osd objectstore = bluestore
bluestore block size = 1073741824
bluestore block create = true
mon data = $AREA/mon
osd data = $AREA/osd\$id
mds data = $AREA/mds
mgr data = $AREA/mgr
run dir = $AREA/run
admin socket = $AREA/run/\$name.asok
pid file = $AREA/run/\$name.pid
log file = $AREA/log/\$name.log
keyring = $AREA/keyring
setuser match path =
END
    export CEPH_CONF=$CONF
    ceph-authtool --create-keyring $AREA/keyring --gen-key -n mon. --cap mon 'allow *' >/dev/null
    monmaptool --create --clobber --fsid "$fsid" --addv a '[v2:127.0.0.1:3300,v1:127.0.0.1:6789]' $AREA/monmap >/dev/null
    ceph-mon -c $CONF --mkfs -i a --monmap $AREA/monmap --keyring $AREA/keyring
    ceph-mon -c $CONF -i a
    storage_wait 20 timeout 3 ceph -c $CONF quorum_status
    ceph-mgr -c $CONF -i a >/dev/null 2>&1 # without it the file system has no free space
    for i in 0 1; do
        local uuid
        uuid=$(cat /proc/sys/kernel/random/uuid)
        timeout 10 ceph -c $CONF osd new "$uuid" >/dev/null
        ceph-osd -c $CONF -i $i --mkfs --osd-uuid "$uuid" 2>/dev/null
        ceph-osd -c $CONF -i $i >/dev/null 2>&1
    done
    timeout 10 ceph -c $CONF osd pool create meta 4 >/dev/null 2>&1
    timeout 10 ceph -c $CONF osd pool create data 16 >/dev/null 2>&1
    timeout 10 ceph -c $CONF fs new fs meta data >/dev/null 2>&1
    ceph-mds -c $CONF -i a >/dev/null
    storage_wait 40 sh -c "timeout 3 ceph -c $CONF fs status 2>/dev/null | grep -q active ||
        timeout 3 ceph -c $CONF mds stat | grep -q up:active"
    ceph-fuse -c $CONF --fuse_disable_pagecache=true $FS >/dev/null 2>&1
    storage_wait 10 mountpoint -q $FS
    storage_wait 40 sh -c "[ \$(stat -f -c %a $FS) -gt 0 ]"
}

layout_of() { getfattr --absolute-names --only-values -n ceph.file.layout "$1"; }

# The plan of a collective write to a file of 2 stripes of 1 MiB; sago bench verifies every byte.
check_striped() {
    local out=$AREA/out.json file
    mkdir $FS/striped
    storage_run $FS/striped "$SAGO_BUILD/bin/sago" bench interleaved --block 64K --transfer 64K --segments 64 \
        --engines sago --dir . --repeat 2 --warmup 0 --cold 1 --keep --hint striping_unit=1M --hint striping_factor=2 \
        --hint sago_strategy=aggregated --json $out
    file=$(find $FS/striped -type f | head -1)
    echo "layout of the file: $(layout_of "$file")"
    layout_of "$file" | grep -q '^stripe_unit=1048576 stripe_count=2 object_size=4194304 ' ||
        storage_fail "the striping hints were not applied"
    python3 - $out <<'END'
import json, sys
decision = [e for e in json.load(open(sys.argv[1]))["engines"] if e["name"] == "sago"][0]["stats"]["decision"]
print(decision)
assert "aggregators: 2, for 2 storage targets" in decision, "not one aggregator a storage target"
assert "window: 1 MiB, stripes are 1 MiB" in decision, "domains are not whole stripes"
END
    rm -r $FS/striped
}

start_ceph
echo "CephFS is up after $SECONDS s"
check_striped
mkdir $FS/oracle
storage_run $FS/oracle "$SAGO_BUILD/tests/mpi/test_oracle" --seeds "${1:-5}" --first "${2:-1}" --patience 200
echo "passed"

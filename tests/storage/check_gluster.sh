#!/bin/bash
# A real GlusterFS: a distributed volume of four bricks, mounted twice; even ranks go through one mount, odd ranks through
# the other, as on two nodes, and the bytes are right.
#     check_gluster.sh [SEEDS]
set -euo pipefail
# shellcheck source=tests/storage/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
for tool in gluster glusterd glusterfs; do
    command -v $tool >/dev/null || storage_skip "no $tool"
done
storage_enter "$0" "$@"

HOST=10.92.0.1 # it takes no loopback address, but one of the loopback device

start_gluster() {
    local dir option bricks=()
    ip addr add $HOST/24 dev lo
    for dir in /run /var/lib/glusterd /var/log/glusterfs; do
        mount -t tmpfs own $dir
    done
    mkdir -p /run/gluster $AREA/brick{1..4} $AREA/fs1 $AREA/fs2
    glusterd --log-level ERROR
    storage_wait 20 timeout 5 gluster --mode=script pool list
    for dir in $AREA/brick{1..4}; do bricks+=("$HOST:$dir/data"); done
    gluster --mode=script volume create sago "${bricks[@]}" force >/dev/null
    # What makes another mount see a write at once.
    for option in quick-read io-cache stat-prefetch read-ahead write-behind open-behind readdir-ahead; do
        gluster --mode=script volume set sago performance.$option off >/dev/null
    done
    gluster --mode=script volume start sago >/dev/null
    for dir in fs1 fs2; do
        glusterfs --volfile-server=$HOST --volfile-id=sago --direct-io-mode=enable --attribute-timeout=0 \
            --entry-timeout=0 --negative-timeout=0 $AREA/$dir
        storage_wait 20 mountpoint -q $AREA/$dir
    done
}

start_gluster
echo "GlusterFS is up after $SECONDS s"
mkdir $AREA/fs1/oracle
[ -d $AREA/fs2/oracle ] || storage_fail "the mounts do not show the same"

# Under the first mount's path odd ranks see the second mount.
cat >$AREA/own_mount <<END
#!/bin/sh
rank=\${PMI_RANK:-\$OMPI_COMM_WORLD_RANK}
[ \$((rank % 2)) = 0 ] || mount --bind $AREA/fs2 $AREA/fs1
cd $AREA/fs1/oracle
exec "\$@"
END
chmod +x $AREA/own_mount
storage_run $AREA/fs1/oracle unshare --mount --propagation private $AREA/own_mount \
    "$SAGO_BUILD/tests/mpi/test_oracle" --seeds "${1:-6}" --first 1 --patience 200
storage_run $AREA/fs1 "$SAGO_BUILD/bin/sago" bench block3d --dims 32 --engines sago --dir . --repeat 1 --warmup 0 --cold 1
echo "passed"

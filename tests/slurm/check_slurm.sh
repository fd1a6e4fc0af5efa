#!/bin/bash
# check_slurm.sh: a Slurm of its own with one node, on which the job script of examples/slurm_requeue.sh runs to its end: it
# checkpoints, is told that its time is over, requeues itself, and goes on until the simulation is done.  As root.
#
# Run by `make check-slurm` with SAGO_MPI, SAGO_BUILD and SAGO_SOURCE set.
set -euo pipefail

[ "$(id -u)" = 0 ] || { echo "SKIP: needs root"; exit 77; }
for program in munged slurmctld slurmd sbatch scontrol; do
    command -v $program >/dev/null || { echo "SKIP: no $program (tools/deps.sh slurm)"; exit 77; }
done

area=$(mktemp -d /tmp/sago-slurm.XXXXXX)
chmod 755 "$area"
pids=()
finish() {
    trap '' INT TERM
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    for _ in $(seq 20); do
        alive=0
        for pid in "${pids[@]}"; do ! kill -0 "$pid" 2>/dev/null || alive=1; done
        [ $alive = 1 ] || break
        sleep 0.25
    done
    for pid in "${pids[@]}"; do kill -KILL "$pid" 2>/dev/null || true; done
    rm -rf "$area"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM
fail() {
    echo "FAIL: $*"
    tail -n 20 "$area"/*.log "$area"/work/*.out 2>/dev/null || true
    exit 1
}

# ---- A Slurm of our own: ports, sockets and state of its own ----

port=$((20000 + RANDOM % 20000))
host=$(hostname -s)
mkdir "$area/state" "$area/spool" "$area/work" "$area/munge"
chown munge:munge "$area/munge"
dd if=/dev/urandom of="$area/munge/key" bs=1024 count=1 status=none
chown munge:munge "$area/munge/key"
chmod 400 "$area/munge/key"
cat >"$area/slurm.conf" <<END
ClusterName=sago
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
AuthInfo=socket=$area/munge/socket
SlurmUser=root
StateSaveLocation=$area/state
SlurmdSpoolDir=$area/spool
SlurmctldPidFile=$area/slurmctld.pid
SlurmdPidFile=$area/slurmd.pid
SlurmctldLogFile=$area/slurmctld.log
SlurmdLogFile=$area/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerType=sched/backfill
SelectType=select/cons_tres
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
KillWait=5
MinJobAge=300
JobRequeue=1
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8
END
export SLURM_CONF=$area/slurm.conf

runuser -u munge -- munged --foreground --key-file "$area/munge/key" --socket "$area/munge/socket" \
    --pid-file "$area/munge/pid" --log-file "$area/munge/log" --seed-file "$area/munge/seed" &
pids+=($!)
for _ in $(seq 40); do [ ! -S "$area/munge/socket" ] || break; sleep 0.25; done
slurmctld -D -i >"$area/slurmctld.out" 2>&1 &
pids+=($!)
slurmd -D -N "$host" >"$area/slurmd.out" 2>&1 &
pids+=($!)
for _ in $(seq 240); do
    [ "$(sinfo -h -o %T 2>/dev/null || true)" != idle ] || break
    sleep 0.25
done
[ "$(sinfo -h -o %T)" = idle ] || fail "Slurm did not come up: $(sinfo 2>&1)"
echo "== $(sinfo --version), one node"

# ---- The job ----

case $SAGO_MPI in
openmpi) launcher="mpiexec.openmpi --allow-run-as-root --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 --mca plm isolated --mca ras ^slurm -n 2" ;;
*) launcher="mpiexec.mpich -launcher fork -n 2" ;;
esac
cd "$area/work"
export SAGO_LAUNCHER="$launcher" SAGO_PROGRAM="$SAGO_BUILD/bin/examples/waveguide" CELLS=16
state_of() { # job
    scontrol show job "$1" | sed -n 's/.*JobState=\([A-Z_]*\).*/\1/p'
}
saved() { # the last step that was saved, or nothing
    sed -n 's/^checkpoint  *\([0-9]*\): .*/\1/p' job.out 2>/dev/null | tail -n 1
}

# How far a loaded machine comes in one allocation is not known before: the first one has more steps than it can do, and whatever it
# was interrupted at, the next ones have a few more to do, and time.  Every bash reads BASH_ENV, so the job script finds the number.
export BASH_ENV=$area/work/settings
echo "export SAGO_STEPS=100000000" >settings
job=$(sbatch --parsable --export=ALL --output="$area/work/job.out" --open-mode=append --time=2 \
    "$SAGO_SOURCE/examples/slurm_requeue.sh") || fail "sbatch"
echo "job $job"
for _ in $(seq 120); do # what docs/jobs.md asks Slurm for, where SLURM_JOB_END_TIME is not set
    end=$(date -d "$(squeue -h -j "$job" -o %e)" +%s 2>/dev/null) || end=0
    [ "$end" -le "$(date +%s)" ] || break
    sleep 0.5
done
[ "$end" -gt "$(date +%s)" ] && [ "$end" -lt $(($(date +%s) + 180)) ] || fail "the end of the allocation is not told: $end"
pending=0 steps=
for _ in $(seq 1800); do
    state=$(state_of "$job")
    case $state in COMPLETED | FAILED | TIMEOUT | CANCELLED | NODE_FAIL) break ;; esac
    if [ "$state" = PENDING ] && [ -z "$steps" ] && [ -n "$(saved)" ]; then
        steps=$(($(saved) + 100))
        echo "export SAGO_STEPS=$steps" >settings
        scontrol update JobId="$job" TimeLimit=30
    fi
    # The queue waits two minutes before a requeued job may begin again; within the second in which it ended it would be
    # taken for the one that was ended ("credential revoked").
    [ "$state" = PENDING ] && pending=$((pending + 1)) || pending=0
    [ "$pending" -lt 6 ] || scontrol update JobId="$job" StartTime=now 2>/dev/null || true
    sleep 0.5
done
scontrol show job "$job" | grep -E 'JobState|Restarts' || true
grep -v '^ *$' job.out | tail -n 40
[ "$state" = COMPLETED ] || fail "the job ended as $state"
grep -q 'put into the queue again' job.out || fail "the job was never put into the queue again"
grep -q '^restored step ' job.out || fail "nothing was restored"
grep -q "^step $steps: error" job.out || fail "the simulation did not reach its end"
unset BASH_ENV

# ---- A job that gets no signal: the library asks when the allocation ends ----

cat >"$area/work/asking.sh" <<'END'
#!/bin/bash
unset SLURM_JOB_END_TIME
$SAGO_LAUNCHER "$SAGO_PROGRAM" --cells 16 --steps 100000000 --every 0 --reference 0 --dir "$SLURM_SUBMIT_DIR/asking"
echo "left with code $?"
END
job=$(sbatch --parsable --export=ALL --output="$area/work/asking.out" --time=1 "$area/work/asking.sh") || fail "sbatch"
for _ in $(seq 400); do
    state=$(state_of "$job")
    case $state in COMPLETED | FAILED | TIMEOUT | CANCELLED | NODE_FAIL) break ;; esac
    sleep 0.5
done
tail -n 5 asking.out
[ "$state" = COMPLETED ] && grep -q '^left with code 0' asking.out || fail "the end was not noticed: $state"
ls asking | grep -q . || fail "nothing was saved before the end"
echo "passed"

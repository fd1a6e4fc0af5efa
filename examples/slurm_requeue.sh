#!/bin/bash
# A Slurm job that goes on until it is done, in as many allocations as that takes: it saves a checkpoint when it is told that
# its time is nearly over, leaves, and puts itself into the queue again.
#
#     sbatch examples/slurm_requeue.sh          SAGO_PROGRAM, SAGO_STEPS, SAGO_LAUNCHER and CELLS change what runs
#
#SBATCH --job-name=waveguide
#SBATCH --ntasks=2
#SBATCH --time=01:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:USR1@50
set -u
steps=${SAGO_STEPS:-100000}
program=${SAGO_PROGRAM:-waveguide}
launcher=${SAGO_LAUNCHER:-srun}

export SAGO_CKPT_SIGNAL=usr1   # sago_ckpt_due() says "leave" on all ranks when any of them gets SIGUSR1
export SAGO_CKPT_INTERVAL=600  # and a checkpoint is due every ten minutes
export SAGO_CKPT_KEEP_GLOBAL=2

# Slurm sends the signal to this script (B:), 50 s before the end; launchers hand it on to their ranks.
$launcher "$program" --cells "${CELLS:-32}" --steps "$steps" --every 0 --reference 0 --dir "$SLURM_SUBMIT_DIR/ckpt" >run.log 2>&1 &
ranks=$!
trap 'echo "time is nearly over"; kill -USR1 $ranks' USR1
while kill -0 $ranks 2>/dev/null; do
    wait $ranks
    code=$?
done
cat run.log

if [ "$code" -ne 0 ]; then
    echo "failed with code $code: left as it is, to be looked at"
    exit "$code"
fi
if ! grep -q "^step $steps:" run.log; then
    echo "not done yet: put into the queue again"
    scontrol requeue "$SLURM_JOB_ID"
fi

#!/bin/bash
#SBATCH --job-name=coup
#SBATCH --array=1-4
#SBATCH --cpus-per-task=2
#SBATCH --time=01:30:00
# A suite in parts, each a job of an array; the parts are told apart by their numbers alone.
#
#   sbatch --array=1-8 docs/examples/slurm.sh nightly night
#
# SUITE and FOLDER, on a file system that all machines see. A part that was killed goes on where it
# was when it is queued again. Real runs need user namespaces and /dev/net/tun on the machines
# (coup doctor tells); simulated ones need nothing.
set -euo pipefail
suite=${1:-nightly}
part=${2:-night}/part-$SLURM_ARRAY_TASK_ID
if [ -e "$part/journal.jsonl" ]; then
    exec "${COUP:-coup}" suite --resume "$part" --quiet
fi
exec "${COUP:-coup}" suite "$suite" --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" \
    --jobs "$SLURM_CPUS_PER_TASK" --quiet --output "$part"

#!/usr/bin/env bash
# The job file for Slurm, by a real Slurm of one machine: every part of a suite is done once.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/helpers/shell.bash"
for program in slurmctld slurmd sbatch; do
    command -v "$program" >/dev/null || PATH=$PATH:/usr/sbin
    command -v "$program" >/dev/null || { echo "no $program here (install slurm-wlm)"; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "slurmd needs root"; exit 77; }
if [ "${1-}" != inside ]; then # its ports are nobody else's, and it ends with us
    exec unshare --net --mount --pid --fork --kill-child --mount-proc "$0" inside
fi
ip link set lo up # alone it is no network to getaddrinfo()
ip link add slurm0 type veth peer name slurm1 && ip address add 10.99.0.1/24 dev slurm0 && ip link set slurm0 up
cd "$work" || exit 1
mkdir state spool
cat >slurm.conf <<CONF
ClusterName=coup
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
MpiDefault=none
ReturnToService=2
NodeName=localhost NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$work/slurm.conf COUP
slurmctld -D -f slurm.conf >/dev/null 2>&1 &
slurmd -D -f slurm.conf -N localhost >/dev/null 2>&1 &

# The whole suite, and the same in three parts.
cat >small.yaml <<'YAML'
name: small
defaults: {time: 1s, seeds: 1..3}
cells:
  - {algorithm: [raft, paxos, zab, bully], faults: kill}
  - {algorithm: "raft:bug=no-majority", faults: kill, expect: "invalid:majority-support"}
YAML
expect 0 "$COUP" suite small.yaml -q -o whole
for ((i = 0; i < 100; i++)); do
    timeout 2 sinfo --noheader --format=%t 2>/dev/null | grep -q idle && break
    kill -0 %1 %2 2>/dev/null || break
    sleep 0.2
done
LIMIT=40 expect 0 sbatch --wait --array=1-3 --cpus-per-task=1 --output=job-%a.log "$tests/../docs/examples/slurm.sh" small.yaml parts
[ "$code" = 0 ] || complain "the job" "$(tail -n 5 job-*.log slurmctld.log slurmd.log)"
names() { jq -r '.cells[] | "\(.name) \(.outcome) \(.runs)"' "$@" | sort; }
diff <(names whole/results.json) <(names parts/part-*/results.json) || complain "the parts are not the whole"
# Queued again, nothing is done twice.
LIMIT=40 expect 0 sbatch --wait --array=1-3 --cpus-per-task=1 --output=job-%a.log "$tests/../docs/examples/slurm.sh" small.yaml parts
expect 0 "$COUP" suite --merge parts/part-* -q -o merged
diff <(names whole/results.json) <(names merged/results.json) || complain "the parts put together are not the whole"
finish

#!/bin/bash
#SBATCH --job-name=train
# A training with ppo-top beside it. Prometheus finds it through a file in TARGETS (file_sd in deploy/prometheus/prometheus.yml), which
# is on the shared file system. Call: sbatch job.sh python train.py --logdir runs
set -u
runs=${RUNS:-runs}
targets=${TARGETS:-$HOME/prometheus/targets}
job=${SLURM_JOB_ID:-local}
log=${PPO_TOP_LOG:-ppo-top-$job.log}

# The node is everybody's: only who knows the token (Prometheus: credentials_file) gets the metrics.
ppo-top serve --listen "$(hostname):0" ${TOKEN_FILE:+--token-file "$TOKEN_FILE"} --active 0 "$runs" 2>"$log" &
ppo_top=$!
for _ in $(seq 50); do
    port=$(sed -n 's|.*listening on http://[^ ]*:\([0-9]*\)/metrics.*|\1|p' "$log")
    [ -n "$port" ] && break
    kill -0 "$ppo_top" 2>/dev/null || break
    sleep 0.2
done
if [ -n "$port" ]; then
    mkdir -p "$targets"
    file=$targets/$job.json
    printf '[{"targets": ["%s:%s"], "labels": {"slurm_job_id": "%s", "user": "%s"}}]\n' \
        "$(hostname)" "$port" "$job" "$(id -un)" >"$file.part" && mv "$file.part" "$file"
    trap 'rm -f "$file"' EXIT
fi

"$@"
code=$?

# The last word in the job's output; --ended: there is no more to come.
ppo-top check --ended "$runs"
kill "$ppo_top" 2>/dev/null && wait "$ppo_top"
exit "$code"

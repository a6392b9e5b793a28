#!/bin/bash
# Where node_exporter runs on the node already: no port, one file a user. Call it from a job's script, in the background:
#   deploy/slurm/textfile.sh /var/lib/prometheus/node-exporter runs &
exec ppo-top serve --no-listen --textfile "$1/ppo_top_$(id -un)_${SLURM_JOB_ID:-local}.prom" \
    --label "user=$(id -un)" --label "slurm_job_id=${SLURM_JOB_ID:-local}" --active 0 "${@:2}"

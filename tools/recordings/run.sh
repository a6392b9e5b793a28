#!/bin/sh
# Runs one recording script in a plain place, so that no machine's name or path gets into a fixture:
#   tools/recordings/run.sh VENV SCRIPT [ARGUMENT ...]
# The script finds itself in /tmp/recording with its output folder in $OUT (tests/data).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
venv=$(cd "$1" && pwd)
script=$2
shift 2
rm -rf /tmp/recording
mkdir -p /tmp/recording
ln -s "$venv" /tmp/recording/venv
cp "$here"/*.py "$here"/*/*.py /tmp/recording/
export OUT="$(cd "$here/../../tests/data" && pwd)" HOME=/tmp/recording USER=rl LOGNAME=rl WANDB_DISABLE_GIT=true
export PATH=/tmp/recording/venv/bin:/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1
cd /tmp/recording
exec nice -n 10 unshare -u sh -c 'hostname trainbox; exec venv/bin/python "$@"' sh "$script" "$@"

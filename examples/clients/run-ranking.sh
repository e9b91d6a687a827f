#!/usr/bin/env bash
# Checks real reranking clients against examples/ranking: installs them into a cache outside the tree (once, about
# 430 MB), starts the server on a free port, runs ranking_clients.py, and once more for each kind of server failure.
# With arguments BASE_URL MODEL it checks a server that is running already.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cache=${TRTMC_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/trtmc}
venv=$cache/clients-ranking
work=$(mktemp -d)
server=
stop() {
  [ -z "$server" ] || { kill "$server" 2>/dev/null && wait "$server" 2>/dev/null || true; }
  server=
}
trap 'stop; rm -rf "$work"' EXIT

if ! cmp -s "$here/requirements-ranking.txt" "$venv/installed.txt"; then
  mkdir -p "$cache"
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements-ranking.txt"
  cp "$here/requirements-ranking.txt" "$venv/installed.txt"
fi

clients() { LITELLM_LOCAL_MODEL_COST_MAP=True PYTHONDONTWRITEBYTECODE=1 "$venv/bin/python" "$here/ranking_clients.py" "$@"; }

# start ARGS... starts the server and sets base to its URL.
start() {
  stop
  "$work/server" -addr 127.0.0.1:0 "$@" >"$work/said" &
  server=$!
  for _ in $(seq 100); do
    base=$(sed -n 's#.* on \(http://[0-9.:]*\)/.*#\1#p' "$work/said")
    [ -z "$base" ] || return 0
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  echo "the server did not start" >&2
  return 1
}

if [ $# -gt 0 ]; then
  clients "$@"
  exit
fi
model=trtmc/reference-ranker
(cd "$here/../.." && go build -o "$work/server" ./examples/ranking)
start
clients "$base" "$model"
while read -r fault status reason; do
  start -fault "$fault"
  echo "server with the fault $fault:"
  clients "$base" "$model" "$status" "$reason" </dev/null
done <<'FAULTS'
nan_score 502 score of passage 0 is not finite
short_scores 502 the model gave an invalid result
busy 503 the model is busy
out_of_memory 503 the model ran out of resources
error 500 the model failed to score the passages
FAULTS

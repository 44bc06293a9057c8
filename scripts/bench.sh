#!/bin/bash
# Runs the CPU benchmarks and keeps their rows in bench/results/cpu-*.jsonl.   bench.sh BIN_DIR [PYTHON]
# With a PYTHON that has torch, onnxruntime, onnx, openvino and safetensors, the peers are measured in the same run.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$1
python=${2:-}
model=${MINILM_DIR:-.models/minilm}
mkdir -p bench/results
for name in latency memory minilm; do
  [ -x "$bin/bench_cpu_$name" ] || { echo "bench: no $bin/bench_cpu_$name" >&2; exit 1; }
  peers=()
  [ -z "$python" ] || peers=(--peers "$python bench/peers.py $model")
  "$bin/bench_cpu_$name" "${peers[@]}" --out "bench/results/cpu-$name.jsonl"
done

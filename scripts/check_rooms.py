#!/usr/bin/env python3
"""Checks that the code obeys the room table of docs/architecture.md.

    check_rooms.py [ROOT]

Fails on an include that goes up or sideways, on a cycle of includes between files, on a source outside every room, and on a
file over 900 lines; warns at 500. The table's rows read "| level | `room` | …"; tools, bench, examples and tests stand on top.
"""
import re
import sys
from pathlib import Path

MAX_LINES = 900
WARN_LINES = 500
ROW = re.compile(r"^\|\s*(\d+)\s*\|\s*`([a-z_]+)`\s*\|")
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<(stax/[^>]+)>)', re.MULTILINE)
SOURCES = {".h", ".cpp", ".inc", ".def"}
COUNTED = SOURCES | {".py", ".sh", ".cmake", ".md"}
TOP_FOLDERS = ("tools", "bench", "examples", "tests")


def read_levels(root):
    page = root / "docs" / "architecture.md"
    levels = {}
    for line in page.read_text().splitlines():
        if match := ROW.match(line):
            levels[match[2]] = int(match[1])
    if not levels:
        sys.exit(f"{page}: no table of rooms")
    return levels


def room_of(path):
    """The room of a path relative to the root; None for the gathering header and for what stands on top."""
    parts = path.parts
    if parts[0] == "src" and len(parts) > 2:
        return parts[1]
    if parts[:2] == ("include", "stax") and len(parts) > 3:
        return parts[2]
    return None


def resolve(root, file, included, is_public):
    """The path (relative to the root) that an include names, or None when it is not ours."""
    bases = [root / "include"] if is_public else [(root / file).parent, root / "src", root / "tools", root / "include"]
    for base in bases:
        candidate = (base / included).resolve()
        if candidate.is_file() and candidate.is_relative_to(root):
            return candidate.relative_to(root)
    return None


def files_under(root, folders, suffixes):
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and path.suffix in suffixes and "__pycache__" not in path.parts:
                yield path.relative_to(root)


def check_arrow(file, target, levels):
    """A message when `file` may not include `target`."""
    if file.parts[0] in TOP_FOLDERS or file == Path("include/stax/stax.h"):
        return None
    here, there = room_of(file), room_of(target)
    if target == Path("include/stax/stax.h"):
        return f"{file}: includes the gathering header {target}"
    if there is None:
        return f"{file}: room '{here}' includes {target}, which stands above all rooms"
    if here == there:
        if file.parts[0] == "include" and target.parts[0] == "src":
            return f"{file}: a public header includes the private {target}"
        return None
    if there not in levels:
        return None  # reported once for its own files
    if levels[there] > levels[here]:
        return f"{file}: room '{here}' (level {levels[here]}) includes up: {target} (level {levels[there]})"
    if levels[there] == levels[here]:
        return f"{file}: room '{here}' includes sideways: {target} (both level {levels[here]})"
    if file.parts[0] == "include" and target.parts[0] == "src":
        return f"{file}: a public header includes the private {target}"
    return None


def find_cycle(graph):
    """Some cycle of the include graph as a list of files, or None."""
    state = {}
    for start in graph:
        if start in state:
            continue
        stack = [(start, iter(graph[start]))]
        state[start] = "open"
        while stack:
            node, successors = stack[-1]
            following = next(successors, None)
            if following is None:
                state[node] = "done"
                stack.pop()
            elif state.get(following) == "open":
                path = [entry[0] for entry in stack]
                return path[path.index(following):] + [following]
            elif following not in state:
                state[following] = "open"
                stack.append((following, iter(graph.get(following, ()))))
    return None


def check_includes(root, levels):
    problems, graph = [], {}
    unknown = set()
    for file in files_under(root, ("src", "include", *TOP_FOLDERS), SOURCES):
        room = room_of(file)
        if room is not None and room not in levels:
            unknown.add(f"{'/'.join(file.parts[:-1])}: '{room}' is not in the table of docs/architecture.md")
            continue
        graph[file] = []
        for match in INCLUDE.finditer((root / file).read_text(errors="replace")):
            target = resolve(root, file, match[1] or match[2], match[2] is not None)
            if target is None:
                continue
            graph[file].append(target)
            if message := check_arrow(file, target, levels):
                problems.append(message)
    if cycle := find_cycle(graph):
        problems.append("cycle of includes: " + " -> ".join(map(str, cycle)))
    return sorted(unknown) + problems


def check_lengths(root):
    problems, warnings = [], []
    for file in files_under(root, ("src", "include", *TOP_FOLDERS, "scripts", "cmake", "docs"), COUNTED):
        lines = (root / file).read_bytes().count(b"\n")
        if lines > MAX_LINES:
            problems.append(f"{file}: {lines} lines, the limit is {MAX_LINES}")
        elif lines >= WARN_LINES:
            warnings.append(f"{file}: {lines} lines, consider a split at {WARN_LINES}")
    return problems, warnings


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    levels = read_levels(root)
    problems = check_includes(root, levels)
    too_long, warnings = check_lengths(root)
    for warning in warnings:
        print(f"warning: {warning}")
    for problem in problems + too_long:
        print(f"error: {problem}")
    count = len(problems) + len(too_long)
    print(f"rooms: {count} error{'' if count == 1 else 's'}, {len(warnings)} warning{'' if len(warnings) == 1 else 's'}")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())

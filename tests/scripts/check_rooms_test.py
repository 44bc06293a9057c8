#!/usr/bin/env python3
"""Plants violations in a small tree and expects scripts/check_rooms.py to name each of them."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "check_rooms.py"
TABLE = """# Rooms
| level | room | one responsibility |
|---|---|---|
| 0 | `base` | Errors. |
| 1 | `symbolic` | Algebra. |
| 1 | `cache` | Bytes. |
| 2 | `tensor` | Values. |
"""


class CheckRooms(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        self.write("docs/architecture.md", TABLE)
        self.write("src/base/text.h", "#pragma once\n")
        self.write("include/stax/base/error.h", "#pragma once\n")
        self.write("src/symbolic/expr.h", '#include "base/text.h"\n#include <stax/base/error.h>\n#include <vector>\n')
        self.write("src/cache/store.h", '#include "base/text.h"\n')
        self.write("include/stax/tensor/tensor.h", "#include <stax/base/error.h>\n")
        self.write("src/tensor/tensor.cpp", '#include <stax/tensor/tensor.h>\n#include "symbolic/expr.h"\n')
        self.write("include/stax/stax.h", "#include <stax/tensor/tensor.h>\n")
        self.write("tools/stax/main.cpp", '#include <stax/stax.h>\n#include "tensor/layout.h"\n')
        self.write("tests/unit/base/text_test.cpp", '#include "base/text.h"\n#include "fixture.h"\n')

    def tearDown(self):
        self.folder.cleanup()

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def check(self):
        done = subprocess.run([sys.executable, SCRIPT, self.root], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def expect_error(self, message):
        code, output = self.check()
        self.assertIn("error: " + message, output)
        self.assertIn("rooms: 1 error, 0 warnings", output)
        self.assertEqual(code, 1)

    def test_a_clean_tree_passes(self):
        code, output = self.check()
        self.assertEqual((code, output), (0, "rooms: 0 errors, 0 warnings\n"))

    def test_an_include_that_goes_up(self):
        self.write("src/base/bad.cpp", '#include "symbolic/expr.h"\n')
        self.expect_error("src/base/bad.cpp: room 'base' (level 0) includes up: src/symbolic/expr.h (level 1)")

    def test_an_include_of_a_public_header_that_goes_up(self):
        self.write("src/symbolic/bad.cpp", "  #  include <stax/tensor/tensor.h>\n")
        self.expect_error("src/symbolic/bad.cpp: room 'symbolic' (level 1) includes up: "
                          "include/stax/tensor/tensor.h (level 2)")

    def test_an_include_that_goes_sideways(self):
        self.write("src/cache/bad.h", '#include "symbolic/expr.h"\n')
        self.expect_error("src/cache/bad.h: room 'cache' includes sideways: src/symbolic/expr.h (both level 1)")

    def test_a_relative_path_hides_nothing(self):
        self.write("src/cache/bad.h", '#include "../symbolic/expr.h"\n')
        self.expect_error("src/cache/bad.h: room 'cache' includes sideways: src/symbolic/expr.h (both level 1)")

    def test_a_cycle_inside_a_room(self):
        self.write("src/base/a.h", '#include "base/b.h"\n')
        self.write("src/base/b.h", '#include "base/a.h"\n')
        self.expect_error("cycle of includes: src/base/a.h -> src/base/b.h -> src/base/a.h")

    def test_a_public_header_with_a_private_include(self):
        self.write("include/stax/tensor/bad.h", '#include "base/text.h"\n')
        self.expect_error("include/stax/tensor/bad.h: a public header includes the private src/base/text.h")

    def test_the_gathering_header_in_a_room(self):
        self.write("src/tensor/bad.cpp", "#include <stax/stax.h>\n")
        self.expect_error("src/tensor/bad.cpp: includes the gathering header include/stax/stax.h")

    def test_a_room_that_is_not_in_the_table(self):
        self.write("src/shed/thing.h", "#pragma once\n")
        self.expect_error("src/shed: 'shed' is not in the table of docs/architecture.md")

    def test_a_file_that_is_too_long(self):
        self.write("src/base/long.cpp", "//\n" * 901)
        self.expect_error("src/base/long.cpp: 901 lines, the limit is 900")

    def test_a_long_file_warns(self):
        self.write("src/base/long.cpp", "//\n" * 500)
        code, output = self.check()
        self.assertEqual(code, 0)
        self.assertIn("warning: src/base/long.cpp: 500 lines, consider a split at 500", output)

    def test_a_page_without_a_table(self):
        self.write("docs/architecture.md", "nothing\n")
        code, output = self.check()
        self.assertEqual(code, 1)
        self.assertIn("no table of rooms", output)


if __name__ == "__main__":
    unittest.main()

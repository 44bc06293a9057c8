#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "build/triton_worker.h"

namespace stax::build {

// Messages are a 32-bit little-endian length and the bytes, on descriptor 3. A job is JSON; the answer is JSON,
// followed by a message with the cubin when there is one. Only what is written here depends on the version of Triton.

namespace {

const char* const kChannel = R"PY(
import sys
sys.path[:] = [p for p in sys.path if p]  # not the working directory
import os, socket, struct, json, io, re, contextlib, tempfile

channel = socket.socket(fileno=3)

def read_exactly(count):
    data = b""
    while len(data) < count:
        part = channel.recv(count - len(data))
        if not part:
            os._exit(0)
        data += part
    return data

def receive():
    return read_exactly(struct.unpack("<I", read_exactly(4))[0])

def send(data):
    channel.sendall(struct.pack("<I", len(data)) + data)

def answer(**fields):
    send(json.dumps(fields).encode())

)PY";

// Also of programs that reproduce a refusal: stands alone.
const char* const kCompile = R"PY(
import re, sys, linecache
sys.modules["torch"] = None
try:
    import triton
    from triton._C.libtriton import ir
    from triton.compiler import ASTSource, make_backend
    from triton.backends.compiler import GPUTarget, Language
    missing = ""
except Exception as e:
    missing = "%s: %s" % (type(e).__name__, e)

)PY";

const char* const kGreeting = R"PY(
if missing:
    answer(hello=False, python=sys.version.split()[0], executable=sys.executable, problem=missing)
    os._exit(1)
)PY";

const char* const kCompileJob = R"PY(
arch = 90
target = GPUTarget("cuda", arch, 32)

class Driver:
    def get_current_target(self):
        return target

triton.runtime.driver.set_active(Driver())

# ptxas 12.8 can add 0 in place of the constant to one half of a pair of 16-bit integers: each half by itself.
PAIRS = re.compile(r"\b(add|min|max)\.([su])16x2\s+(%\w+), (%\w+), (%\w+);")
HALVES = ("{ .reg .b16 a0, a1, b0, b1; mov.b32 {a0, a1}, %s; mov.b32 {b0, b1}, %s; %s.%s16 a0, a0, b0; "
          "%s.%s16 a1, a1, b1; mov.b32 %s, {a0, a1}; }")

def without_pairs(ptx):
    def halves(found):
        name, sign, to, a, b = found.groups()
        return HALVES % (a, b, name, sign, name, sign, to)
    return PAIRS.sub(halves, ptx)

def compile_job(job):
    name = "<stax %s>" % job["name"]
    text = job["text"]
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    module = {"__name__": "stax_kernel"}
    exec(compile(text, name, "exec"), module)
    fn = module[job["function"]]
    signature, constants, attributes = {}, {}, {}
    for i, (parameter, kind, multiple) in enumerate(job["parameters"]):
        signature[parameter] = kind
        if multiple > 1:
            attributes[(i,)] = [["tt.divisibility", multiple]]
    for parameter, value in job["constants"]:
        signature[parameter] = "constexpr"
        constants[parameter] = value
    backend = make_backend(target)
    wanted = dict(num_warps=job["warps"], num_stages=job["stages"], enable_fp_fusion=False, enable_reflect_ftz=False,
                  sanitize_overflow=False, debug=False)
    unknown = [key for key in wanted if key not in type(backend.parse_options({})).__dataclass_fields__]
    if unknown:
        raise RuntimeError("Triton %s has no option %s" % (triton.__version__, ", ".join(unknown)))
    options = backend.parse_options(wanted)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    source, metadata, stages = ASTSource(fn, signature, constants, attributes), dict(options.__dict__), {}
    backend.add_stages(stages, options, Language.TRITON)
    result = source.make_ir(target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context)
    ptx = ""
    for extension, step in stages.items():
        result = step(result, metadata)
        if extension == "ptx":
            ptx = result = without_pairs(result)
    linecache.cache.pop(name, None)
    return result, metadata, ptx
)PY";

const char* const kAnswers = R"PY(
def statement_of(error):  # of the kernel itself: its comment names the operator
    line = getattr(getattr(error, "node", None), "lineno", 0)
    lines = (getattr(error, "src", None) or "").split("\n")
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""

def message_of(error):  # an error in a helper function is the cause of one in the kernel
    parts = []
    while error is not None and len(parts) < 8:
        parts.append(str(error)[-3000:])
        error = error.__cause__
    return "\n".join(parts)

def number(pattern, text):
    found = re.search(pattern, text)
    return int(found.group(1)) if found else 0

answer(hello=True, python=sys.version.split()[0], triton=triton.__version__, executable=sys.executable)
while True:
    job = json.loads(receive())
    log = io.StringIO()
    try:
        os.environ["TMPDIR"] = tempfile.tempdir = job["directory"]
        with contextlib.redirect_stdout(log):
            cubin, metadata, ptx = compile_job(job)
    except BaseException as e:
        answer(ok=False, kind=type(e).__name__, error=message_of(e), statement=statement_of(e))
        continue
    text = log.getvalue()
    answer(ok=True, function=metadata["name"], warps=metadata["num_warps"], shared=metadata["shared"],
           scratch=metadata.get("global_scratch_size", 0), scratch_align=metadata.get("global_scratch_align", 1),
           registers=number(r"Used (\d+) registers", text), spills=number(r"(\d+) bytes spill stores", text),
           stack=number(r"(\d+) bytes stack frame", text), ptx=ptx if job.get("ptx") else "", bytes=len(cubin))
    send(cubin)
)PY";

// A string of Python, over several lines when it has them and no quotes of its own.
std::string literal(const std::string& text) {
  const bool plain =
      text.ends_with('\n') && text.find("'''") == std::string::npos && text.find('\\') == std::string::npos;
  return plain ? "'''\\\n" + text + "'''" : nlohmann::json(text).dump();
}

}  // namespace

const std::string& triton_worker_script() {
  static const std::string script = std::string(kChannel) + kCompile + kGreeting + kCompileJob + kAnswers;
  return script;
}

const std::vector<std::pair<std::string, std::string>>& triton_worker_environment() {
  static const std::vector<std::pair<std::string, std::string>> variables = {{"TRITON_BACKENDS_IN_TREE", "1"},
                                                                             {"TRITON_DISABLE_LINE_INFO", "1"},
                                                                             {"TRITON_DUMP_PTXAS_LOG", "1"},
                                                                             {"CUDA_VISIBLE_DEVICES", ""},
                                                                             {"PYTHONDONTWRITEBYTECODE", "1"}};
  return variables;
}

std::string triton_program(const TritonJob& job) {
  std::string text =
      fmt::format("# Compiles the kernel {} as Stax does: signature, constants and options below.\n", job.name);
  text += "import os\n";
  for (const auto& [name, value] : triton_worker_environment())
    text += fmt::format("os.environ[\"{}\"] = \"{}\"\n", name, value);
  text += kCompile;
  text += "if missing:\n    sys.exit(\"Triton is missing: \" + missing)\n";
  text += kCompileJob;
  text += fmt::format("\njob = dict(name={}, function={}, warps={}, stages={})\n", literal(job.name),
                      literal(job.function), job.warps, job.stages);
  text += "job[\"parameters\"] = [  # name, type, promised multiple\n";
  for (const TritonJob::Parameter& p : job.parameters)
    text += fmt::format("    ({}, {}, {}),\n", literal(p.name), literal(p.type), p.multiple_of);
  text += "]\njob[\"constants\"] = [\n";
  for (const auto& [name, value] : job.constants) text += fmt::format("    ({}, {}),\n", literal(name), value);
  text += "]\njob[\"text\"] = " + literal(job.text) + "\n";
  text += "cubin, metadata, ptx = compile_job(job)  # ptxas says what it made\n";
  text += "print(\"compiled: %d bytes\" % len(cubin))\n";
  return text;
}

}  // namespace stax::build

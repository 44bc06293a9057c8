#include "build/triton_worker.h"

namespace stax::build {

// Messages are a 32-bit little-endian length and the bytes, on descriptor 3. A job is JSON; the answer is JSON,
// followed by a message with the cubin when there is one. Only what is written here depends on the version of Triton.
const char* const kTritonWorkerScript = R"PY(
import sys
sys.path[:] = [p for p in sys.path if p]  # not the working directory
import os, socket, struct, json, io, re, contextlib, linecache, traceback

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

sys.modules["torch"] = None
try:
    import triton
    from triton._C.libtriton import ir
    from triton.compiler import ASTSource, make_backend
    from triton.backends.compiler import GPUTarget, Language
    missing = ""
except Exception as e:
    missing = "%s: %s" % (type(e).__name__, e)

if missing:
    answer(hello=False, python=sys.version.split()[0], executable=sys.executable, problem=missing)
    os._exit(1)

arch = 90
target = GPUTarget("cuda", arch, 32)

class Driver:
    def get_current_target(self):
        return target

triton.runtime.driver.set_active(Driver())

def compile_job(job, log):
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
            ptx = result
    linecache.cache.pop(name, None)
    return result, metadata, ptx

def line_of(error):
    node = getattr(error, "node", None)
    line = getattr(node, "lineno", 0)
    source = getattr(error, "src", None)
    return line, (source or "")

def number(pattern, text):
    found = re.search(pattern, text)
    return int(found.group(1)) if found else 0

answer(hello=True, python=sys.version.split()[0], triton=triton.__version__, executable=sys.executable)
while True:
    job = json.loads(receive())
    log = io.StringIO()
    try:
        with contextlib.redirect_stdout(log):
            cubin, metadata, ptx = compile_job(job, log)
    except BaseException as e:
        line, source = line_of(e)
        lines = source.split("\n")
        statement = lines[line - 1].strip() if 0 < line <= len(lines) else ""
        answer(ok=False, kind=type(e).__name__, error=str(e)[-6000:], statement=statement, trace=traceback.format_exc()[-4000:])
        continue
    text = log.getvalue()
    answer(ok=True, function=metadata["name"], warps=metadata["num_warps"], shared=metadata["shared"],
           scratch=metadata.get("global_scratch_size", 0), scratch_align=metadata.get("global_scratch_align", 1),
           registers=number(r"Used (\d+) registers", text), spills=number(r"(\d+) bytes spill stores", text),
           stack=number(r"(\d+) bytes stack frame", text), ptx=ptx if job.get("ptx") else "", bytes=len(cubin))
    send(cubin)
)PY";

}  // namespace stax::build

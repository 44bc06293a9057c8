// A Triton worker that needs no Triton: it speaks the protocol of src/build and answers as a test wants.
#pragma once
#include <string>

namespace stax::test {

// The start of a worker's program in Python: the greeting, receive() → a job, good(job, …) answers with a cubin of the
// job's text, refuse(kind, error, statement) with a refusal; `send` takes bytes.
inline const char* const kFakeWorker = R"(
import socket, struct, json, os, sys, time
channel = socket.socket(fileno=3)
def send(data): channel.sendall(struct.pack("<I", len(data)) + data)
def read_exactly(count):
    data = b""
    while len(data) < count:
        part = channel.recv(count - len(data))
        if not part: os._exit(0)
        data += part
    return data
def receive(): return json.loads(read_exactly(struct.unpack("<I", read_exactly(4))[0]))
def good(job, **figures):
    cubin = b"\x7fELF" + job["text"].encode()
    answer = dict(ok=True, function=job["function"], warps=job["warps"], shared=0, scratch=0, scratch_align=1, registers=9,
                  spills=0, stack=0, bytes=len(cubin))
    send(json.dumps(dict(answer, **figures)).encode())
    send(cubin)
def refuse(kind, error, statement):
    send(json.dumps(dict(ok=False, kind=kind, error=error, statement=statement)).encode())
send(json.dumps(dict(hello=True, triton="0.0")).encode())
)";

// The program of an interpreter, for STAX_PYTHON, that is such a worker: `each_job` (indented) runs for every `job`.
inline std::string fake_interpreter(const std::string& each_job) {
  return std::string("#!/usr/bin/env python3") + kFakeWorker + "while True:\n    job = receive()\n" + each_job;
}

}  // namespace stax::test

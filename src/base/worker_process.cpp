#include <poll.h>
#include <signal.h>
#include <stax/base/error.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/clock.h"
#include "base/spawn.h"
#include "base/subprocess.h"

namespace stax::base {
namespace {

using Status = WorkerProcess::Status;
constexpr std::size_t kHeaderBytes = 4;

// Waits until the socket is ready for `events`. A limit of 0 means none.
Status wait_ready(int socket, short events, const Stopwatch& watch, std::chrono::milliseconds limit) {
  while (true) {
    int left = -1;
    if (limit.count() > 0) {
      left = static_cast<int>(limit.count() - static_cast<std::int64_t>(watch.seconds() * 1000));
      if (left <= 0) return Status::timed_out;
    }
    pollfd entry{socket, events, 0};
    const int ready = ::poll(&entry, 1, left);
    if (ready > 0) return Status::ok;
    if (ready < 0 && errno != EINTR) return Status::closed;
  }
}

Status send_bytes(int socket, std::string_view bytes, const Stopwatch& watch, std::chrono::milliseconds limit) {
  while (!bytes.empty()) {
    if (const Status status = wait_ready(socket, POLLOUT, watch, limit); status != Status::ok) return status;
    const ssize_t count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR && errno != EAGAIN) {
      return Status::closed;
    }
  }
  return Status::ok;
}

Status receive_bytes(int socket, char* target, std::size_t size, const Stopwatch& watch,
                     std::chrono::milliseconds limit) {
  while (size > 0) {
    if (const Status status = wait_ready(socket, POLLIN, watch, limit); status != Status::ok) return status;
    const ssize_t count = ::recv(socket, target, size, MSG_DONTWAIT);
    if (count > 0) {
      target += count;
      size -= static_cast<std::size_t>(count);
    } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
      return Status::closed;
    }
  }
  return Status::ok;
}

}  // namespace

WorkerProcess::WorkerProcess(const ProcessOptions& options) : log_(memory_file("worker log")) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw UserError("cannot make a socket pair: " + errno_text(errno));
  }
  socket_ = Fd(ends[0]);
  const Fd theirs(ends[1]), nothing = memory_file("stdin");
  pid_ = spawn(options, {{nothing.get(), 0}, {log_.get(), 1}, {log_.get(), 2}, {theirs.get(), kChildDescriptor}});
}

WorkerProcess::~WorkerProcess() { kill(); }

Status WorkerProcess::send(std::string_view message, std::chrono::milliseconds timeout) {
  STAX_CHECK(message.size() <= UINT32_MAX, "a message of a worker is too long");
  const Stopwatch watch;
  std::string header(kHeaderBytes, '\0');
  for (std::size_t i = 0; i < kHeaderBytes; ++i) header[i] = static_cast<char>(message.size() >> (8 * i) & 0xff);
  if (const Status status = send_bytes(socket_.get(), header, watch, timeout); status != Status::ok) return status;
  return send_bytes(socket_.get(), message, watch, timeout);
}

Status WorkerProcess::receive(std::string& message, std::chrono::milliseconds timeout, std::size_t max_bytes) {
  const Stopwatch watch;
  unsigned char header[kHeaderBytes];
  Status status = receive_bytes(socket_.get(), reinterpret_cast<char*>(header), kHeaderBytes, watch, timeout);
  if (status != Status::ok) return status;
  std::size_t size = 0;
  for (std::size_t i = 0; i < kHeaderBytes; ++i) size |= std::size_t{header[i]} << (8 * i);
  if (size > max_bytes) return Status::garbage;
  message.resize(size);
  return receive_bytes(socket_.get(), message.data(), size, watch, timeout);
}

bool WorkerProcess::running() {
  if (!reaped_) reaped_ = ::waitpid(pid_, nullptr, WNOHANG) == pid_;
  return !reaped_;
}

void WorkerProcess::kill() {
  if (pid_ < 0 || reaped_) return;
  ::kill(-pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
  reaped_ = true;
}

std::string WorkerProcess::log() const {
  std::string text;
  char buffer[4096];
  // pread: the child writes at the shared file position.
  while (true) {
    const ssize_t count = ::pread(log_.get(), buffer, sizeof buffer, static_cast<off_t>(text.size()));
    if (count <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

}  // namespace stax::base

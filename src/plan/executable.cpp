#include "plan/executable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "plan/facts.h"
#include "plan/guard_check.h"
#include "plan/report.h"
#include "plan/step_code.h"
#include "plan/thread_scratch.h"
#include "runtime/cpu/caching_allocator.h"
#include "runtime/device_runtime.h"
#include "runtime/error_word.h"

namespace stax::plan {

using runtime::ErrorWord;

namespace {

// Control blocks of output storages come from the caching allocator too.
template <class T>
struct PooledAllocator {
  using value_type = T;
  PooledAllocator() = default;
  template <class U>
  PooledAllocator(const PooledAllocator<U>&) {}  // NOLINT(google-explicit-constructor)
  T* allocate(std::size_t n) { return static_cast<T*>(runtime::CachingAllocator::cpu().allocate(n * sizeof(T))); }
  void deallocate(T* p, std::size_t n) noexcept { runtime::CachingAllocator::cpu().release(p, n * sizeof(T)); }
  template <class U>
  bool operator==(const PooledAllocator<U>&) const {
    return true;
  }
};

// Of a launch on a GPU, along its first dimension; kernels use no other.
constexpr std::int64_t kMostPrograms = std::numeric_limits<std::int32_t>::max();

// What a buffer is during a call. Temporaries are raw memory; outputs are storages.
struct BufferState {
  void* data = nullptr;
  std::size_t bytes = 0;
  bool temporary = false;  // and allocated
  std::shared_ptr<Storage> storage;
};

Device device_of(const Plan& plan) {
  if (!plan.buffers.empty()) return plan.buffers.front().device;
  return plan.inputs.empty() ? Device{} : plan.inputs.front().device;
}

}  // namespace

struct Executable::Impl {
  Impl(Plan p, std::vector<std::shared_ptr<runtime::Module>> m)
      : plan((verify(p), std::move(p))),
        modules(std::move(m)),
        guards(plan),
        code(plan, modules),
        device(runtime::runtime_for(device_of(plan))) {
    for (const int step : code.reports) {
      // The slot may outlive the plan.
      auto origins = reported_origins(plan, std::get<LaunchStep>(plan.steps[static_cast<std::size_t>(step)]));
      slots.push_back(
          device.error_slot([origins = std::move(origins)](const ErrorWord& word) { raise_report(word, origins); }));
    }
  }

  Plan plan;
  std::vector<std::shared_ptr<runtime::Module>> modules;
  GuardCheck guards;
  PlanCode code;
  runtime::DeviceRuntime& device;
  std::vector<std::shared_ptr<runtime::ErrorSlot>> slots;  // null on a device whose launches have ended at once
};

namespace {

using Slot = std::shared_ptr<runtime::ErrorSlot>;

// One call. Its memory comes from the thread's scratch; a failure frees what was allocated.
class Run {
 public:
  Run(const Plan& plan, const PlanCode& code, runtime::DeviceRuntime& device, std::span<const Slot> slots,
      const CallArgs& args, void* memory);
  ~Run();
  static std::size_t bytes(const Plan& plan, const PlanCode& code);

  void bind();
  void steps();
  void outputs(std::span<Array> out);

 private:
  void step(const AllocCode& s);
  void step(const FreeCode& s);
  void step(const LaunchCode& s);
  void step(const MatmulCode& s);
  void step(const CopyCode& s);
  [[noreturn]] void raise(const LaunchCode& s) const;
  CallMemory memory() const;
  void* address(const ViewCode& v, Dtype dtype) const;
  // Values of a view's sizes or strides, kept in `into`.
  std::span<const std::int64_t> sizes(const ViewCode& v, std::int64_t* into) const {
    return gather(v.first, v.rank, into);
  }
  std::span<const std::int64_t> strides(const ViewCode& v, std::int64_t* into) const {
    return gather(v.first + v.rank, v.rank, into);
  }
  std::span<const std::int64_t> gather(int first, int count, std::int64_t* into) const {
    for (int i = 0; i < count; ++i) into[i] = registers_[code_.list[static_cast<std::size_t>(first + i)]];
    return {into, static_cast<std::size_t>(count)};
  }

  const Plan& plan_;
  const PlanCode& code_;
  runtime::DeviceRuntime& device_;
  std::span<const Slot> slots_;
  const CallArgs& args_;
  BufferState* buffers_;
  std::int64_t* registers_;
  std::uint64_t* scalars_;
  void** launch_buffers_;
  std::int64_t* launch_ints_;
  std::uint64_t* launch_scalars_;
  ErrorWord error_;
};

std::size_t Run::bytes(const Plan& plan, const PlanCode& code) {
  return sizeof(BufferState) * plan.buffers.size() +
         8 * (code.expressions.initial().size() + plan.scalars.size() + plan.derived.size() +
              static_cast<std::size_t>(code.most_buffers + code.most_ints + code.most_scalars));
}

Run::Run(const Plan& plan, const PlanCode& code, runtime::DeviceRuntime& device, std::span<const Slot> slots,
         const CallArgs& args, void* memory)
    : plan_(plan), code_(code), device_(device), slots_(slots), args_(args) {
  buffers_ = static_cast<BufferState*>(memory);
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) new (&buffers_[i]) BufferState;
  registers_ = reinterpret_cast<std::int64_t*>(buffers_ + plan.buffers.size());
  scalars_ = reinterpret_cast<std::uint64_t*>(registers_ + code.expressions.initial().size());
  launch_scalars_ = scalars_ + plan.scalars.size() + plan.derived.size();
  launch_ints_ = reinterpret_cast<std::int64_t*>(launch_scalars_ + code.most_scalars);
  launch_buffers_ = reinterpret_cast<void**>(launch_ints_ + code.most_ints);
}

Run::~Run() {
  for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
    BufferState& b = buffers_[i];
    if (b.temporary) device_.allocator().release(b.data, b.bytes);
    b.~BufferState();
  }
}

void Run::bind() {
  const auto& initial = code_.expressions.initial();
  if (!initial.empty()) std::memcpy(registers_, initial.data(), initial.size() * sizeof(std::int64_t));
  for (std::size_t i = 0; i < plan_.bindings.size(); ++i) registers_[i] = read_fact(plan_.bindings[i].from, args_);
  if (!code_.expressions.run(registers_, 0, code_.expressions.size()))
    throw UserError(fmt::format("{}: a size does not fit 64 bits or divides by zero", plan_.name));
  for (std::size_t i = 0; i < plan_.scalars.size(); ++i) scalars_[i] = args_.scalars[i].bits;
  for (std::size_t i = 0; i < code_.derived.size(); ++i) {
    const std::int64_t v = registers_[code_.derived[i].value];
    scalars_[plan_.scalars.size() + i] = code_.derived[i].dtype == Dtype::f64
                                             ? std::bit_cast<std::uint64_t>(static_cast<double>(v))
                                             : static_cast<std::uint64_t>(v);
  }
  for (std::size_t i = 0; i < plan_.buffers.size(); ++i)
    if (plan_.buffers[i].kind == BufferKind::input)
      buffers_[i].data = args_.tensors[static_cast<std::size_t>(plan_.buffers[i].input)]->data();
}

void Run::steps() {
  std::size_t i = 0;
  try {
    for (; i < code_.steps.size(); ++i) std::visit([this](const auto& one) { step(one); }, code_.steps[i]);
  } catch (const DeviceError& error) {
    const auto* alloc = std::get_if<AllocCode>(&code_.steps[i]);
    raise_in_step(plan_, i < code_.first_step ? 0 : i - code_.first_step, alloc ? alloc->buffer : -1, error, memory());
  }
}

CallMemory Run::memory() const {
  CallMemory m;
  for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
    const BufferState& b = buffers_[i];
    if (b.temporary) m.temporaries += b.bytes;
    if (b.storage) m.results += b.bytes;
  }
  std::vector<const Storage*> seen;
  for (std::size_t i = 0; i < plan_.inputs.size(); ++i) {
    const Storage* s = args_.tensors[i]->storage().get();
    if (std::ranges::find(seen, s) != seen.end()) continue;
    seen.push_back(s);
    m.arguments.emplace_back(plan_.inputs[i].name, s->bytes());
  }
  return m;
}

void Run::step(const AllocCode& s) {
  BufferState& b = buffers_[s.buffer];
  const std::int64_t bytes = registers_[s.bytes];
  STAX_CHECK(bytes >= 0,
             fmt::format("buffer {} has {} bytes", plan_.buffers[static_cast<std::size_t>(s.buffer)].name, bytes));
  b.bytes = static_cast<std::size_t>(bytes);
  const Buffer& buffer = plan_.buffers[static_cast<std::size_t>(s.buffer)];
  if (buffer.kind == BufferKind::output) {
    b.storage = std::allocate_shared<Storage>(PooledAllocator<Storage>{}, device_.allocator(), b.bytes, buffer.device);
    b.data = b.storage->data();
  } else if (b.bytes) {
    b.data = device_.allocator().allocate(b.bytes);
    b.temporary = true;
  }
}

void Run::step(const FreeCode& s) {
  BufferState& b = buffers_[s.buffer];
  if (b.temporary) device_.allocator().release(b.data, b.bytes);
  b.temporary = false;
  b.data = nullptr;
}

void Run::step(const LaunchCode& s) {
  const int* list = code_.list.data();
  for (int i = 0; i < s.buffers; ++i) launch_buffers_[i] = buffers_[list[s.first_buffer + i]].data;
  for (int i = 0; i < s.ints; ++i) launch_ints_[i] = registers_[list[s.first_int + i]];
  for (int i = 0; i < s.scalars; ++i) launch_scalars_[i] = scalars_[list[s.first_scalar + i]];
  runtime::LaunchArgs args;
  args.function = s.function;
  args.buffers = {launch_buffers_, static_cast<std::size_t>(s.buffers)};
  args.ints = {launch_ints_, static_cast<std::size_t>(s.ints)};
  args.scalars = {launch_scalars_, static_cast<std::size_t>(s.scalars)};
  for (int d = 0; d < 3; ++d)
    if (s.grid[d] >= 0) args.grid[d] = registers_[s.grid[d]];
  if (args.grid[0] > kMostPrograms) [[unlikely]]
    throw DeviceError(fmt::format(
        "{} programs are more than a launch can have ({}): its blocks were chosen for sizes like those of the first "
        "call. Compile for such sizes: without Dynamic::yes, or with a first call of such sizes",
        args.grid[0], kMostPrograms));
  if (args.grid[0] == 0 || args.grid[1] == 0 || args.grid[2] == 0) return;
  runtime::ErrorSlot* slot = s.report < 0 ? nullptr : slots_[static_cast<std::size_t>(s.report)].get();
  args.error = slot ? slot->word() : &error_;
  device_.launch(args);
  // Before a later step stores to an input.
  if (error_.code != 0) [[unlikely]]
    raise(s);
}

void* Run::address(const ViewCode& v, Dtype dtype) const {
  void* base = buffers_[v.buffer].data;
  return base ? static_cast<char*>(base) + registers_[v.offset] * byte_size(dtype) : nullptr;
}

void Run::step(const MatmulCode& s) {
  std::int64_t values[6][kMaxRank];
  runtime::MatmulArgs args;
  args.dtype = s.dtype;
  const auto rank = static_cast<std::size_t>(s.out.rank);
  const auto out_sizes = sizes(s.out, values[0]);
  args.batch = out_sizes.first(rank - 2);
  args.m = out_sizes[rank - 2], args.n = out_sizes[rank - 1];
  args.k = registers_[code_.list[static_cast<std::size_t>(s.a.first + s.a.rank - 1)]];
  args.a = {address(s.a, s.dtype), strides(s.a, values[1])};
  args.b = {address(s.b, s.dtype), strides(s.b, values[2])};
  args.out = {address(s.out, s.dtype), strides(s.out, values[3])};
  if (s.has_bias) args.bias = {address(s.bias, s.dtype), strides(s.bias, values[4])};
  if (s.has_residual) args.residual = {address(s.residual, s.dtype), strides(s.residual, values[5])};
  args.activation = s.activation;
  args.scale = s.scale;
  if (s.weight_input >= 0) args.weight = &args_.tensors[static_cast<std::size_t>(s.weight_input)]->storage();
  device_.matmul(args);
}

void Run::step(const CopyCode& s) {
  std::int64_t values[3][kMaxRank];
  runtime::CopyArgs args;
  args.from = address(s.from, s.from_dtype), args.to = address(s.to, s.to_dtype);
  args.from_dtype = s.from_dtype, args.to_dtype = s.to_dtype;
  args.sizes = sizes(s.to, values[0]);
  args.from_strides = strides(s.from, values[1]), args.to_strides = strides(s.to, values[2]);
  device_.copy(args);
}

void Run::raise(const LaunchCode& s) const {
  const auto& launch = std::get<LaunchStep>(plan_.steps[static_cast<std::size_t>(s.step)]);
  raise_report(error_, reported_origins(plan_, launch));
}

void Run::outputs(std::span<Array> out) {
  STAX_CHECK(out.size() == code_.outputs.size(), fmt::format("{} outputs, not {}", out.size(), code_.outputs.size()));
  // An element of `out` may be one of the arguments: read everything before the first assignment.
  boost::container::small_vector<Array, 8> made;
  made.reserve(out.size());
  for (const OutputCode& o : code_.outputs) {
    Layout layout;
    layout.sizes.resize(static_cast<std::size_t>(o.view.rank));
    layout.strides.resize(static_cast<std::size_t>(o.view.rank));
    sizes(o.view, layout.sizes.data());
    strides(o.view, layout.strides.data());
    layout.offset = registers_[o.view.offset];
    if (o.input >= 0) {
      const Array& in = *args_.tensors[static_cast<std::size_t>(o.input)];
      layout.offset += in.offset();
      made.emplace_back(in.storage(), o.dtype, std::move(layout));
    } else {
      made.emplace_back(buffers_[o.view.buffer].storage, o.dtype, std::move(layout));
    }
  }
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::move(made[i]);
}

// Counts the writes to inputs when the call ends, in whichever way: what was derived from the old contents is stale.
class WriteMarks {
 public:
  WriteMarks(const Plan& plan, const CallArgs& args) : plan_(plan), args_(args) {
    for (std::size_t i = 0; i < plan.inputs.size(); ++i)
      if (plan.inputs[i].written && args.tensors[i]->storage()->read_only())
        throw UserError(fmt::format("{} is written, but its memory is read-only", plan.inputs[i].name), {},
                        "Pass a copy (clone())");
  }
  ~WriteMarks() {
    for (std::size_t i = 0; i < plan_.inputs.size(); ++i)
      if (plan_.inputs[i].written) args_.tensors[i]->storage()->bump_version();
  }

 private:
  const Plan& plan_;
  const CallArgs& args_;
};

}  // namespace

Executable::Executable(Plan plan, std::vector<std::shared_ptr<runtime::Module>> modules)
    : impl_(std::make_unique<const Impl>(std::move(plan), std::move(modules))) {}
Executable::~Executable() = default;
Executable::Executable(Executable&&) noexcept = default;
Executable& Executable::operator=(Executable&&) noexcept = default;

const Plan& Executable::plan() const { return impl_->plan; }

bool Executable::check(const CallArgs& args, GuardFailure* why) const { return impl_->guards.run(args, why); }

void Executable::run(const CallArgs& args, std::span<Array> outputs) const {
  const Impl& self = *impl_;
  for (const Slot& slot : self.slots)
    if (slot) slot->raise_if_reported();  // of an earlier call
  const ThreadScratch scratch(Run::bytes(self.plan, self.code));
  Run run(self.plan, self.code, self.device, self.slots, args, scratch.data());
  {
    const WriteMarks marks(self.plan, args);
    run.bind();
    run.steps();
  }
  run.outputs(outputs);
}

}  // namespace stax::plan

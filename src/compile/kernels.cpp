#include "compile/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "codegen/cpp/emit.h"
#include "codegen/triton/job.h"
#include "compile/dump.h"
#include "loop/text.h"

namespace stax::compiler {

namespace {

using loop::Canonical;
using loop::TritonSchedule;
using schedule::KernelSchedule;

// A Triton schedule names buffers and sizes; `buffer` and `size` translate them.
template <class Buffers, class Sizes>
KernelSchedule translated(const KernelSchedule& s, const Buffers& buffer, const Sizes& size) {
  const auto* from = std::get_if<TritonSchedule>(&s);
  if (!from) return s;
  TritonSchedule to = *from;
  for (loop::BufferId& b : to.aligned) b = buffer(b);
  for (loop::SizePromise& q : to.promises) q.size = size(q.size);
  return to;
}

template <class List, class T>
std::size_t position(const List& list, const T& element, const char* what) {
  const auto it = std::find(list.begin(), list.end(), element);
  STAX_CHECK(it != list.end(), std::string("schedule: unknown ") + what);
  return static_cast<std::size_t>(it - list.begin());
}

KernelSchedule canonical_schedule(const KernelSchedule& s, const Canonical& c) {
  return translated(
      s, [&](loop::BufferId b) { return static_cast<int>(position(c.buffers, b, "buffer")); },
      [&](loop::Expr e) { return c.program.sizes[position(c.sizes, e, "size")]; });
}

// Temporaries and outputs are aligned by the allocator; inputs only where the launch checks it. The inputs that a call
// with other addresses could count on.
std::vector<int> drop_promises(TritonSchedule& s, const Canonical& c, const loop::Program& p,
                               const Promises& promises) {
  std::vector<int> dropped;
  std::erase_if(s.aligned, [&](loop::BufferId b) {
    const loop::Buffer& buffer = p.buffers[static_cast<std::size_t>(c.buffers[static_cast<std::size_t>(b)])];
    if (buffer.kind != loop::BufferKind::input) return false;
    const bool unaligned = std::ranges::find(promises.unaligned, buffer.input) != promises.unaligned.end();
    if (unaligned && promises.allowed) dropped.push_back(buffer.input);
    return !promises.allowed || unaligned;
  });
  return dropped;
}

schedule::Target with_promises(schedule::Target target, const Promises& promises) {
  if (auto* gpu = std::get_if<schedule::GpuTarget>(&target)) {
    gpu->promise_sizes &= promises.allowed;
    gpu->promise_bounds &= promises.bounds;
  }
  return target;
}

// For each value of a kernel the operator that it comes from.
std::vector<loop::Origin> operators_of(const loop::Program& p, const loop::Kernel& k) {
  std::vector<loop::Origin> operators;
  for (const loop::Value& v : k.values)
    operators.push_back(v.origin < 0 ? loop::Origin{} : p.origins.at(static_cast<std::size_t>(v.origin)));
  return operators;
}

std::vector<std::string> names_of(const std::vector<loop::Origin>& operators) {
  std::vector<std::string> names;
  for (const loop::Origin& o : operators) names.push_back(o.op);
  return names;
}

}  // namespace

std::vector<ScheduledKernel> emit_kernels(const loop::Program& p, const schedule::Target& wanted,
                                          const std::vector<KernelSchedule>* schedules, const Promises& promises) {
  const schedule::Target target = with_promises(wanted, promises);
  std::vector<ScheduledKernel> kernels;
  std::map<std::string, int> codes;  // canonical loops and schedule → position among distinct sources
  std::vector<std::size_t> first;    // by code: the kernel that has it
  for (const loop::Item& item : p.items) {
    const auto* k = std::get_if<loop::Kernel>(&item);
    if (!k) continue;
    ScheduledKernel s;
    s.canonical = loop::canonicalize(p, *k);
    const loop::Program& program = s.canonical.program;
    const auto& canonical = std::get<loop::Kernel>(program.items.at(0));
    if (schedules && std::holds_alternative<TritonSchedule>(schedules->at(kernels.size())) != schedule::is_gpu(target))
      throw UserError(fmt::format("kernel {}: its schedule is for another target", k->name), {},
                      "Leave the schedules out, or name their target (stax-opt --target)");
    if (schedules)
      s.schedule = canonical_schedule(schedules->at(kernels.size()), s.canonical);
    else
      s.schedule = schedule::schedule_kernel(canonical, program, target);
    if (auto* triton = std::get_if<TritonSchedule>(&s.schedule)) {
      s.wished_inputs = drop_promises(*triton, s.canonical, p, promises);
      if (promises.allowed) s.wished_sizes = schedule::further_promises(canonical, program, *triton);
    }
    const std::string text =
        loop::to_text(program, loop::Hints::left_out) + schedule::to_text(s.schedule, canonical, program);
    auto [it, fresh] = codes.try_emplace(text, static_cast<int>(first.size()));
    s.code = it->second;
    if (!fresh) {
      const ScheduledKernel& same = kernels[first[static_cast<std::size_t>(s.code)]];
      s.symbol = same.symbol, s.source = same.source, s.triton = same.triton;  // the name of the first
    } else if (const auto* cpu = std::get_if<loop::CpuSchedule>(&s.schedule)) {
      s.operators = operators_of(p, *k);
      s.symbol = k->name;
      const codegen::CppKernel one{s.symbol, &program, &canonical, cpu};
      s.source = codegen::emit_cpp({&one, 1}, std::get<schedule::CpuTarget>(target).vector_bytes);
    } else {
      loop::Kernel named = canonical;
      named.name = k->name;
      s.operators = operators_of(p, *k);
      s.triton = std::make_shared<codegen::TritonKernelText>(
          codegen::emit_triton(program, named, std::get<TritonSchedule>(s.schedule), names_of(s.operators)));
      s.symbol = s.triton->function;
      s.source = s.triton->text;
    }
    if (fresh) first.push_back(kernels.size());
    kernels.push_back(std::move(s));
  }
  return kernels;
}

KernelSchedule program_schedule(const ScheduledKernel& k) {
  const Canonical& c = k.canonical;
  return translated(
      k.schedule, [&](loop::BufferId b) { return c.buffers.at(static_cast<std::size_t>(b)); },
      [&](loop::Expr e) { return c.sizes[position(c.program.sizes, e, "size")]; });
}

namespace {

std::vector<loop::Origin> operators_of_source(const std::vector<const ScheduledKernel*>& kernels,
                                              const std::string& source) {
  const auto it = std::ranges::find_if(kernels, [&](const ScheduledKernel* k) { return k->source == source; });
  return it == kernels.end() ? std::vector<loop::Origin>{} : (*it)->operators;
}

}  // namespace

BuiltKernels build_kernels(const std::vector<ScheduledKernel>& kernels, Session& session, Device device,
                           build::KernelStoreStats* stats) {
  std::vector<const ScheduledKernel*> distinct;
  for (const ScheduledKernel& k : kernels)
    if (k.code == static_cast<int>(distinct.size())) distinct.push_back(&k);
  if (distinct.empty()) return {};
  if (device.kind == DeviceKind::cpu) {
    std::vector<build::CppJob> jobs;
    for (const ScheduledKernel* k : distinct) jobs.push_back({k->symbol, k->source});
    try {
      return {session.kernels().build_or_load_all(jobs, stats), {}};
    } catch (const build::CppRefusal& refusal) {
      throw InternalError(fmt::format("{}\nThe kernel computes {}", refusal.what(),
                                      operators_text(operators_of_source(distinct, refusal.job().source))));
    }
  }
  std::vector<build::TritonJob> jobs;
  for (const ScheduledKernel* k : distinct) jobs.push_back(codegen::job_of(*k->triton));
  BuiltKernels built;
  try {
    for (build::GpuKernel& k : session.gpu_kernels().build_or_load_all(jobs, device, stats)) {
      built.modules.push_back(std::move(k.module));
      built.resources.push_back(k.resources);
    }
  } catch (const build::TritonRefusal& refusal) {
    report_refusal(refusal, operators_of_source(distinct, refusal.job().text),
                   session.gpu_kernels().compiler().python());
  }
  return built;
}

}  // namespace stax::compiler

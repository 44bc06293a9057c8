#include "stages.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/env.h"
#include "base/text.h"
#include "codegen/cpp/emit.h"
#include "fusion/split.h"
#include "graph/interpret.h"
#include "passes/lower.h"
#include "passes/passes.h"
#include "plan/text.h"
#include "schedule/text.h"

namespace stax::tools {

namespace {

class Opt {
 public:
  explicit Opt(const OptOptions& o) : o_(o), file_(read_text(o.path)) { settings_.strict_numerics = o.strict; }

  void run() {
    check_names();
    read();
    choose_target();
    passes();
    lower();
    split();
    stage("fuse", o_.fuse, [this] {
      fusion::FusionResult fused =
          fusion::fuse(std::move(*work_.program), compiler::fusion_options(settings_, target_));
      report_ = fusion::report(fused);
      work_.program = std::move(fused.program);
    });
    stage("normalise", o_.normalise, [this] { compiler::normalise_kernels(*work_.program); });
    stage("schedule", o_.schedule, [this] { choose_schedules(); });
    finish();
  }

 private:
  bool printed_after(std::string_view name) const {
    return std::ranges::any_of(o_.print_after, [&](const std::string& n) { return n == name || n == "all"; });
  }

  // Unknown names are errors before anything runs.
  void check_names() const {
    std::vector<std::string> known{"all"};
    for (const passes::Pass& p : passes::all_passes()) known.emplace_back(p.name);
    for (const std::string& name : o_.passes)
      if (std::ranges::find(known, name) == known.end())
        throw UserError(fmt::format("--pass: there is no pass '{}'", name), {}, "Valid names: " + base::joined(known));
    for (const char* stage : {"lower", "split", "fuse", "normalise", "schedule"}) known.emplace_back(stage);
    for (const std::string& name : o_.print_after)
      if (std::ranges::find(known, name) == known.end())
        throw UserError(fmt::format("--print-after: there is no pass or stage '{}'", name), {},
                        "Valid names: " + base::joined(known));
  }

  void read() {
    switch (file_.kind) {
      case TextKind::graph:
        source_ = graph::parse_graph(file_.text, file_.path);
        work_.graph = graph::rewrite(*source_, nullptr);
        break;
      case TextKind::program: {
        schedule::ScheduledProgram read = schedule::parse_scheduled(file_.text, file_.path);
        work_.program = std::move(read.program);
        work_.schedules = std::move(read.schedules);
        break;
      }
      case TextKind::plan:
        work_.plan = plan::parse_plan(file_.text, std::make_shared<symbolic::Context>(), file_.path);
        break;
    }
    verify();
  }

  void choose_target() {
    if (source_) device_ = compiler::device_of(*source_);
    if (o_.target == "cpu" || (o_.target.empty() && o_.emit == "cpp")) device_ = {};
    if (o_.target == "gpu" || (o_.target.empty() && o_.emit == "triton")) device_ = {DeviceKind::null_gpu, 0};
    target_ = compiler::Session::of({}).target(device_);
  }

  void verify() const {
    if (!o_.verify) return;
    if (work_.program)
      loop::verify(*work_.program);
    else if (work_.graph)
      graph::verify(*work_.graph);
    else
      plan::verify(*work_.plan);
  }

  std::string text() const {
    if (work_.plan) return plan::to_text(*work_.plan);
    if (work_.program)
      return loop::to_text(*work_.program) +
             (work_.schedules ? schedule::to_text(*work_.program, *work_.schedules) : "");
    return graph::to_text(*work_.graph);
  }

  void done(std::string_view name) {
    verify();
    if (printed_after(name)) fmt::print("# after {}\n{}", name, text());
  }

  void need_program(std::string_view stage) const {
    if (work_.program) return;
    throw UserError(fmt::format("--{}: {} is a {}, not a loop program", stage, o_.path, work_.plan ? "plan" : "graph"),
                    {}, work_.plan ? "Give a graph or a loop program" : "Add --pass all --lower");
  }

  template <class F>
  void stage(std::string_view name, bool wanted, const F& f) {
    if (!wanted) return;
    need_program(name);
    if (work_.schedules && name != "schedule")
      throw UserError(fmt::format("--{}: the text is scheduled already", name));
    f();
    done(name);
  }

  void passes() {
    if (o_.passes.empty()) return;
    if (!work_.graph) throw UserError(fmt::format("--pass: {} is no graph", o_.path));
    for (const std::string& name : o_.passes)
      for (const passes::Pass& p : passes::all_passes()) {
        if (name != p.name && name != "all") continue;
        work_.graph = p.run(*work_.graph, compiler::pass_options(settings_, device_));
        done(p.name);
      }
  }

  void lower() {
    if (!o_.lower) return;
    if (!work_.graph) throw UserError(fmt::format("--lower: {} is no graph", o_.path));
    for (const graph::Node* n : work_.graph->nodes())
      if (!n->op->is_view() && !n->op->lower && n->op->decompose)
        throw UserError(fmt::format("--lower: {} is not a primitive operator", n->op->name), n->where,
                        "Add --pass all, or --pass decompose");
    work_.program = passes::lower(*work_.graph, {settings_.index_checks});
    done("lower");
  }

  void split() {
    stage("split", o_.split > 0,
          [this] { (void)fusion::split_reductions(*work_.program, fusion::SplitTarget::gpu(o_.split)); });
  }

  void choose_schedules() {
    if (work_.schedules) throw UserError("--schedule: the text is scheduled already");
    work_.schedules.emplace();
    for (compiler::ScheduledKernel& k : compiler::emit_kernels(*work_.program, target_))
      work_.schedules->push_back(compiler::program_schedule(k));
  }

  const std::vector<schedule::KernelSchedule>* schedules() const {
    return work_.schedules ? &*work_.schedules : nullptr;
  }

  void finish() {
    if (!o_.emit.empty()) emit();
    if (o_.plan) print_plan();
    if (!o_.run.empty()) execute();
    if (!o_.emit.empty() || o_.plan || !o_.run.empty() || !o_.print_after.empty()) return;
    for (std::size_t begin = 0; begin < report_.size();) {
      const std::size_t end = std::min(report_.find('\n', begin), report_.size());
      fmt::print("# {}\n", report_.substr(begin, end - begin));
      begin = end + 1;
    }
    fmt::print("{}", text());
  }

  void emit() const {
    need_program("emit");
    int next = 0;
    for (const compiler::ScheduledKernel& k : compiler::emit_kernels(*work_.program, target_, schedules()))
      if (k.code == next) {
        fmt::print("{} {}\n{}", k.triton ? "#" : "//", k.symbol, k.source);
        ++next;
      }
  }

  void print_plan() const {
    if (work_.plan) return fmt::print("{}", plan::to_text(*work_.plan));
    if (work_.program)
      return fmt::print(
          "{}", plan::to_text(
                    plan_of(*work_.program, compiler::emit_kernels(*work_.program, target_, schedules()), device_)));
    fmt::print("{}", plan::to_text(
                         compiler::compile_graph(*source_, settings_, compiler::Session::of({}))->executable.plan()));
  }

  void execute() {
    if (work_.plan) throw UserError("--run: the text of a plan has no code", {}, "Run the graph or the loop program");
    const Inputs inputs =
        work_.program ? gather_inputs(*work_.program, o_.inputs) : gather_inputs(*work_.graph, o_.inputs);
    std::vector<Result> results;
    if (o_.run == "reference") {
      if (work_.program)
        throw UserError("--run reference: a loop program has no operators", {}, "Use --run loops or --run cpu");
      results = run_reference(*work_.graph, inputs);
    } else if (o_.run == "loops") {
      if (!work_.program)
        work_.program = passes::lower(compiler::run_passes(*work_.graph, settings_), {settings_.index_checks});
      results = run_loops(*work_.program, inputs);
    } else if (work_.program) {
      results = run_compiled(build_program(*work_.program, schedules()), inputs);
    } else {
      results =
          run_compiled(compiler::compile_graph(*work_.graph, settings_, compiler::Session::of({}))->executable, inputs);
    }
    fmt::print("{}", describe(inputs));
    for (const Result& r : results) fmt::print("{}\n", summary(r));
    if (!o_.output.empty()) save(results, o_.output);
  }

  const OptOptions& o_;
  TextFile file_;
  compiler::Settings settings_;
  Device device_;
  schedule::Target target_;
  std::optional<graph::Graph> source_;
  Work work_;
  std::string report_;
};

}  // namespace

void run_stages(const OptOptions& options) {
  (void)base::check_environment();
  if (options.path.empty()) throw UserError("no file", {}, "Use: stax-opt FILE [options]; --help lists them");
  Opt(options).run();
}

}  // namespace stax::tools

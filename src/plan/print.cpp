#include <algorithm>

#include "base/text.h"
#include "plan/names.h"
#include "plan/text.h"

namespace stax::plan {

namespace {

std::string bound_text(std::int64_t v) {
  if (v == symbolic::kMaxInf) return "inf";
  if (v == symbolic::kMinInf) return "-inf";
  return std::to_string(v);
}

std::string place_text(const SourceLoc& where) {
  return where.known() ? fmt::format(" at {}:{}", base::quote(where.file), where.line) : std::string{};
}

std::string because_text(const std::string& reason, const SourceLoc& where) {
  return (reason.empty() ? std::string{} : " because " + base::quote(reason)) + place_text(where);
}

std::string list_text(const std::vector<Expr>& list) {
  std::vector<std::string> items;
  for (const Expr& e : list) items.push_back(to_string(e));
  return base::joined(items);
}

class Printer {
 public:
  explicit Printer(const Plan& plan) : plan_(plan) {}

  std::string run() {
    {
      const auto body = out_.block(fmt::format("plan @{} {{", name_text(plan_.name)));
      arguments();
      guards();
      memory();
      for (const Step& s : plan_.steps) std::visit([this](const auto& one) { step(one); }, s);
      for (const Output& o : plan_.outputs)
        line("return", fmt::format("{} {} {}", name_text(o.name), to_text(o.dtype), view(o.view)));
    }
    return out_.take();
  }

 private:
  void line(std::string_view word, const std::string& rest) { out_.format_line("{:<6} {}", word, rest); }
  std::string buffer(int b) const { return name_text(plan_.buffers.at(static_cast<std::size_t>(b)).name); }
  std::string view(const View& v) const {
    return fmt::format("{}[{}] strides ({}) offset {}", buffer(v.buffer), list_text(v.sizes), list_text(v.strides),
                       to_string(v.offset));
  }
  std::string scalar(int position) const {
    const auto p = static_cast<std::size_t>(position), n = plan_.scalars.size();
    return name_text(p < n ? plan_.scalars[p].name : plan_.derived.at(p - n).name);
  }

  void arguments() {
    for (const TensorInput& i : plan_.inputs)
      line("input", fmt::format("{} {} rank {} {}{}", name_text(i.name), to_text(i.dtype), i.rank, to_string(i.device),
                                i.written ? " written" : ""));
    for (const ScalarInput& s : plan_.scalars)
      line("scalar", fmt::format("{} {}", name_text(s.name), to_text(s.dtype)));
    for (const Binding& b : plan_.bindings) {
      const symbolic::SymbolInfo& info = b.symbol.info();
      line("bind", fmt::format("{} in [{}, {}]{}{} = {}{}", b.symbol.name(), bound_text(info.range.lo),
                               bound_text(info.range.hi),
                               info.multiple_of > 1 ? fmt::format(" multiple {}", info.multiple_of) : "",
                               info.hint ? fmt::format(" hint {}", *info.hint) : "", to_text(b.from, plan_),
                               because_text(b.reason, b.where)));
    }
  }

  void guards() {
    for (const Guard& g : plan_.guards)
      line(g.promise ? "promise" : "guard", to_text(g, plan_) + because_text(g.reason, g.where));
  }

  void memory() {
    for (const DerivedScalar& d : plan_.derived)
      line("derive", fmt::format("{} {} = {}", name_text(d.name), to_text(d.dtype), to_string(d.value)));
    for (const Buffer& b : plan_.buffers) {
      const std::string head = fmt::format("{} {} {}", name_text(b.name), to_text(b.dtype), to_string(b.device));
      if (b.kind == BufferKind::input)
        line("buffer",
             fmt::format("{} input {}", head, name_text(plan_.inputs.at(static_cast<std::size_t>(b.input)).name)));
      else
        line("buffer", fmt::format("{} {} bytes {}", head, b.kind == BufferKind::output ? "output" : "temporary",
                                   to_string(b.bytes)));
    }
    for (const Kernel& k : plan_.kernels)
      line("kernel", fmt::format("{} symbol {} module {}{}", name_text(k.name), name_text(k.symbol), k.module,
                                 k.reports ? " reports" : ""));
    for (const Origin& o : plan_.origins) line("origin", name_text(o.op) + place_text(o.where));
  }

  void step(const AllocStep& s) { line("alloc", buffer(s.buffer)); }
  void step(const FreeStep& s) { line("free", buffer(s.buffer)); }
  void step(const LaunchStep& s) {
    std::vector<std::string> buffers, scalars;
    for (const int b : s.buffers) buffers.push_back(buffer(b));
    for (const int p : s.scalars) scalars.push_back(scalar(p));
    std::vector<std::string> origins, aligned, promises;
    for (const int o : s.origins) origins.push_back(std::to_string(o));
    for (const int b : s.aligned) aligned.push_back(buffer(b));
    for (const Bool& c : s.promises) promises.push_back(to_string(c));
    const auto list = [](const char* word, const std::vector<std::string>& items) {
      return items.empty() ? std::string{} : fmt::format(" {} ({})", word, base::joined(items));
    };
    line("launch",
         fmt::format("{} ({}; {}; {}){}{}{}{}{}", name_text(plan_.kernels.at(static_cast<std::size_t>(s.kernel)).name),
                     base::joined(buffers), list_text(s.ints), base::joined(scalars),
                     s.grid.empty() ? "" : fmt::format(" grid ({})", list_text(s.grid)), list("origins", origins),
                     s.origin < 0 ? "" : fmt::format(" from {}", s.origin), list("aligned", aligned),
                     list("promises", promises)));
  }
  void step(const MatmulStep& s) {
    std::string text =
        fmt::format("{} {} a {} b {} out {}", name_text(s.name), to_text(s.dtype), view(s.a), view(s.b), view(s.out));
    if (s.bias) text += " bias " + view(*s.bias);
    if (s.residual) text += " residual " + view(*s.residual);
    if (s.activation != runtime::Activation::none)
      text += fmt::format(" activation {}", runtime::to_text(s.activation));
    if (s.scale != 1.0) text += " scale " + base::float_text(s.scale);
    if (s.b_is_weight) text += " weight";
    if (s.origin >= 0) text += fmt::format(" origin {}", s.origin);
    line("matmul", text);
  }
  void step(const CopyStep& s) { line("copy", view(s.from) + " to " + view(s.to)); }

  const Plan& plan_;
  base::TextWriter out_;
};

}  // namespace

std::string to_text(const Plan& plan) { return Printer(plan).run(); }

}  // namespace stax::plan

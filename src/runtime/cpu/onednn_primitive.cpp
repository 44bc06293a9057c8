#include "runtime/cpu/onednn_primitive.h"

#include <cstring>

#include "base/hash.h"

namespace stax::runtime::onednn {

using dnnl::memory;

dnnl::engine& engine() {
  static auto* e = [] {
    // Ours holds what is in use; a primitive takes 60 to 80 KB.
    dnnl::set_primitive_cache_capacity(64);
    return new dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return *e;
}

std::mutex& creation_mutex() {
  static std::mutex mutex;
  return mutex;
}

dnnl::stream& stream() {
  thread_local dnnl::stream s(engine());
  return s;
}

namespace {

memory::data_type type_of(Dtype t) { return t == Dtype::bf16 ? memory::data_type::bf16 : memory::data_type::f32; }

// Broadcast dimensions have size 1 in the library's terms; strides of unit dimensions are made canonical.
memory::desc describe(const MatmulProblem& p, const MatmulMatrix& x, std::int64_t rows, std::int64_t columns) {
  memory::dims dims, strides;
  std::int64_t widest = rows * columns;
  for (std::size_t i = 0; i < p.batch.size(); ++i) {
    const bool broadcast = x.batch[i] == 0;
    dims.push_back(broadcast ? 1 : p.batch[i]);
    strides.push_back(broadcast ? widest : x.batch[i]);
  }
  dims.push_back(rows);
  dims.push_back(columns);
  const bool by_rows = columns == 1 ? x.rows != 1 || rows == 1 : x.columns == 1;
  strides.push_back(rows == 1 ? (by_rows ? columns : 1) : x.rows);
  strides.push_back(columns == 1 ? (by_rows ? 1 : rows) : x.columns);
  return memory::desc(dims, type_of(p.dtype), strides);
}

memory::desc describe_row_bias(const MatmulProblem& p) {
  memory::dims dims(p.batch.size() + 2, 1), strides(p.batch.size() + 2, p.n);
  dims.back() = p.n;
  strides.back() = 1;
  return memory::desc(dims, type_of(p.dtype), strides);
}

void append_activation(dnnl::post_ops& ops, Activation f) {
  using dnnl::algorithm;
  switch (f) {
    case Activation::none:
      return;
    case Activation::relu:
      return ops.append_eltwise(1.f, algorithm::eltwise_relu, 0.f, 0.f);
    case Activation::gelu_erf:
      return ops.append_eltwise(1.f, algorithm::eltwise_gelu_erf, 0.f, 0.f);
    case Activation::gelu_tanh:
      return ops.append_eltwise(1.f, algorithm::eltwise_gelu_tanh, 0.f, 0.f);
    case Activation::silu:
      return ops.append_eltwise(1.f, algorithm::eltwise_swish, 1.f, 0.f);
    case Activation::sigmoid:
      return ops.append_eltwise(1.f, algorithm::eltwise_logistic, 0.f, 0.f);
    case Activation::tanh:
      return ops.append_eltwise(1.f, algorithm::eltwise_tanh, 0.f, 0.f);
  }
}

dnnl_exec_arg_t arg(int index, const memory& m) { return {index, m.get()}; }

void put(memory& m, void* data) { dnnl_memory_set_data_handle_v2(m.get(), data, nullptr); }

}  // namespace

std::size_t KeyHash::operator()(const PrimitiveKey& key) const noexcept {
  std::uint64_t h = key.size();
  for (const std::int64_t v : key) h = base::hash_combine(h, static_cast<std::uint64_t>(v));
  return h;
}

PrimitiveKey key_of(const MatmulProblem& p, BiasForm bias, WeightForm weight, int threads) {
  PrimitiveKey key{static_cast<std::int64_t>(p.dtype),
                   p.m,
                   p.n,
                   p.k,
                   static_cast<std::int64_t>(p.activation),
                   static_cast<std::int64_t>(bias),
                   static_cast<std::int64_t>(weight),
                   threads};
  std::int64_t scale_bits;
  std::memcpy(&scale_bits, &p.scale, sizeof scale_bits);
  key.push_back(scale_bits);
  auto add = [&](const MatmulMatrix& x) {
    key.push_back(x.data != nullptr);
    if (!x.data) return;
    key.push_back(x.rows);
    key.push_back(x.columns);
    key.insert(key.end(), x.batch.begin(), x.batch.end());
  };
  key.insert(key.end(), p.batch.begin(), p.batch.end());
  add(p.a);
  if (weight == WeightForm::plain) add(p.b);
  add(p.out);
  add(p.residual);
  return key;
}

std::shared_ptr<Primitive> Primitive::make(const MatmulProblem& p, BiasForm bias, const memory::desc* packed) {
  const std::lock_guard lock(creation_mutex());
  auto made = std::make_shared<Primitive>();
  made->bias_form_ = bias;
  made->a_ = describe(p, p.a, p.m, p.k);
  if (packed) {
    STAX_CHECK(p.batch.empty(), "packed weights with batch dimensions");
    made->b_ = *packed;
  } else {
    made->b_ = describe(p, p.b, p.k, p.n);
  }
  made->out_ = describe(p, p.out, p.m, p.n);

  dnnl::post_ops ops;
  if (bias == BiasForm::row) made->bias_ = describe_row_bias(p);
  if (bias == BiasForm::full) {
    made->bias_ = describe(p, p.bias, p.m, p.n);
    made->full_bias_arg_ = DNNL_ARG_ATTR_MULTIPLE_POST_OP(ops.len()) | DNNL_ARG_SRC_1;
    ops.append_binary(dnnl::algorithm::binary_add, made->bias_);
  }
  append_activation(ops, p.activation);
  if (p.residual.data) {
    made->residual_ = describe(p, p.residual, p.m, p.n);
    made->residual_arg_ = DNNL_ARG_ATTR_MULTIPLE_POST_OP(ops.len()) | DNNL_ARG_SRC_1;
    ops.append_binary(dnnl::algorithm::binary_add, made->residual_);
  }
  dnnl::primitive_attr attr;
  // The library scales its own bias too; beside a scale the bias is a post-operation.
  if (p.scale != 1.0) attr.set_output_scales(0, {static_cast<float>(p.scale)});
  attr.set_post_ops(ops);
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);

  try {
    const auto desc = bias == BiasForm::row ? dnnl::matmul::desc(made->a_, made->b_, made->bias_, made->out_)
                                            : dnnl::matmul::desc(made->a_, made->b_, made->out_);
    const dnnl::matmul::primitive_desc pd(desc, attr, engine());
    if (std::strncmp(pd.impl_info_str(), "ref", 3) == 0) return nullptr;
    made->primitive_ = dnnl::matmul(pd);
    made->scratch_ = pd.scratchpad_desc();
    made->scratch_bytes_ = made->scratch_.get_size();
  } catch (const dnnl::error&) {
    return nullptr;
  }
  return made;
}

std::unique_ptr<CallSlot> Primitive::take_slot() {
  {
    const std::lock_guard lock(mutex_);
    if (!slots_.empty()) {
      auto slot = std::move(slots_.back());
      slots_.pop_back();
      return slot;
    }
  }
  auto slot = std::make_unique<CallSlot>();
  auto place = [&](memory& m, const memory::desc& d, int index) {
    m = memory(d, engine(), DNNL_MEMORY_NONE);
    slot->args.push_back(arg(index, m));
  };
  place(slot->a, a_, DNNL_ARG_SRC);
  place(slot->b, b_, DNNL_ARG_WEIGHTS);
  place(slot->out, out_, DNNL_ARG_DST);
  if (bias_form_ == BiasForm::row) place(slot->bias, bias_, DNNL_ARG_BIAS);
  if (bias_form_ == BiasForm::full) place(slot->full_bias, bias_, full_bias_arg_);
  if (residual_arg_) place(slot->residual, residual_, residual_arg_);
  if (scratch_bytes_) place(slot->scratchpad, scratch_, DNNL_ARG_SCRATCHPAD);
  return slot;
}

void Primitive::return_slot(std::unique_ptr<CallSlot> slot) {
  const std::lock_guard lock(mutex_);
  slots_.push_back(std::move(slot));
}

void Primitive::run(const MatmulProblem& p, memory* packed) {
  auto slot = take_slot();
  put(slot->a, p.a.data);
  slot->args[1].memory = packed ? packed->get() : slot->b.get();
  if (!packed) put(slot->b, p.b.data);
  put(slot->out, p.out.data);
  if (bias_form_ == BiasForm::row) put(slot->bias, p.bias.data);
  if (bias_form_ == BiasForm::full) put(slot->full_bias, p.bias.data);
  if (residual_arg_) put(slot->residual, p.residual.data);
  Scratch scratch;
  if (scratch_bytes_) {
    scratch = Scratch(scratch_bytes_);
    put(slot->scratchpad, scratch.data());
  }
  const dnnl_status_t status =
      dnnl_primitive_execute(primitive_.get(), stream().get(), static_cast<int>(slot->args.size()), slot->args.data());
  STAX_CHECK(status == dnnl_success, "oneDNN could not run a matmul");
  return_slot(std::move(slot));
}

memory::desc packed_layout(Dtype dtype, std::int64_t k, std::int64_t n) {
  constexpr std::int64_t kTypicalRows = 256;
  const auto t = type_of(dtype);
  const memory::desc a({kTypicalRows, k}, t, memory::format_tag::ab), b({k, n}, t, memory::format_tag::any),
      out({kTypicalRows, n}, t, memory::format_tag::ab);
  const std::lock_guard lock(creation_mutex());
  try {
    return dnnl::matmul::primitive_desc(dnnl::matmul::desc(a, b, out), engine()).weights_desc();
  } catch (const dnnl::error&) {
    return memory::desc({k, n}, t, memory::format_tag::ab);
  }
}

memory::desc plain_layout(Dtype dtype, std::int64_t k, std::int64_t n, const MatmulMatrix& b) {
  return memory::desc({k, n}, type_of(dtype), {k == 1 ? n : b.rows, n == 1 ? 1 : b.columns});
}

}  // namespace stax::runtime::onednn

#include "runtime/cuda/matmul.h"

#include <fmt/format.h>
#include <stax/base/error.h>

#include <bit>

#include "base/env.h"

namespace stax::runtime {

namespace {

constexpr std::size_t kWorkspace = std::size_t{32} << 20, kMostKept = 1024;

std::int32_t type_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32:
      return lt::kR32F;
    case Dtype::f64:
      return lt::kR64F;
    case Dtype::f16:
      return lt::kR16F;
    case Dtype::bf16:
      return lt::kR16BF;
    default:
      throw InternalError(fmt::format("cuBLASLt has no product of {}", to_text(dtype)));
  }
}

std::uint32_t epilogue_of(Activation a, Dtype dtype) {
  if (a == Activation::none) return lt::kDefault;
  if (dtype != Dtype::f64 && a == Activation::relu) return lt::kRelu;
  if (dtype != Dtype::f64 && a == Activation::gelu_tanh) return lt::kGelu;
  throw InternalError(fmt::format("cuBLASLt has no epilogue {} for {}", to_text(a), to_text(dtype)));
}

std::uint8_t alignment_of(const void* p) {
  return static_cast<std::uint8_t>(std::min(8, std::countr_zero(reinterpret_cast<std::uintptr_t>(p))));
}

void* moved(void* data, std::int64_t elements, int bytes) { return static_cast<char*>(data) + elements * bytes; }

}  // namespace

struct CudaMatmul::Entry {
  explicit Entry(const CublasLt& lt) : lt(lt) {}
  ~Entry() {
    for (lt::Layout l : layouts)
      if (l) lt.layout_destroy(l);
    if (desc) lt.desc_destroy(desc);
  }
  const CublasLt& lt;
  lt::MatmulDesc desc = nullptr;
  lt::Layout layouts[4] = {};  // A, B, C, D; no C when it is laid out as D
  lt::Algorithm algorithm{};
  std::size_t workspace = 0;
};

CudaMatmul::CudaMatmul(const CudaContext& context, DeviceAllocator& allocator, CudaStridedCopy& copies, Library library)
    : context_(context),
      allocator_(allocator),
      copies_(copies),
      library_(library),
      tf32_(base::env_flag("STAX_TF32").value_or(false)) {}

CudaMatmul::~CudaMatmul() {
  entries_.erase_if([](const auto&, const auto&) { return true; });
  if (handle_) lt_->destroy(handle_);
}

void CudaMatmul::check(lt::Status status, const char* what) const {
  if (status == lt::kSuccess) return;
  const char* name = lt_->status_name(status);
  throw DeviceError(fmt::format("{}: cuBLASLt: {}: {}", context_.name(), what, name ? name : "unknown status"));
}

std::unique_ptr<CudaMatmul::Entry> CudaMatmul::search(const LtKey& key) {
  auto e = std::make_unique<Entry>(*lt_);
  check(lt_->desc_create(&e->desc, key.compute, key.scale_type), "description of a product");
  auto set = [&](int attribute, auto value) {
    check(lt_->desc_set(e->desc, attribute, &value, sizeof(value)), "attribute of a product");
  };
  set(lt::kTransA, std::int32_t{key.transposed[0] ? lt::kTransposed : lt::kPlain});
  set(lt::kTransB, std::int32_t{key.transposed[1] ? lt::kTransposed : lt::kPlain});
  set(lt::kEpilogue, key.epilogue);
  if (key.epilogue & lt::kBias) {
    set(lt::kBiasBatchStride, key.bias_stride);
    set(lt::kBiasPointer, reinterpret_cast<void*>(std::uintptr_t{4096}));  // the search wants one; calls set their own
  }
  const std::int64_t rows[4] = {key.m, key.k, key.m, key.m}, columns[4] = {key.k, key.n, key.n, key.n};
  for (int i = 0; i < 4; ++i) {
    if (i == 2 && !key.own_c) continue;
    const bool flipped = i < 2 && key.transposed[i];
    check(lt_->layout_create(&e->layouts[i], key.type, static_cast<std::uint64_t>(flipped ? columns[i] : rows[i]),
                             static_cast<std::uint64_t>(flipped ? rows[i] : columns[i]), key.leading[i]),
          "layout of a matrix");
    if (key.batch == 1) continue;
    const auto count = static_cast<std::int32_t>(key.batch);
    check(lt_->layout_set(e->layouts[i], lt::kBatchCount, &count, sizeof(count)), "layout of a batch");
    check(lt_->layout_set(e->layouts[i], lt::kBatchStride, &key.stride[i], sizeof(key.stride[i])), "layout of a batch");
  }
  lt::Preference preference = nullptr;
  check(lt_->preference_create(&preference), "preferences of a search");
  struct Destroy {
    const CublasLt& lt;
    lt::Preference p;
    ~Destroy() { lt.preference_destroy(p); }
  } const destroy{*lt_, preference};
  auto prefer = [&](int attribute, auto value) {
    check(lt_->preference_set(preference, attribute, &value, sizeof(value)), "preferences of a search");
  };
  prefer(lt::kMaxWorkspace, std::uint64_t{kWorkspace});
  prefer(lt::kReductionSchemes, lt::kReduceInComputeType);
  const int alignments[4] = {lt::kAlignmentA, lt::kAlignmentB, lt::kAlignmentC, lt::kAlignmentD};
  for (int i = 0; i < 4; ++i) prefer(alignments[i], std::uint32_t{1} << key.alignment[i]);
  lt::Heuristic best{};
  int found = 0;
  const lt::Layout c = e->layouts[2] ? e->layouts[2] : e->layouts[3];
  const lt::Status s =
      lt_->heuristic(handle_, e->desc, e->layouts[0], e->layouts[1], c, e->layouts[3], preference, 1, &best, &found);
  if (s != lt::kSuccess || found == 0 || best.state != lt::kSuccess) {
    const char* name = lt_->status_name(s != lt::kSuccess ? s : lt::kNotSupported);
    throw DeviceError(fmt::format(
        "{}: cuBLASLt has no algorithm for a product of {}x{}x{} (batch {}, type {}, epilogue {}): {}", context_.name(),
        key.m, key.n, key.k, key.batch, key.type, key.epilogue, name ? name : "unknown status"));
  }
  e->algorithm = best.algorithm;
  e->workspace = best.workspace;
  ++stats_.searches;
  return e;
}

CudaMatmul::Entry& CudaMatmul::entry_for(const LtKey& key) {
  if (std::unique_ptr<Entry>* e = entries_.find(key)) return **e;
  std::unique_ptr<Entry> made = search(key);
  while (entries_.size() >= kMostKept) {
    const LtKey oldest = entries_.oldest().first;
    entries_.erase(oldest);
  }
  return *entries_.insert(key, std::move(made));
}

// One product in column-major order, from the problem in normal form to queued calls. Holds the copies that it makes.
class CudaMatmul::Queue {
 public:
  Queue(CudaMatmul& owner, MatmulProblem problem, cu::StreamHandle stream)
      : owner_(owner), p_(std::move(problem)), stream_(stream), bytes_(byte_size(p_.dtype)) {}

  void run() {
    if (p_.k == 0) no_terms();
    const MatmulMatrix wanted = p_.out;
    const SmallDims sizes = p_.sizes(p_.m, p_.n);
    MatmulMatrix staged;
    if (!orient()) {
      staged = p_.out = fresh(p_.batch, p_.m, p_.n, out_);
      STAX_CHECK(orient(), "matmul: a contiguous result");
    }
    key_.type = type_of(p_.dtype);
    key_.compute = p_.dtype == Dtype::f64                   ? lt::kCompute64F
                   : p_.dtype == Dtype::f32 && owner_.tf32_ ? lt::kCompute32FFastTF32
                                                            : lt::kCompute32F;
    key_.scale_type = p_.dtype == Dtype::f64 ? lt::kR64F : lt::kR32F;
    key_.m = p_.m, key_.n = p_.n, key_.k = p_.k;
    key_.epilogue = epilogue_of(p_.activation, p_.dtype);
    STAX_CHECK(p_.activation == Activation::none || !p_.residual.data,
               "matmul: cuBLASLt adds a residual before the activation");
    a_ = operand(p_.a, p_.m, p_.k, a_copy_);
    b_ = operand(p_.b, p_.k, p_.n, b_copy_);
    bias();
    residual();
    key_.transposed[0] = a_.transposed, key_.transposed[1] = b_.transposed;
    key_.leading[0] = a_.leading, key_.leading[1] = b_.leading, key_.leading[3] = d_.leading;
    batches();
    if (staged.data) copy(wanted, staged, sizes);
  }

 private:
  // The result must be column-major for the library: else the product is transposed.
  bool orient() {
    if (const auto d = lt_matrix(p_.out.data, p_.out.columns, p_.out.rows, p_.n, p_.m); d && !d->transposed) {
      p_ = transposed(p_);
      d_ = *d;
      return true;
    }
    if (const auto d = lt_matrix(p_.out.data, p_.out.rows, p_.out.columns, p_.m, p_.n); d && !d->transposed) {
      d_ = *d;
      return true;
    }
    return false;
  }

  MatmulMatrix fresh(const SmallDims& batch, std::int64_t rows, std::int64_t columns, DeviceScratch& hold) {
    auto [x, elements] = row_major_matrix(batch, rows, columns);
    hold = DeviceScratch(owner_.allocator_, static_cast<std::size_t>(elements * bytes_));
    x.data = hold.data();
    return x;
  }

  void copy(const MatmulMatrix& to, const MatmulMatrix& from, const SmallDims& sizes) {
    const SmallDims to_strides = to.strides(), from_strides = from.strides();
    owner_.copies_.run(to.data, to_strides, from.data, from_strides, sizes, bytes_, stream_);
    ++owner_.stats_.copies;
  }

  // A copy of what the library cannot address; batch dimensions that are broadcast stay so.
  MatmulMatrix contiguous(const MatmulMatrix& x, std::int64_t rows, std::int64_t columns, DeviceScratch& hold) {
    SmallDims distinct = p_.batch;
    for (std::size_t i = 0; i < distinct.size(); ++i)
      if (x.batch[i] == 0) distinct[i] = 1;
    MatmulMatrix made = fresh(distinct, rows, columns, hold);
    distinct.push_back(rows);
    distinct.push_back(columns);
    copy(made, x, distinct);
    for (std::size_t i = 0; i < p_.batch.size(); ++i)
      if (x.batch[i] == 0) made.batch[i] = 0;
    return made;
  }

  LtMatrix operand(MatmulMatrix& x, std::int64_t rows, std::int64_t columns, DeviceScratch& hold) {
    if (const auto m = lt_matrix(x.data, x.rows, x.columns, rows, columns)) return *m;
    x = contiguous(x, rows, columns, hold);
    return lt_matrix(x.data, x.rows, x.columns, rows, columns).value();
  }

  // One term of zeros: the same epilogue over an empty sum.
  void no_terms() {
    const std::size_t bytes = static_cast<std::size_t>(std::max(p_.m, p_.n) * bytes_);
    zeros_ = DeviceScratch(owner_.allocator_, bytes);
    owner_.context_.check(
        owner_.context_.driver().fill_bytes(reinterpret_cast<cu::Address>(zeros_.data()), 0, bytes, stream_),
        "filling with zeros");
    p_.k = 1;
    p_.a = {zeros_.data(), SmallDims(p_.batch.size(), 0), p_.m == 1 ? 0 : 1, 0};
    p_.b = {zeros_.data(), SmallDims(p_.batch.size(), 0), 0, p_.n == 1 ? 0 : 1};
  }

  // A vector along the result's columns is an epilogue; anything else is what the product is added to.
  void bias() {
    MatmulMatrix& x = p_.bias;
    if (!x.data) return;
    if (x.columns == 0 && p_.dtype != Dtype::f64) {
      if ((x.rows != 1 && p_.m != 1) || alignment_of(x.data) < 4) x = contiguous(x, p_.m, 1, bias_copy_);
      key_.epilogue = (key_.epilogue == lt::kDefault ? 0u : key_.epilogue) | lt::kBias;
      return;
    }
    STAX_CHECK(!p_.residual.data, "matmul: a bias that is no vector beside a residual");
    p_.residual = x;
    x = {};
  }

  void residual() {
    MatmulMatrix& x = p_.residual;
    if (!x.data) return;
    key_.has_c = 1;
    if (const auto c = lt_matrix(x.data, x.rows, x.columns, p_.m, p_.n); c && !c->transposed) {
      key_.own_c = 1;
      key_.leading[2] = c->leading;
      return;
    }
    copy(p_.out, x, p_.sizes(p_.m, p_.n));
    x = p_.out;
  }

  // One batch dimension goes to the library: the largest whose strides it takes. The others are loops here.
  void batches() {
    MatmulMatrix* const all[] = {&p_.a, &p_.b, &p_.residual, &p_.out, &p_.bias};
    std::ptrdiff_t inner = -1;
    for (std::size_t i = 0; i < p_.batch.size(); ++i) {
      bool takes = p_.out.batch[i] > 0 && p_.batch[i] <= INT32_MAX;
      for (const MatmulMatrix* x : all) takes &= !x->data || x->batch[i] >= 0;
      if (takes && (inner < 0 || p_.batch[i] > p_.batch[static_cast<std::size_t>(inner)]))
        inner = static_cast<std::ptrdiff_t>(i);
    }
    if (inner >= 0) {
      const auto d = static_cast<std::size_t>(inner);
      key_.batch = p_.batch[d];
      for (int i = 0; i < 4; ++i) key_.stride[i] = all[i]->data ? all[i]->batch[d] : 0;
      if (!key_.own_c) key_.stride[2] = 0;
      key_.bias_stride = p_.bias.data ? p_.bias.batch[d] : 0;
      for (MatmulMatrix* x : all)
        if (x->data) x->batch.erase(x->batch.begin() + inner);
      p_.batch.erase(p_.batch.begin() + inner);
    }
    std::int64_t offsets[5] = {};
    loop(all, 0, offsets);
  }

  void loop(MatmulMatrix* const (&all)[5], std::size_t dim, const std::int64_t (&offsets)[5]) {
    if (dim == p_.batch.size()) {
      void* at[5];
      for (int i = 0; i < 5; ++i) at[i] = all[i]->data ? moved(all[i]->data, offsets[i], bytes_) : nullptr;
      return call(at);
    }
    for (std::int64_t n = 0; n < p_.batch[dim]; ++n) {
      std::int64_t next[5];
      for (int i = 0; i < 5; ++i) next[i] = offsets[i] + (all[i]->data ? n * all[i]->batch[dim] : 0);
      loop(all, dim + 1, next);
    }
  }

  // Addresses of A, B, C, D, bias.
  void call(void* const (&at)[5]) {
    const void* c = at[2] ? at[2] : at[3];
    key_.alignment[0] = alignment_of(at[0]), key_.alignment[1] = alignment_of(at[1]);
    key_.alignment[2] = alignment_of(c), key_.alignment[3] = alignment_of(at[3]);
    Entry& e = owner_.entry_for(key_);
    if (at[4])
      owner_.check(owner_.lt_->desc_set(e.desc, lt::kBiasPointer, &at[4], sizeof(at[4])), "attribute of a product");
    const double alpha64 = p_.scale, beta64 = key_.has_c ? 1 : 0;
    const auto alpha32 = static_cast<float>(alpha64), beta32 = static_cast<float>(beta64);
    const bool wide = p_.dtype == Dtype::f64;
    owner_.check(
        owner_.lt_->matmul(owner_.handle_, e.desc, wide ? static_cast<const void*>(&alpha64) : &alpha32, at[0],
                           e.layouts[0], at[1], e.layouts[1], wide ? static_cast<const void*>(&beta64) : &beta32, c,
                           e.layouts[2] ? e.layouts[2] : e.layouts[3], at[3], e.layouts[3], &e.algorithm,
                           owner_.workspace_.data(), kWorkspace, stream_),
        "product");
  }

  CudaMatmul& owner_;
  MatmulProblem p_;
  cu::StreamHandle stream_;
  int bytes_;
  LtKey key_;
  LtMatrix a_, b_, d_;
  DeviceScratch a_copy_, b_copy_, bias_copy_, out_, zeros_;
};

void CudaMatmul::run(const MatmulArgs& args, cu::StreamHandle stream) {
  STAX_CHECK(stream == context_.stream(), "matmul: products run on the stream of the runtime");
  for (const std::int64_t s : args.batch)
    if (s == 0) return;
  if (args.m == 0 || args.n == 0) return;
  MatmulArgs filled = args;
  if (args.k == 0) filled.a.data = filled.b.data = filled.out.data;  // not read
  context_.make_current();
  const std::lock_guard lock(mutex_);
  if (!handle_) {
    lt_ = &library_();
    check(lt_->create(&handle_), "start");
    workspace_ = DeviceScratch(allocator_, kWorkspace);
  }
  ++stats_.calls;
  Queue(*this, normalise(filled), stream).run();
}

void CudaMatmul::allow_tf32(bool allow) {
  const std::lock_guard lock(mutex_);
  tf32_ = allow;
}
bool CudaMatmul::tf32() const {
  const std::lock_guard lock(mutex_);
  return tf32_;
}
CudaMatmul::Stats CudaMatmul::stats() const {
  const std::lock_guard lock(mutex_);
  Stats s = stats_;
  s.kept = entries_.size();
  return s;
}

}  // namespace stax::runtime

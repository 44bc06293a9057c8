#include <stax/tensor/dlpack.h>
#include <stax/tensor/dlpack_abi.h>

#include <limits>

#include "io_helpers.h"

namespace stax {
namespace {

// A tensor of another library, which counts how often it is deleted.
struct Foreign {
  std::vector<float> memory = {0, 1, 2, 3, 4, 5};
  std::vector<std::int64_t> shape = {2, 3}, strides;
  int deleted = 0;
  DLManagedTensor managed{};

  Foreign() {
    DLTensor& tensor = managed.dl_tensor;
    tensor.data = memory.data();
    tensor.device = {kDLCPU, 0};
    tensor.dtype = {kDLFloat, 32, 1};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensor* self) { ++static_cast<Foreign*>(self->manager_ctx)->deleted; };
  }
  DLManagedTensor* get() {
    managed.dl_tensor.ndim = static_cast<std::int32_t>(shape.size());
    managed.dl_tensor.shape = shape.data();
    managed.dl_tensor.strides = strides.empty() ? nullptr : strides.data();
    return &managed;
  }
  std::string problem() {
    std::string text = problem_of([&] { from_dlpack(get()); });
    EXPECT_EQ(deleted, 0) << "a refused tensor still belongs to the caller";
    return text;
  }
};

}  // namespace

TEST(DlpackOut, SharesMemoryShapeAndStrides) {
  const Array base = array_of<float>({2, 3}, {0, 1, 2, 3, 4, 5}, f32);
  DLManagedTensor* managed = to_dlpack(base.with_layout({{3, 1}, {-1, 7}, 5}));
  const DLTensor& tensor = managed->dl_tensor;
  EXPECT_EQ(tensor.data, base.data_as<float>() + 5);
  EXPECT_EQ(tensor.ndim, 2);
  EXPECT_EQ(tensor.shape[0], 3);
  EXPECT_EQ(tensor.strides[0], -1);
  EXPECT_EQ(tensor.byte_offset, 0u);
  EXPECT_EQ(tensor.device.device_type, kDLCPU);
  managed->deleter(managed);
}

TEST(DlpackOut, KeepsTheMemoryAliveUntilTheDeleterRuns) {
  int released = 0;
  float memory[2] = {1, 2};
  auto storage = std::make_shared<Storage>(memory, sizeof memory, Device{}, [&] { ++released; });
  DLManagedTensor* managed = to_dlpack(Array(std::move(storage), f32, contiguous_layout(Dims{2})));
  EXPECT_EQ(released, 0);
  managed->deleter(managed);
  EXPECT_EQ(released, 1);
}

TEST(DlpackOut, TheVersionIsNoLongerTrusted) {
  const Array array = Array::empty({1}, f32);
  EXPECT_TRUE(array.storage()->version_trusted());
  DLManagedTensor* managed = to_dlpack(array);
  EXPECT_FALSE(array.storage()->version_trusted());
  managed->deleter(managed);
}

TEST(DlpackOut, DtypesOfTheAbi) {
  const auto type = [](Dtype dtype) {
    DLManagedTensor* managed = to_dlpack(Array::empty({1}, dtype));
    const DLDataType result = managed->dl_tensor.dtype;
    managed->deleter(managed);
    return std::vector<int>{result.code, result.bits, result.lanes};
  };
  EXPECT_EQ(type(boolean), (std::vector<int>{6, 8, 1}));
  EXPECT_EQ(type(u8), (std::vector<int>{1, 8, 1}));
  EXPECT_EQ(type(i64), (std::vector<int>{0, 64, 1}));
  EXPECT_EQ(type(f16), (std::vector<int>{2, 16, 1}));
  EXPECT_EQ(type(bf16), (std::vector<int>{4, 16, 1}));
  EXPECT_EQ(type(f64), (std::vector<int>{2, 64, 1}));
}

TEST(DlpackOut, Refusals) {
  EXPECT_EQ(problem_of([] { to_dlpack(Array::empty({1}, f8e4m3)); }), "DLPack 0.8 has no f8e4m3");
  EXPECT_EQ(problem_of([] { to_dlpack(Array()); }), "an undefined tensor cannot be handed out through DLPack");
  float memory[1] = {0};
  auto read_only = std::make_shared<Storage>(memory, sizeof memory, Device{}, nullptr, true);
  EXPECT_EQ(problem_of([&] { to_dlpack(Array(read_only, f32, contiguous_layout(Dims{1}))); }),
            "a tensor of a mapped file is read-only and cannot be handed out through DLPack");
}

TEST(DlpackIn, SharesMemoryAndDeletesOnce) {
  Foreign foreign;
  {
    const Array array = from_dlpack(foreign.get());
    EXPECT_EQ(array.data(), foreign.memory.data());
    EXPECT_EQ(array.sizes(), (Dims{2, 3}));
    EXPECT_EQ(array.strides(), (Dims{3, 1})) << "no strides means row-major";
    EXPECT_FALSE(array.storage()->version_trusted());
    const Array second = array.with_layout({{1}, {1}, 2});
    EXPECT_EQ(foreign.deleted, 0);
  }
  EXPECT_EQ(foreign.deleted, 1);
}

TEST(DlpackIn, NegativeStridesAndByteOffset) {
  Foreign foreign;
  foreign.shape = {2, 2};
  foreign.strides = {-3, -1};
  foreign.managed.dl_tensor.byte_offset = 5 * sizeof(float);
  const Array array = from_dlpack(foreign.get());
  EXPECT_EQ(values_of<float>(array), (std::vector<float>{5, 4, 2, 1}));
  EXPECT_EQ(array.storage()->data(), foreign.memory.data() + 1);
  EXPECT_EQ(array.storage()->bytes(), 5 * sizeof(float));
}

TEST(DlpackIn, RankZeroEmptyAndWithoutDeleter) {
  Foreign foreign;
  foreign.managed.deleter = nullptr;
  foreign.shape = {};
  EXPECT_EQ(values_of<float>(from_dlpack(foreign.get())), std::vector<float>{0});
  foreign.shape = {0, 3};
  foreign.managed.dl_tensor.data = nullptr;
  EXPECT_EQ(from_dlpack(foreign.get()).numel(), 0);
}

TEST(DlpackIn, BackAndForthIsTheSameMemory) {
  const Array array = array_of<std::int32_t>({2}, {3, 4}, i32);
  const Array back = from_dlpack(to_dlpack(array));
  EXPECT_EQ(back.data(), array.data());
  EXPECT_EQ(back.dtype(), i32);
}

TEST(DlpackIn, Refusals) {
  EXPECT_EQ(problem_of([] { from_dlpack(nullptr); }), "no DLPack tensor: the pointer is null");
  Foreign foreign;
  DLTensor& tensor = foreign.managed.dl_tensor;
  tensor.dtype = {kDLComplex, 64, 1};
  EXPECT_EQ(foreign.problem(), "the DLPack tensor has type code 5, 64 bits, 1 lanes, which Stax does not have");
  tensor.dtype = {kDLFloat, 32, 4};
  EXPECT_EQ(foreign.problem(), "the DLPack tensor has type code 2, 32 bits, 4 lanes, which Stax does not have");
  tensor.dtype = {kDLFloat, 32, 1};
  tensor.device.device_type = static_cast<DLDeviceType>(7);
  EXPECT_EQ(foreign.problem(), "the DLPack tensor is on device type 7");
  tensor.device.device_type = kDLCPU;
  foreign.shape.assign(17, 1);
  EXPECT_EQ(foreign.problem(), "the DLPack tensor has 17 dimensions; Stax has 0 to 16");
  foreign.shape = {2, -3};
  EXPECT_EQ(foreign.problem(), "the DLPack tensor has shape [2, -3]: negative, or too big for 64 bits");
  foreign.shape = {std::int64_t{1} << 40, std::int64_t{1} << 40};
  EXPECT_EQ(foreign.problem(),
            "the DLPack tensor has shape [1099511627776, 1099511627776]: negative, or too big for 64 bits");
  foreign.shape = {3};
  foreign.strides = {std::numeric_limits<std::int64_t>::min()};
  EXPECT_EQ(foreign.problem(), "the DLPack tensor has strides [-9223372036854775808], which do not fit 64 bits");
  foreign.strides = {};
  tensor.byte_offset = 2;
  EXPECT_EQ(foreign.problem(), "the DLPack tensor is not aligned to its element size of 4 bytes");
  tensor.byte_offset = 0;
  tensor.data = nullptr;
  EXPECT_EQ(foreign.problem(), "the DLPack tensor has elements but no memory");
}

}  // namespace stax

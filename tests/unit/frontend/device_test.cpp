// Tensors on other devices: the null device, and a CUDA device whose driver is the stand-in of tests/fake_cuda.
#include <gtest/gtest.h>
#include <stax/stax.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace stax {
namespace {

const bool fake_driver = [] {
  setenv("STAX_CUDA_DRIVER", STAX_FAKE_CUDA, 1);
  return true;
}();

constexpr Device null{DeviceKind::null_gpu, 0};

template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

struct DefaultDevice {
  explicit DefaultDevice(Device d) { set_default_device(d); }
  ~DefaultDevice() { set_default_device({}); }
};

Tensor numbers() { return from_vector<float>({1, 2, 3, 4, 5, 6}, {2, 3}); }

TEST(DeviceMoves, ThereAndBack) {
  for (const Dtype dtype : {f32, bf16, i64, boolean}) {
    const Tensor x = numbers().to(dtype), y = x.to(cuda());
    EXPECT_EQ(y.device(), cuda());
    EXPECT_EQ(y.dtype(), dtype);
    EXPECT_NE(y.data_ptr(), nullptr);
    EXPECT_EQ(y.to(cpu).to(f32).to_vector<float>(), x.to(f32).to_vector<float>());
    EXPECT_EQ(y.to(cuda()).data_ptr(), y.data_ptr()) << "where it is already";
  }
}

TEST(DeviceMoves, ValuesAreReadFromTheDevice) {
  const Tensor y = numbers().to(cuda());
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(y.index({1, 2}).item<float>(), 6);
  EXPECT_EQ(to_string(y), "f32[2, 3] [[1, 2, 3], [4, 5, 6]]");
}

TEST(DeviceMoves, ViewsKeepTheirMemory) {
  const Tensor y = numbers().to(cuda());
  const Tensor t = y.transpose(0, 1);
  EXPECT_EQ(t.data_ptr(), y.data_ptr());
  EXPECT_EQ(t.to_vector<float>(), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  const Tensor part = y.index({Slice(), Slice(1, None)});
  EXPECT_EQ(part.device(), cuda());
  EXPECT_EQ(part.to_vector<float>(), (std::vector<float>{2, 3, 5, 6}));
  EXPECT_EQ(expand(y.index({0}), {2, 3}).to(cpu).to_vector<float>(), (std::vector<float>{1, 2, 3, 1, 2, 3}));
}

TEST(DeviceMoves, StridesOfDenseTensorsStay) {
  const Tensor t = numbers().transpose(0, 1).to(cuda());
  EXPECT_EQ(t.stride(0), 1);
  EXPECT_EQ(t.stride(1), 3);
  const Tensor part = numbers().index({Slice(), Slice(0, 2)}).to(cuda());
  EXPECT_EQ(part.stride(0), 2) << "gaps do not travel";
  EXPECT_EQ(part.to_vector<float>(), (std::vector<float>{1, 2, 4, 5}));
}

TEST(DeviceMoves, ReferenceEvaluationGoesThereAndBack) {
  const DefaultDevice on_gpu(cuda());
  const Tensor x = numbers().to(cuda());
  const Graph g = make_graph([](Tensor a) {
    a.copy_(a * 2);
    return sum(a + ones({3}), -1);
  })(x);
  const std::vector<Tensor> results = interpret(g, {x});
  EXPECT_EQ(results.at(0).device(), cuda());
  EXPECT_EQ(results[0].to_vector<float>(), (std::vector<float>{15, 33}));
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{2, 4, 6, 8, 10, 12})) << "what the graph writes";
}

TEST(DeviceMoves, EmptyTensors) {
  const Tensor x = zeros({0, 3}).to(cuda());
  EXPECT_EQ(x.to(cpu).to_vector<float>(), std::vector<float>{});
  EXPECT_EQ(to_string(x), "f32[0, 3] []");
}

TEST(DeviceMoves, ACopyIsATensorOfItsOwn) {
  Tensor x = numbers();
  const Tensor y = x.to(cuda());
  x.fill_(9);
  EXPECT_EQ(y.index({0, 0}).item<float>(), 1);
}

TEST(DeviceMoves, WritesOnTheDevice) {
  Tensor y = numbers().to(cuda());
  y.index({Slice(), Slice(0, 2)}).fill_(7.5);
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{7.5, 7.5, 3, 7.5, 7.5, 6}));
  y.copy_(numbers().index({0}).to(cuda()));
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(message_of([&] { y.copy_(numbers()); }).substr(0, 53),
            "copy_: the source is on cpu, the target on cuda:0 at ");
}

TEST(DeviceMoves, CreationFollowsTheDefaultDevice) {
  const DefaultDevice on(cuda());
  EXPECT_EQ(numbers().device(), cuda());
  EXPECT_EQ(zeros({3}).device(), cuda());
  EXPECT_EQ(arange(4).to_vector<std::int64_t>(), (std::vector<std::int64_t>{0, 1, 2, 3}));
  const std::vector<float> there = randn({100}, 5).to_vector<float>();
  set_default_device(cpu);
  EXPECT_EQ(there, randn({100}, 5).to_vector<float>());
}

TEST(DeviceMoves, FilesGoThroughTheHost) {
  const std::string path = (std::filesystem::temp_directory_path() / "stax_device_test.npy").string();
  save_npy(path, numbers().to(cuda()).transpose(0, 1));
  const DefaultDevice on(cuda());
  const Tensor y = load_npy(path);
  EXPECT_EQ(y.device(), cuda());
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  std::filesystem::remove(path);
}

TEST(DeviceMoves, DlpackHandsOutTheDeviceAddress) {
  const Tensor y = numbers().to(cuda());
  const Tensor z = tensor_from_dlpack(to_dlpack(y));
  EXPECT_EQ(z.device(), cuda());
  EXPECT_EQ(z.data_ptr(), y.data_ptr());
}

TEST(DeviceMoves, TheNullDeviceHoldsNoValues) {
  const Tensor x = numbers().to(null);
  EXPECT_EQ(x.device(), null);
  const std::string why = "the null device holds no values: nothing can be read from it";
  EXPECT_EQ(message_of([&] { (void)x.to_vector<float>(); }), why);
  EXPECT_EQ(message_of([&] { (void)x.index({0, 0}).item<float>(); }), why);
  EXPECT_EQ(message_of([&] { (void)x.to(cpu); }), why);
  EXPECT_EQ(message_of([&] { (void)x.to(cuda()); }), why);
  EXPECT_EQ(message_of([&] { save_npy("x.npy", x); }), why);
  EXPECT_EQ(to_string(x), "f32[2, 3] (on null: no values)");
  EXPECT_EQ(x.transpose(0, 1).stride(0), 1);
  Tensor y = x;
  y.fill_(1).copy_(x);
}

TEST(DeviceMoves, UnlikeDevicesNameTheArgument) {
  const Tensor x = numbers(), y = numbers().to(null), z = numbers().to(cuda());
  EXPECT_TRUE(message_of([&] { (void)(x + y); }).starts_with("add: argument 1 is on null, the others are on cpu at "));
  EXPECT_TRUE(message_of([&] {
                (void)where(x > 0, x, z);
              }).starts_with("where: argument 2 is on cuda:0, the others are on cpu at "));
  auto f = compile([](Tensor a, Tensor b) { return a * b; }, {.fullgraph = true});
  EXPECT_TRUE(message_of([&] { (void)f(x, y); }).starts_with("mul: argument 1 is on null, the others are on cpu at "));
}

TEST(DeviceMoves, NotWhileAFunctionIsTraced) {
  auto f = compile([](Tensor x) { return x.to(null); }, {.fullgraph = true});
  const std::string text = message_of([&] { (void)f(numbers()); });
  EXPECT_TRUE(text.starts_with("to: a tensor is copied from cpu to null while the function is traced at ")) << text;
  EXPECT_TRUE(text.ends_with(". Copy it before the call and pass the copy, or leave out fullgraph")) << text;
  auto g = compile([](Tensor x) { return x.to(cuda()); });
  EXPECT_EQ(g(numbers()).to_vector<float>(), numbers().to_vector<float>()) << "such a call runs uncompiled";
  EXPECT_EQ(g.stats().fallbacks, 1u);
}

TEST(DeviceMoves, DevicesThatAreNotThere) {
  EXPECT_EQ(message_of([] { (void)numbers().to(cuda(5)); }),
            "there is no device cuda:5: this machine has 1 CUDA device (cuda:0)");
  EXPECT_EQ(message_of([] { (void)numbers().to(cuda(77)); }),
            "there is no device cuda:77: Stax uses the devices 0 to 15");
}

TEST(DeviceMoves, ADeviceHasArtifactsOfItsOwn) {
  auto f = compile([](Tensor x) { return x * 2 + 1; });
  (void)f(numbers());
  (void)f(numbers().to(null));
  EXPECT_EQ(f.stats().compiles, 2u);
  (void)f(numbers());
  EXPECT_EQ(f.stats().compiles, 2u);
}

}  // namespace
}  // namespace stax

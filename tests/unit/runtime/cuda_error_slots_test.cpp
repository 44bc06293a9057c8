#include <optional>

#include "fake_cuda.h"

namespace stax::runtime::test {
namespace {

using CudaErrorSlot = FakeCuda;

RaiseError raising(const std::string& name) {
  return [name](const ErrorWord& w) { throw UserError(name + ": index " + std::to_string(w.index)); };
}

// A kernel that reports its second parameter when it runs.
void report(const FakeCudaLaunch& launch) {
  report_error(launch.parameters[0], {1, 0, static_cast<std::int64_t>(launch.parameters[1]), 10});
}

struct Reporter {
  explicit Reporter(CudaRuntime& r) : runtime(r) {
    fake_kernel("report", 4, report);
    module = r.load_module({"m", "fake report", "sm_90", {{.symbol = "report", .threads = 32, .reports = true}}});
  }
  void run(ErrorSlot& slot, std::int64_t index) const {
    LaunchArgs args;
    args.function = module->function("report");
    args.error = slot.word();
    args.ints = {&index, 1};
    runtime.launch(args);
  }
  CudaRuntime& runtime;
  std::shared_ptr<Module> module;
};

TEST_F(CudaErrorSlot, SynchronizeRaisesOnce) {
  const Reporter reporter(runtime());
  const auto slot = runtime().error_slot(raising("gather"));
  reporter.run(*slot, 12);
  EXPECT_EQ(message_of([&] { runtime().synchronize(); }), "gather: index 12");
  EXPECT_EQ(message_of([&] { runtime().synchronize(); }), "no error");
  reporter.run(*slot, 13);
  EXPECT_EQ(message_of([&] { runtime().synchronize(); }), "gather: index 13") << "the word was cleared";
}

TEST_F(CudaErrorSlot, DownloadRaises) {
  const Reporter reporter(runtime());
  const auto slot = runtime().error_slot(raising("gather"));
  const Array a = on_device(Array::empty({4}, Dtype::f32));
  float values[4];
  reporter.run(*slot, 5);
  EXPECT_EQ(message_of([&] { runtime().download(values, a.data(), 16); }), "gather: index 5");
  EXPECT_EQ(message_of([&] { runtime().download(values, a.data(), 16); }), "no error");
}

TEST_F(CudaErrorSlot, TheSlotItselfRaises) {
  const Reporter reporter(runtime());
  const auto slot = runtime().error_slot(raising("embedding"));
  slot->raise_if_reported();
  reporter.run(*slot, 5);
  slot->raise_if_reported();  // nothing has run yet
  const Array a = on_device(Array::empty({4}, Dtype::f32));
  reporter.run(*slot, 6);
  runtime().context().wait(runtime().context().stream());
  EXPECT_EQ(message_of([&] { slot->raise_if_reported(); }), "embedding: index 5") << "the first report wins";
  EXPECT_EQ(message_of([&] { slot->raise_if_reported(); }), "no error");
}

TEST_F(CudaErrorSlot, EverySlotIsRaisedInTurn) {
  const Reporter reporter(runtime());
  const auto a = runtime().error_slot(raising("a")), b = runtime().error_slot(raising("b"));
  reporter.run(*b, 2);
  reporter.run(*a, 1);
  EXPECT_EQ(message_of([&] { runtime().synchronize(); }), "a: index 1");
  EXPECT_EQ(message_of([&] { runtime().synchronize(); }), "b: index 2");
  EXPECT_EQ(message_of([&] { runtime().synchronize(); }), "no error");
}

TEST_F(CudaErrorSlot, WordsOfTheDeadWaitForTheStream) {
  const Reporter reporter(runtime());
  auto dead = runtime().error_slot(raising("dead"));
  ErrorWord* const word = dead->word();
  reporter.run(*dead, 3);
  dead.reset();
  const auto next = runtime().error_slot(raising("next"));
  EXPECT_NE(next->word(), word) << "queued work may still write to the old word";
  EXPECT_EQ(message_of([&] { runtime().synchronize(); }), "dead: index 3") << "its plan is gone, the error is not";
  runtime().synchronize();
  bool again = false;
  std::vector<std::shared_ptr<ErrorSlot>> slots;
  for (int i = 0; i < 128 && !again; ++i) {
    slots.push_back(runtime().error_slot(raising("new")));
    again = slots.back()->word() == word;
  }
  EXPECT_TRUE(again);
  EXPECT_EQ(message_of([&] { runtime().synchronize(); }), "no error") << "a word is handed out clean";
}

TEST_F(CudaErrorSlot, ARaiseFunctionMustThrow) {
  const Reporter reporter(runtime());
  const auto slot = runtime().error_slot([](const ErrorWord&) {});
  reporter.run(*slot, 3);
  EXPECT_EQ(message_of([&] { runtime().synchronize(); }), "a kernel reported an error that nobody explained");
}

}  // namespace
}  // namespace stax::runtime::test

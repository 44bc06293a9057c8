#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "io_helpers.h"

namespace stax {

TEST(NpySaveErrors, MissingDirectory) {
  EXPECT_EQ(problem_of([] { io::save_npy("/nowhere/a.npy", Array::empty({1}, f32)); }),
            "cannot write '/nowhere/a.npy': No such file or directory");
}

TEST(NpySaveErrors, UndefinedTensor) {
  EXPECT_EQ(problem_of([] { io::save_npy("a.npy", Array()); }), "an undefined tensor cannot be saved to 'a.npy'");
}

TEST(NpySaveErrors, TensorOfAnotherDevice) {
  char memory[4];
  auto storage = std::make_shared<Storage>(memory, sizeof memory, Device{DeviceKind::cuda, 1}, nullptr);
  EXPECT_EQ(problem_of([&] { io::save_npy("a.npy", Array(storage, f32, contiguous_layout({}))); }),
            "a tensor on cuda:1 cannot be saved to 'a.npy'");
}

TEST(NpySaveErrors, AWriteThatFailsLeavesTheOldFileAndNothingElse) {
  const Folder folder;
  folder.write("a.npy", "old");
  const Array big = Array::empty({100000}, u8);
  std::memset(big.data(), 1, 100000);
  // A limit on the size of files stands for a full disk.
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit tight{1000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &tight);
  const std::string problem = problem_of([&] { io::save_npy(folder.path("a.npy"), big); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(problem, "cannot write '" + folder.path("a.npy") + "': File too large");
  EXPECT_EQ(folder.read("a.npy"), "old");
  EXPECT_EQ(folder.files(), 1u);
}

}  // namespace stax

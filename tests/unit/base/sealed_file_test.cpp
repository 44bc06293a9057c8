#include "base/sealed_file.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/subprocess.h"

namespace stax::base {

namespace {
std::string library(int value) {
  const TempDir dir;
  const std::string file = (dir.path() / "l.so").string();
  const auto built = run_process({.argv = {"g++", "-shared", "-fPIC", "-x", "c++", "-", "-o", file},
                                  .input = "extern \"C\" int value() { return " + std::to_string(value) + "; }"});
  EXPECT_TRUE(built.ok()) << built.err;
  return read_file(file);
}

int call(void* handle) { return reinterpret_cast<int (*)()>(::dlsym(handle, "value"))(); }
}  // namespace

TEST(SealedFile, HoldsTheBytesAndNobodyChangesThem) {
  const SealedFile file("bytes");
  EXPECT_EQ(read_file(file.path()), "bytes");
  const Fd writer(::open(file.path().c_str(), O_RDWR));
  if (writer.valid()) {
    EXPECT_EQ(::write(writer.get(), "x", 1), -1);
    EXPECT_EQ(::ftruncate(writer.get(), 0), -1);
  }
  EXPECT_EQ(read_file(file.path()), "bytes");
}

// The loader takes a name that it knows for the same library; a reused descriptor must not bring the old one back.
TEST(SealedFile, TwoLibrariesUnderTheSameDescriptorAreTwo) {
  const std::string one = library(1), two = library(2);
  void* first = nullptr;
  void* second = nullptr;
  {
    const SealedFile file(one);
    first = ::dlopen(file.path().c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(first, nullptr) << ::dlerror();
  }
  {
    const SealedFile file(two);
    second = ::dlopen(file.path().c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(second, nullptr) << ::dlerror();
  }
  EXPECT_EQ(call(first), 1);
  EXPECT_EQ(call(second), 2);
  ::dlclose(second);
  ::dlclose(first);
}

}  // namespace stax::base

#include "memory.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "helpers.h"

namespace minilm {

TEST(Memory, ThePeakGrowsWithUse) {
  const int64_t before = peak_memory();
  EXPECT_GT(before, 0);
  constexpr size_t kBytes = size_t{64} << 20;
  std::vector<char> block(kBytes, 1);
  EXPECT_GE(peak_memory() + (8 << 20), static_cast<int64_t>(kBytes));
  EXPECT_EQ(block.back(), 1);
}

TEST(Memory, OnlyTouchedPagesOfAFileCount) {
  constexpr size_t kBytes = 1 << 20;
  const TempFile file(std::string(kBytes, 'x'));
  EXPECT_EQ(resident_of_file(file.path()), 0);
  const int fd = open(file.path().c_str(), O_RDONLY);
  auto* data = static_cast<volatile char*>(mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE, fd, 0));
  close(fd);
  int sum = 0;
  for (size_t i = 0; i < kBytes; i += 4096) sum += data[i];
  EXPECT_EQ(sum, 'x' * 256);
  EXPECT_EQ(resident_of_file(file.path()), static_cast<int64_t>(kBytes));
  munmap(const_cast<char*>(data), kBytes);
  EXPECT_EQ(resident_of_file("/nowhere"), 0);
}

}  // namespace minilm

// Corrupted files give a UserError or a sound array, never a crash.
#include <sys/mman.h>

#include <random>

#include "io_helpers.h"

namespace stax {
namespace {

constexpr int kMutations = 20000;
constexpr unsigned kSeed = 20240917;

// One to three random edits of the bytes: flips, insertions, deletions, copies, cuts, and numbers that hurt.
std::string mutate(std::string bytes, std::mt19937& random) {
  static const std::vector<std::string> kTokens = {"-1",
                                                   "0",
                                                   "9223372036854775807",
                                                   "18446744073709551616",
                                                   "4294967296",
                                                   "1e5",
                                                   "(",
                                                   ")",
                                                   "[",
                                                   "]",
                                                   "{",
                                                   "}",
                                                   "'",
                                                   "\"",
                                                   ",",
                                                   ":",
                                                   "\\u0000",
                                                   "True",
                                                   "null",
                                                   "'|O'",
                                                   "'>f4'",
                                                   "\"BOOL\"",
                                                   "|b1",
                                                   "<f8",
                                                   "\xFF"};
  const int edits = 1 + static_cast<int>(random() % 3);
  for (int e = 0; e < edits && !bytes.empty(); ++e) {
    // Mostly the header: the data comes last.
    const std::size_t at = random() % bytes.size(), length = 1 + random() % 8;
    switch (random() % 7) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
        break;
      case 2:
        bytes.erase(at, length);
        break;
      case 3:
        bytes.insert(at, kTokens[random() % kTokens.size()]);
        break;
      case 4:
        bytes.replace(at, length, kTokens[random() % kTokens.size()]);
        break;
      case 5:
        bytes.insert(random() % bytes.size(), bytes.substr(at, 4 * length));
        break;
      default:
        bytes.resize(at);
        break;
    }
  }
  return bytes;
}

// Every element lies inside the storage, and can be read.
void check_sound(const Array& array) {
  const auto [low, high] = extent_of(array.layout());
  ASSERT_LE(array.rank(), kMaxRank);
  if (array.numel() == 0) return;
  ASSERT_GE(low, 0);
  ASSERT_LE(static_cast<std::size_t>((high + 1) * byte_size(array.dtype())), array.storage()->bytes());
  const Array copy = contiguous_copy(array);
  ASSERT_EQ(copy.numel(), array.numel());
}

// A file in memory: forty thousand writes are no work for a disk.
class MemoryFile {
 public:
  explicit MemoryFile(const std::string& bytes) : fd_(memfd_create("stax-mutation", MFD_CLOEXEC)) {
    base::write_all(fd_.get(), bytes, path());
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_.get()); }

 private:
  base::Fd fd_;
};

struct Tally {
  int sound = 0, refused = 0;
};

// `load` returns the arrays of a file.
template <class Load>
Tally attack(const std::vector<std::string>& seeds, Load load) {
  std::mt19937 random(kSeed);
  Tally tally;
  for (int i = 0; i < kMutations; ++i) {
    SCOPED_TRACE("mutation " + std::to_string(i) + " of seed " + std::to_string(kSeed));
    const MemoryFile file(mutate(seeds[random() % seeds.size()], random));
    const std::string path = file.path();
    try {
      for (const Array& array : load(path)) check_sound(array);
      ++tally.sound;
    } catch (const UserError& e) {
      EXPECT_NE(e.problem().find(path), std::string::npos) << e.what();
      ++tally.refused;
    }
    if (testing::Test::HasFatalFailure()) break;
  }
  return tally;
}

}  // namespace

TEST(IoMutation, Npy) {
  const std::vector<std::string> seeds = {
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", std::string(24, '\1')),
      npy("{'descr': '|b1', 'fortran_order': True, 'shape': (3, 4), }\n", std::string(12, '\1'), 2),
      npy("{'descr': '<i8', 'fortran_order': True, 'shape': (), }\n", std::string(8, '\1'), 3),
      npy("{'descr': 'bfloat16', 'fortran_order': False, 'shape': (0, 7), }\n", "")};
  const Tally tally = attack(seeds, [](const std::string& path) { return std::vector<Array>{io::load_npy(path)}; });
  EXPECT_GT(tally.sound, kMutations / 100);
  EXPECT_GT(tally.refused, kMutations / 2);
}

TEST(IoMutation, Safetensors) {
  const std::vector<std::string> seeds = {
      safetensors(R"({"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})", std::string(24, '\1')),
      safetensors(
          R"({"__metadata__":{"k":"v"},"b":{"dtype":"BOOL","shape":[5],"data_offsets":[8,13]},"a":{"dtype":"I64","shape":[],"data_offsets":[0,8]}}   )",
          std::string(13, '\1')),
      safetensors(R"({"a":{"dtype":"F16","shape":[0,4],"data_offsets":[0,0]}})", "")};
  const Tally tally = attack(seeds, [](const std::string& path) {
    std::vector<Array> arrays;
    for (auto& [name, array] : io::load_safetensors(path)) arrays.push_back(array);
    return arrays;
  });
  EXPECT_GT(tally.sound, kMutations / 100);
  EXPECT_GT(tally.refused, kMutations / 2);
}

}  // namespace stax

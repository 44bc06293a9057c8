#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/text.h"
#include "fixture.h"

namespace stax::cache {
namespace fs = std::filesystem;

namespace {
void overwrite(const fs::path& path, std::streamoff at, char byte) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(at);
  file.put(byte);
}

class CorruptTest : public StoreTest {
 protected:
  CorruptTest() : store_(open()) { put(store_, "k", std::string(1000, 'x')); }

  void expect_rejected(const std::string& reason) {
    EXPECT_FALSE(store_.get(key_of("k")));
    EXPECT_EQ(log_.text(), "[warn] a corrupt cache entry was removed and is built again: '" + file_of("k").string() +
                               "': " + reason + "\n");
    EXPECT_FALSE(fs::exists(fs::symlink_status(file_of("k"))));
    EXPECT_EQ(store_.stats().corrupt, 1U);
    EXPECT_TRUE(put(store_, "k", "again"));
    EXPECT_EQ(store_.get(key_of("k"))->at("object"), "again");
  }

  Store store_;
};
}  // namespace

TEST_F(CorruptTest, AChangedByte) {
  overwrite(file_of("k"), 500, 'y');
  expect_rejected("its content does not match its digest");
}

TEST_F(CorruptTest, AnyChangedByteIsSeen) {
  const std::string good = base::read_file(file_of("k"));
  for (std::size_t at = 0; at < good.size(); at += 7) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    base::write_file_atomic(file_of("k"), bad);
    EXPECT_FALSE(store_.get(key_of("k"))) << at;
  }
}

TEST_F(CorruptTest, ATruncatedFile) {
  fs::resize_file(file_of("k"), 700);
  expect_rejected("its content does not match its digest");
}

TEST_F(CorruptTest, AnEmptyFile) {
  fs::resize_file(file_of("k"), 0);
  expect_rejected("it is cut short");
}

TEST_F(CorruptTest, AForeignFile) {
  base::write_file_atomic(file_of("k"), std::string(200, 'z'));
  expect_rejected("it does not start like an entry");
}

TEST_F(CorruptTest, TheEntryOfAnotherKey) {
  put(store_, "other", "x");
  fs::copy_file(file_of("other"), file_of("k"), fs::copy_options::overwrite_existing);
  expect_rejected("it belongs to another key");
}

TEST_F(CorruptTest, ASymbolicLink) {
  put(store_, "k2", "x");
  fs::remove(file_of("k"));
  fs::create_symlink(file_of("k2"), file_of("k"));
  expect_rejected("it is a symbolic link");
  EXPECT_TRUE(fs::exists(file_of("k2")));
}

TEST_F(CorruptTest, ADevice) {
  fs::remove(file_of("k"));
  ASSERT_EQ(::mkfifo(file_of("k").c_str(), 0600), 0);
  expect_rejected("it is not a regular file");
}

TEST_F(CorruptTest, AFileOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to change an owner";
  ASSERT_EQ(::chown(file_of("k").c_str(), 12345, 12345), 0);
  expect_rejected("it belongs to user 12345");
}

// The digest fits, the lengths inside lie: only a faulty writer can do this, and still nothing is read out of bounds.
TEST_F(CorruptTest, LyingLengthsUnderAGoodDigest) {
  const std::string good = encode_entry(key_of("k"), std::vector<Blob>{{"n", "abc"}});
  const std::size_t header = 72;
  for (std::size_t at = header; at < header + 24; ++at) {
    std::string bad = good;
    bad[at] = '\xff';
    const base::Digest digest = base::sha256(std::string_view(bad).substr(header));
    std::copy(digest.bytes.begin(), digest.bytes.end(), bad.begin() + 40);
    std::string problem;
    EXPECT_FALSE(decode_entry(key_of("k"), {bad.begin(), bad.end()}, problem)) << at;
    EXPECT_EQ(problem, "its list of files is malformed");
  }
}

}  // namespace stax::cache

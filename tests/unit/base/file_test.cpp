#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "message.h"

namespace stax::base {
namespace fs = std::filesystem;

TEST(ReadFile, GivesTheBytes) {
  const TempDir dir;
  const std::string content("a\0b\n", 4);
  write_file_atomic(dir.path() / "f", content);
  EXPECT_EQ(read_file(dir.path() / "f"), content);
}

TEST(ReadFile, SaysWhyItFails) {
  EXPECT_EQ(message_of([] { read_file("/nowhere/f"); }), "cannot read '/nowhere/f': No such file or directory");
  EXPECT_EQ(message_of([] { read_file("/tmp"); }), "cannot read '/tmp': Is a directory");
}

TEST(WriteFileAtomic, ReplacesAndLeavesNoTemporary) {
  const TempDir dir;
  write_file_atomic(dir.path() / "f", "old");
  write_file_atomic(dir.path() / "f", "new", 0600);
  EXPECT_EQ(read_file(dir.path() / "f"), "new");
  EXPECT_EQ(std::distance(fs::directory_iterator(dir.path()), fs::directory_iterator()), 1);
  EXPECT_EQ(fs::status(dir.path() / "f").permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(WriteFileAtomic, FailureKeepsTheTargetAndCleansUp) {
  const TempDir dir;
  fs::create_directory(dir.path() / "d");
  EXPECT_EQ(message_of([&] { write_file_atomic(dir.path() / "d", "x"); }),
            "cannot write '" + (dir.path() / "d").string() + "': Is a directory");
  EXPECT_EQ(std::distance(fs::directory_iterator(dir.path()), fs::directory_iterator()), 1);
  EXPECT_NE(message_of([] { write_file_atomic("/nowhere/f", "x"); }).find("No such file or directory"),
            std::string::npos);
}

TEST(WriteAll, ReportsAFullDisk) {
  std::ofstream probe("/dev/full");
  if (!probe) GTEST_SKIP() << "no /dev/full";
  FILE* full = std::fopen("/dev/full", "w");
  EXPECT_EQ(message_of([&] { write_all(fileno(full), "x", "f"); }),
            "cannot write 'f': No space left on device. Free some space there");
  std::fclose(full);
}

TEST(MappedFile, ShowsTheBytesAndMoves) {
  const TempDir dir;
  write_file_atomic(dir.path() / "f", "mapped");
  MappedFile file(dir.path() / "f");
  MappedFile moved(std::move(file));
  EXPECT_EQ(moved.text(), "mapped");
  fs::remove(dir.path() / "f");
  EXPECT_EQ(moved.text(), "mapped");
}

TEST(MappedFile, AnEmptyFileHasNoBytes) {
  const TempDir dir;
  write_file_atomic(dir.path() / "f", "");
  EXPECT_EQ(MappedFile(dir.path() / "f").size(), 0U);
}

TEST(MappedFile, SaysWhyItFails) {
  EXPECT_EQ(message_of([] { MappedFile("/nowhere/f"); }), "cannot open '/nowhere/f': No such file or directory");
  EXPECT_EQ(message_of([] { MappedFile("/tmp"); }), "cannot open '/tmp': it is not a regular file");
}

TEST(TempDir, IsPrivateAndRemoved) {
  fs::path path;
  {
    const TempDir dir("probe");
    path = dir.path();
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
    fs::create_directories(path / "a" / "b");
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(PrivateDirectory, IsMadeWithItsParents) {
  const TempDir dir;
  make_private_directory(dir.path() / "a" / "b");
  make_private_directory(dir.path() / "a" / "b");
  EXPECT_EQ(fs::status(dir.path() / "a" / "b").permissions(), fs::perms::owner_all);
}

TEST(PrivateDirectory, RefusesWhatOthersMayWrite) {
  const TempDir dir;
  const fs::path open = dir.path() / "open";
  fs::create_directory(open);
  fs::permissions(open, fs::perms::all);
  EXPECT_EQ(
      message_of([&] { make_private_directory(open); }),
      "others may write to the directory '" + open.string() + "' (mode 777). Run: chmod 700 '" + open.string() + "'");
}

TEST(PrivateDirectory, RefusesAnotherOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to change an owner";
  const TempDir dir;
  const fs::path foreign = dir.path() / "foreign";
  fs::create_directory(foreign);
  ASSERT_EQ(::chown(foreign.c_str(), 12345, 12345), 0);
  EXPECT_EQ(
      message_of([&] { make_private_directory(foreign); }),
      "the directory '" + foreign.string() + "' belongs to user 12345, not to user 0. Choose a directory of your own");
}

TEST(PrivateDirectory, RefusesAFile) {
  const TempDir dir;
  write_file_atomic(dir.path() / "f", "");
  EXPECT_EQ(message_of([&] { make_private_directory(dir.path() / "f"); }),
            "cannot use the directory '" + (dir.path() / "f").string() + "': Not a directory");
}

}  // namespace stax::base

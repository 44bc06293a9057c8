// A directory that cannot be used costs a warning and the caching, nothing else.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "fixture.h"

namespace stax::cache {
namespace fs = std::filesystem;

namespace {
// Runs in a child process, so that limits and identities do not touch the test program; gives its text.
std::string in_child(const std::function<std::string()>& body) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t pid = ::fork();
  if (pid == 0) {
    const std::string text = body();
    [[maybe_unused]] const auto written = ::write(ends[1], text.data(), text.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text = base::read_all(ends[0]);
  ::close(ends[0]);
  ::waitpid(pid, nullptr, 0);
  return text;
}
}  // namespace

TEST_F(StoreTest, NoDirectoryKeepsNothingSilently) {
  Store store("", 1000);
  EXPECT_FALSE(put(store, "k", "x"));
  EXPECT_FALSE(store.get(key_of("k")));
  EXPECT_FALSE(store.usable());
  EXPECT_EQ(store.clear(), 0U);
  EXPECT_EQ(store.stats().entries, 0U);
  EXPECT_EQ(log_.text(), "");
}

TEST_F(StoreTest, AnImpossibleDirectoryWarnsOnce) {
  base::write_file_atomic(path(), "a file");
  Store first = open(), second = open();
  EXPECT_FALSE(put(first, "k", "x"));
  EXPECT_FALSE(second.get(key_of("k")));
  EXPECT_EQ(log_.text(),
            "[warn] the disk cache is not used: cannot use the directory '" + path().string() + "': Not a directory\n");
}

TEST_F(StoreTest, ADirectoryThatOthersMayWriteIsNotUsed) {
  fs::create_directory(path());
  fs::permissions(path(), fs::perms::all);
  Store store = open();
  EXPECT_FALSE(put(store, "k", "x"));
  EXPECT_EQ(log_.text(), "[warn] the disk cache is not used: others may write to the directory '" + path().string() +
                             "' (mode 777). Run: chmod 700 '" + path().string() + "'\n");
}

TEST_F(StoreTest, ADirectoryOfAnotherUserIsLeftAlone) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to change an owner";
  {
    Store theirs = open();
    put(theirs, "k", "x");
  }
  ASSERT_EQ(::chown(path().c_str(), 12345, 12345), 0);
  Store store = open();
  EXPECT_FALSE(store.get(key_of("k")));
  EXPECT_TRUE(fs::exists(file_of("k")));
  EXPECT_EQ(log_.text(), "[warn] the disk cache is not used: the directory '" + path().string() +
                             "' belongs to user 12345, not to user 0. Choose a directory of your own\n");
}

TEST_F(StoreTest, AReadOnlyDirectoryIsReadAndWarnsOnce) {
  const uid_t user = ::geteuid() == 0 ? 65534 : ::geteuid();
  if (::geteuid() == 0) {
    fs::create_directory(path());
    ASSERT_EQ(::chown(dir_.path().c_str(), user, user), 0);
    ASSERT_EQ(::chown(path().c_str(), user, user), 0);
  }
  const std::string text = in_child([&]() -> std::string {
    if (::seteuid(user) != 0) return "seteuid failed";
    {
      Store writer = open();
      put(writer, "k", "kept");
    }
    for (const auto& item : fs::recursive_directory_iterator(path())) {
      if (item.is_directory()) fs::permissions(item.path(), fs::perms::owner_read | fs::perms::owner_exec);
    }
    fs::permissions(path(), fs::perms::owner_read | fs::perms::owner_exec);
    Store store = open();
    std::string result = put(store, "new", "x") || put(store, "new2", "x") ? "stored " : "refused ";
    const auto entry = store.get(key_of("k"));
    result += entry ? entry->at("object") : "missed";
    return result + "\n" + log_.text();
  });
  for (const char* name : {"k"}) fs::permissions(file_of(name).parent_path(), fs::perms::owner_all);
  EXPECT_EQ(text.substr(0, text.find('\n')), "refused kept");
  const std::string log = text.substr(text.find('\n') + 1);
  EXPECT_EQ(log.find("[warn] compiled code is not kept in the disk cache '" + path().string() + "': cannot "), 0U)
      << log;
  EXPECT_NE(log.find("Permission denied"), std::string::npos) << log;
  EXPECT_EQ(log.find('\n'), log.size() - 1) << "one warning: " << log;
}

TEST_F(StoreTest, AFullDiskWarnsOnceAndLeavesNoHalfEntry) {
  const std::string text = in_child([&]() -> std::string {
    Store store = open();
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100, 100};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const bool stored = put(store, "a", std::string(5000, 'x')) || put(store, "b", std::string(5000, 'x'));
    return (stored ? "stored\n" : "refused\n") + log_.text();
  });
  EXPECT_EQ(text, "refused\n[warn] compiled code is not kept in the disk cache '" + path().string() +
                      "': cannot write '" + file_of("a").string() + "': File too large\n");
  EXPECT_EQ(staged(), 0U);
  EXPECT_FALSE(fs::exists(file_of("a")));
}

}  // namespace stax::cache

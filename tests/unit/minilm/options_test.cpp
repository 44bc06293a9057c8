#include "options.h"

#include "helpers.h"

namespace minilm {
namespace {

Options parse(const std::vector<std::string>& arguments) {
  std::string help;
  return parse_options(arguments, &help).value();
}

constexpr const char* kValid = "Valid options are --help, --model, --in, --out, --threads, --bench, --device, --dtype.";

std::string error_of(const std::vector<std::string>& arguments) {
  return user_error([&] { parse(arguments); });
}

}  // namespace

TEST(Options, All) {
  const Options options = parse({"--model", "m", "--in", "a.txt", "--out=b.npy", "--threads", "3", "--bench",
                                 "--device", "cuda", "--dtype", "bf16"});
  EXPECT_EQ(options.model, "m");
  EXPECT_EQ(options.in, "a.txt");
  EXPECT_EQ(options.out, "b.npy");
  EXPECT_EQ(options.threads, 3);
  EXPECT_TRUE(options.bench);
  EXPECT_EQ(options.device, "cuda");
  EXPECT_EQ(options.dtype, "bf16");
}

TEST(Options, Defaults) {
  const Options options = parse({"--model", "m"});
  EXPECT_TRUE(options.in.empty() && options.out.empty());
  EXPECT_EQ(options.threads, std::nullopt);
  EXPECT_FALSE(options.bench);
  EXPECT_EQ(options.device, "cpu");
  EXPECT_EQ(options.dtype, "f32");
}

TEST(Options, Help) {
  std::string help;
  EXPECT_FALSE(parse_options({"--help"}, &help).has_value());
  EXPECT_NE(help.find("--device"), std::string::npos);
}

TEST(Options, TheModelIsRequired) { EXPECT_EQ(error_of({}), std::string("--model is required. ") + kValid); }

TEST(Options, UnknownOptionsListTheValidOnes) {
  EXPECT_EQ(error_of({"--model", "m", "--fast"}),
            std::string("The following argument was not expected: --fast. ") + kValid);
}

TEST(Options, ValuesOutOfRange) {
  EXPECT_EQ(error_of({"--model", "m", "--threads", "0"}),
            std::string("--threads: Value 0 not in range 1 to 4096. ") + kValid);
  EXPECT_EQ(error_of({"--model", "m", "--device", "tpu"}), std::string("--device: tpu not in {cpu,cuda}. ") + kValid);
  EXPECT_EQ(error_of({"--model", "m", "--dtype", "f8"}), std::string("--dtype: f8 not in {f32,bf16}. ") + kValid);
  EXPECT_TRUE(error_of({"--model", "m", "--threads", "two"}).ends_with(kValid));
  EXPECT_TRUE(error_of({"--model"}).ends_with(kValid));
}

}  // namespace minilm

// A real file, where `make deps` has fetched the model.
#include "io_helpers.h"

namespace stax {

TEST(SafetensorsModel, LoadsMiniLm) {
  const auto path = std::filesystem::path(STAX_SOURCE_DIR) / ".models/minilm/model.safetensors";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there: make deps fetches it";
  const auto arrays = io::load_safetensors(path.string());
  const Array& words = arrays.at("embeddings.word_embeddings.weight");
  EXPECT_EQ(words.sizes(), (Dims{30522, 384}));
  EXPECT_EQ(words.dtype(), f32);
  EXPECT_TRUE(words.storage()->read_only()) << "shared with the file";
  EXPECT_EQ(arrays.at("encoder.layer.5.output.dense.weight").sizes(), (Dims{384, 1536}));
}

}  // namespace stax

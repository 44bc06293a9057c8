#include "io_helpers.h"

namespace stax {
namespace {

std::string bytes_of(const Array& array) {
  const Array dense = contiguous_copy(array);
  return dense.data()
             ? std::string(dense.data_as<char>(), static_cast<std::size_t>(dense.numel() * byte_size(dense.dtype())))
             : std::string();
}

}  // namespace

TEST(NpyRoundTrip, EveryDtypeAndRankKeepsItsBits) {
  const Folder folder;
  const std::vector<Dims> shapes = {
      {}, {1}, {0}, {7}, {3, 0, 2}, {2, 3, 4}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2}};
  for (int d = 0; d < kDtypeCount; ++d) {
    for (const Dims& shape : shapes) {
      const auto dtype = static_cast<Dtype>(d);
      Array array = Array::empty(std::span<const std::int64_t>(shape.data(), shape.size()), dtype);
      for (std::int64_t i = 0; i < array.numel() * byte_size(dtype); ++i)
        array.data_as<unsigned char>()[i] = static_cast<unsigned char>(dtype == Dtype::boolean ? i % 2 : i * 37 + 11);
      io::save_npy(folder.path("a.npy"), array);
      const Array loaded = io::load_npy(folder.path("a.npy"));
      EXPECT_EQ(loaded.dtype(), dtype);
      EXPECT_EQ(loaded.sizes(), array.sizes());
      EXPECT_TRUE(loaded.is_contiguous());
      EXPECT_EQ(bytes_of(loaded), bytes_of(array)) << to_text(dtype) << " of rank " << shape.size();
    }
  }
}

TEST(NpyRoundTrip, ViewsAreWrittenRowMajor) {
  const Folder folder;
  const Array base = array_of<float>({2, 3}, {0, 1, 2, 3, 4, 5}, f32);
  const auto round_trip = [&](Layout layout) {
    io::save_npy(folder.path("a.npy"), base.with_layout(std::move(layout)));
    return values_of<float>(io::load_npy(folder.path("a.npy")));
  };
  EXPECT_EQ(round_trip({{3, 2}, {1, 3}, 0}), (std::vector<float>{0, 3, 1, 4, 2, 5})) << "transposed";
  EXPECT_EQ(round_trip({{2, 3}, {-3, -1}, 5}), (std::vector<float>{5, 4, 3, 2, 1, 0})) << "flipped";
  EXPECT_EQ(round_trip({{2, 3}, {0, 1}, 3}), (std::vector<float>{3, 4, 5, 3, 4, 5})) << "expanded";
  EXPECT_EQ(round_trip({{2}, {2}, 1}), (std::vector<float>{1, 3})) << "sliced";
}

TEST(NpyRoundTrip, AnOldFileIsReplaced) {
  const Folder folder;
  folder.write("a.npy", std::string(10000, 'x'));
  io::save_npy(folder.path("a.npy"), array_of<float>({2}, {1, 2}, f32));
  EXPECT_EQ(values_of<float>(io::load_npy(folder.path("a.npy"))), (std::vector<float>{1, 2}));
  EXPECT_EQ(folder.files(), 1u) << "no temporary file is left";
}

}  // namespace stax

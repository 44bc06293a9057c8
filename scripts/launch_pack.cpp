// Runs a folder of packed launches (tests/unit/schedule/triton_pack.h) on the card through the driver and compares.
//   g++ -std=c++20 -O1 scripts/launch_pack.cpp -o launch_pack -ldl && ./launch_pack FOLDER
#include <dlfcn.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Handle = void*;
using Address = unsigned long long;
void* driver = nullptr;

template <class... A>
void call(const char* name, A... a) {
  auto f = reinterpret_cast<int (*)(A...)>(dlsym(driver, name));
  const int status = f ? f(a...) : -1;
  if (status != 0) {
    std::printf("%s failed: %d\n", name, status);
    std::exit(1);
  }
}

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

double number(const std::string& bytes, std::size_t i, const std::string& dtype) {
  auto at = [&]<class T>(T v) {
    std::memcpy(&v, bytes.data() + i * sizeof(T), sizeof(T));
    return v;
  };
  if (dtype == "f32") return at(float{});
  if (dtype == "f64") return at(double{});
  if (dtype == "i64") return static_cast<double>(at(std::int64_t{}));
  if (dtype == "i32") return at(std::int32_t{});
  if (dtype == "i16") return at(std::int16_t{});
  if (dtype == "i8") return at(std::int8_t{});
  if (dtype == "u8") return at(std::uint8_t{});
  if (dtype == "boolean") return at(char{});
  if (dtype == "bf16") {
    const std::uint32_t wide = std::uint32_t{at(std::uint16_t{})} << 16;
    float f;
    std::memcpy(&f, &wide, 4);
    return f;
  }
  std::printf("no comparison of %s\n", dtype.c_str());
  std::exit(1);
}

std::size_t width(const std::string& d) {
  return d == "f64" || d == "i64" ? 8 : d == "f32" || d == "i32" ? 4 : d == "boolean" || d == "i8" || d == "u8" ? 1 : 2;
}

struct Launch {
  std::string name, function;
  unsigned grid = 1, threads = 32, shared = 0;
  std::vector<std::uint64_t> slots;  // one an argument
  std::vector<std::pair<std::string, std::size_t>> buffers;
};

// Launches one after the other; every buffer is counted once.
void measure(const std::string& folder, const Launch& l);

void run(const std::string& folder, const Launch& l, int times = 1) {
  Handle module = nullptr, function = nullptr;
  const std::string cubin = read(folder + "/" + l.name + ".cubin");
  call("cuModuleLoadData", &module, cubin.data());
  call("cuModuleGetFunction", &function, module, l.function.c_str());
  if (l.shared > 48 << 10) call("cuFuncSetAttribute", function, 8, static_cast<int>(l.shared));
  std::vector<std::uint64_t> slots = l.slots;
  slots.push_back(0);  // global scratch, profile scratch
  slots.push_back(0);
  std::vector<void*> pointers;
  for (auto& s : slots) pointers.push_back(&s);
  Handle begin = nullptr, end = nullptr;
  call("cuEventCreate", &begin, 0U);
  call("cuEventCreate", &end, 0U);
  for (int i = 0; l.grid > 0 && i < times; ++i) {
    if (i == 1) call("cuEventRecord", begin, Handle{});
    call("cuLaunchKernel", function, l.grid, 1U, 1U, l.threads, 1U, 1U, l.shared, Handle{}, pointers.data(),
         static_cast<void**>(nullptr));
  }
  if (times > 1) call("cuEventRecord", end, Handle{});
  call("cuCtxSynchronize");
  if (times > 1) {
    float ms = 0;
    call("cuEventElapsedTime", &ms, begin, end);
    double bytes = 0;
    for (const auto& b : l.buffers) bytes += static_cast<double>(b.second);
    const double us = 1000.0 * ms / (times - 1);
    std::printf("%-20s %9.1f us %6.2f TB/s\n", l.name.c_str(), us, bytes / us * 1e-6);
  }
  call("cuModuleUnload", module);
}

void measure(const std::string& folder, const Launch& l) { run(folder, l, 51); }

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argv[1];
  driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) return std::printf("no libcuda: %s\n", dlerror()), 1;
  Handle context = nullptr;
  int device = 0;
  call("cuInit", 0U);
  call("cuDeviceGet", &device, 0);
  call("cuDevicePrimaryCtxRetain", &context, device);
  call("cuCtxSetCurrent", context);
  std::map<std::string, std::string> results;
  std::ifstream list(folder + "/launches.txt");
  Launch l;
  std::vector<Address> addresses;
  for (std::string row, word; std::getline(list, row);) {
    std::istringstream in(row);
    in >> word;
    if (word == "case") {
      l = {};
      addresses.clear();
      in >> l.name;
    } else if (word == "function") {
      in >> l.function;
    } else if (word == "grid") {
      in >> l.grid;
    } else if (word == "threads") {
      in >> l.threads;
    } else if (word == "shared") {
      in >> l.shared;
    } else if (word == "buffer") {
      std::string type, file;
      in >> type >> file;
      const std::string bytes = read(folder + "/" + file);
      Address a = 0;
      call("cuMemAlloc_v2", &a, bytes.size() + 16);
      call("cuMemcpyHtoD_v2", a, static_cast<const void*>(bytes.data()), bytes.size());
      addresses.push_back(a);
      l.buffers.emplace_back(file, bytes.size());
      l.slots.push_back(a);
    } else if (word == "integer") {
      std::string type;
      std::int64_t v = 0;
      in >> type >> v;
      l.slots.push_back(static_cast<std::uint64_t>(v));
    } else if (word == "double") {
      double v = 0;
      in >> v;
      std::uint64_t bits;
      std::memcpy(&bits, &v, 8);
      l.slots.push_back(bits);
    } else if (word == "space") {
      std::size_t bytes = 0;
      in >> bytes;
      Address a = 0;
      call("cuMemAlloc_v2", &a, bytes);
      call("cuMemsetD8_v2", a, static_cast<unsigned char>(0), bytes);
      addresses.push_back(a);
      l.buffers.emplace_back("", bytes);
      l.slots.push_back(a);
    } else if (word == "measure") {
      measure(folder, l);
      for (Address a : addresses) call("cuMemFree_v2", a);
    } else if (word == "end") {
      run(folder, l);
      for (std::size_t i = 0; i < addresses.size(); ++i) {
        std::string& out = results[l.buffers[i].first];
        out.resize(l.buffers[i].second);
        call("cuMemcpyDtoH_v2", static_cast<void*>(out.data()), addresses[i], out.size());
        call("cuMemFree_v2", addresses[i]);
      }
    }
  }
  int wrong = 0, compared = 0;
  std::ifstream expected(folder + "/expected.txt");
  for (std::string row; std::getline(expected, row);) {
    std::istringstream in(row);
    std::string file, dtype;
    double tolerance = 0;
    in >> file >> dtype >> tolerance;
    const std::string want = read(folder + "/" + file + ".expected"), &got = results[file];
    double worst = 0;
    for (std::size_t i = 0; i < want.size() / width(dtype); ++i) {
      const double x = number(got, i, dtype), y = number(want, i, dtype);
      if (std::isnan(x) != std::isnan(y)) worst = INFINITY;
      if (std::isnan(x) || (x == y && std::signbit(x) == std::signbit(y))) continue;
      worst = std::max(worst, x == y                           ? INFINITY
                              : std::isinf(x) || std::isinf(y) ? INFINITY
                                                               : std::abs(x - y) / std::max(std::abs(y), 1.0));
    }
    ++compared;
    const bool bad = !(worst <= tolerance);
    wrong += bad;
    if (bad || argc > 2)
      std::printf("%-28s %-8s worst %.3g of %.3g%s\n", file.c_str(), dtype.c_str(), worst, tolerance,
                  bad ? "  WRONG" : "");
  }
  std::printf("%d outputs compared, %d wrong\n", compared, wrong);
  return wrong || !compared;
}

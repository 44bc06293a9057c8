#include "on_device.h"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>
#include <unordered_map>

#include "runtime/device_runtime.h"

namespace stax::devicetest {

graph::Graph on_device(const graph::Graph& g, Device device) {
  auto moved_types = [&](std::vector<graph::TensorType> types) {
    for (graph::TensorType& t : types)
      if (!t.scalar) t.device = device;
    return types;
  };
  graph::Graph to =
      graph::rewrite(g, [&](graph::Graph& into, const graph::Node& node, const std::vector<graph::Value>& operands) {
        graph::Attributes attributes = node.attributes;
        if (auto it = attributes.find("device"); it != attributes.end()) it->second = to_string(device);
        graph::Node* copy = into.append(*node.op, operands, std::move(attributes), moved_types(node.types), node.where);
        copy->view_offset = node.view_offset;
        std::vector<graph::Value> results;
        for (std::size_t i = 0; i < copy->types.size(); ++i) results.push_back(copy->value(static_cast<int>(i)));
        return results;
      });
  for (const graph::Value& v : to.inputs) v.node->types = moved_types(v.node->types);
  return to;
}

namespace {

std::shared_ptr<Storage> copy_of(const Storage& from, Device to) {
  auto storage = std::make_shared<Storage>(allocator_for(to), from.bytes(), to);
  if (from.bytes() == 0) return storage;
  if (to.kind != DeviceKind::cpu)
    runtime::runtime_for(to).upload(storage->data(), from.data(), from.bytes());
  else
    runtime::runtime_for(from.device()).download(storage->data(), from.data(), from.bytes());
  return storage;
}

// Blocks of many sizes are filled and given back, so that the next allocations find the poison.
void poison_free_memory(Device device, int value) {
  runtime::DeviceRuntime& runtime = runtime::runtime_for(device);
  static constexpr std::size_t kLargest = std::size_t{1} << 20;
  const std::vector<char> bytes(kLargest, static_cast<char>(value));
  std::vector<std::pair<void*, std::size_t>> blocks;
  for (std::size_t size = 512; size <= kLargest; size *= 2)
    for (int i = 0; i < 4; ++i) blocks.emplace_back(runtime.allocator().allocate(size), size);
  for (const auto& [data, size] : blocks) runtime.upload(data, bytes.data(), size);
  for (const auto& [data, size] : blocks) runtime.allocator().release(data, size);
}

}  // namespace

Array moved(const Array& a, Device to) { return Array(copy_of(*a.storage(), to), a.dtype(), a.layout()); }

compiler::CallFacts facts_of(std::span<const Array> inputs) {
  compiler::CallFacts facts;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].offset() * byte_size(inputs[i].dtype()) % 16 != 0) facts.unaligned.push_back(static_cast<int>(i));
  return facts;
}

Result run(const plan::Executable& e, Device device, std::span<const Array> inputs,
           std::span<const plan::ScalarValue> scalars, int poison) {
  std::unordered_map<const Storage*, std::shared_ptr<Storage>> storages;  // inputs that share memory still do
  std::vector<Array> there;
  for (const Array& a : inputs) {
    auto& storage = storages[a.storage().get()];
    if (!storage) storage = copy_of(*a.storage(), device);
    there.emplace_back(storage, a.dtype(), a.layout());
  }
  std::vector<const Array*> pointers;
  for (const Array& a : there) pointers.push_back(&a);
  const plan::CallArgs args{pointers, scalars};
  plan::GuardFailure why;
  if (!e.check(args, &why)) {
    if (why.guard >= 0 && e.plan().guards[static_cast<std::size_t>(why.guard)].promise) throw PromiseFailed(why.text);
    throw std::runtime_error("refused: " + why.text);
  }
  Result result;
  std::vector<Array> outputs(e.plan().outputs.size());
  poison_free_memory(device, poison);
  e.run(args, outputs);
  runtime::runtime_for(device).synchronize();
  if (!runtime::runtime_for(device).executes()) return result;
  for (const Array& a : outputs) result.outputs.push_back(moved(a, Device{}));
  for (const Array& a : there) result.inputs.push_back(moved(a, Device{}));
  return result;
}

void in_parallel(int threads, std::size_t count, const std::function<void(std::size_t)>& job) {
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t)
    pool.emplace_back([&] {
      for (std::size_t i = next++; i < count; i = next++) job(i);
    });
  for (std::thread& t : pool) t.join();
}

std::string option(int argc, char** argv, const std::string& name, const std::string& otherwise) {
  for (int i = 1; i + 1 < argc; ++i)
    if (argv[i] == name) return argv[i + 1];
  return otherwise;
}

bool exists(Device device) {
  try {
    (void)runtime::runtime_for(device);
    return true;
  } catch (const DeviceError& e) {
    std::printf("skipped: %s\n", e.what());
    return false;
  }
}

}  // namespace stax::devicetest

// Where a tensor lives.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace stax {

enum class DeviceKind : std::uint8_t { cpu, cuda, null_gpu };  // null_gpu compiles for sm_90 and launches nothing

struct Device {
  DeviceKind kind = DeviceKind::cpu;
  int index = 0;
  bool operator==(const Device&) const = default;
};

std::string to_string(Device d);             // "cpu", "cuda:0", "null"
Device parse_device(std::string_view text);  // UserError lists the valid ones

}  // namespace stax

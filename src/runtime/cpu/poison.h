// Marks memory that nobody holds, so that AddressSanitizer reports its use. Nothing in other builds.
#pragma once
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/lsan_interface.h>
#define STAX_HAS_ASAN 1
#endif

namespace stax::runtime {

#ifdef STAX_HAS_ASAN
inline void poison(void* p, std::size_t bytes) { __asan_poison_memory_region(p, bytes); }
inline void unpoison(void* p, std::size_t bytes) { __asan_unpoison_memory_region(p, bytes); }
// Mapped memory whose pointers keep heap blocks alive in the eyes of the leak checker.
inline void register_roots(void* p, std::size_t bytes) { __lsan_register_root_region(p, bytes); }
inline void unregister_roots(void* p, std::size_t bytes) { __lsan_unregister_root_region(p, bytes); }
#else
inline void poison(void*, std::size_t) {}
inline void unpoison(void*, std::size_t) {}
inline void register_roots(void*, std::size_t) {}
inline void unregister_roots(void*, std::size_t) {}
#endif

}  // namespace stax::runtime

#include "build/build_id.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstring>

#include "base/file.h"
#include "base/hash.h"

namespace stax::build {

namespace {

std::string hex(const unsigned char* bytes, std::size_t count) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

// The linker's build id among the notes of one segment; empty when there is none.
std::string id_in_notes(const char* notes, std::size_t size) {
  std::size_t at = 0;
  while (at + sizeof(ElfW(Nhdr)) <= size) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes + at, sizeof header);
    const std::size_t name = at + sizeof header, value = name + (header.n_namesz + 3) / 4 * 4;
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 && std::memcmp(notes + name, "GNU", 4) == 0)
      return hex(reinterpret_cast<const unsigned char*>(notes + value), header.n_descsz);
    at = value + (header.n_descsz + 3) / 4 * 4;
  }
  return {};
}

struct Search {
  const void* inside;
  std::string id;
};

// Looks at the loaded object that contains `inside`.
int visit(dl_phdr_info* info, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  const auto at = reinterpret_cast<ElfW(Addr)>(search.inside);
  bool contains = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = info->dlpi_phdr[i];
    const ElfW(Addr) start = info->dlpi_addr + p.p_vaddr;
    contains = contains || (p.p_type == PT_LOAD && start <= at && at < start + p.p_memsz);
  }
  if (!contains) return 0;
  for (int i = 0; i < info->dlpi_phnum && search.id.empty(); ++i)
    if (info->dlpi_phdr[i].p_type == PT_NOTE)
      search.id = id_in_notes(reinterpret_cast<const char*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
                              info->dlpi_phdr[i].p_memsz);
  return 1;
}

std::string find_id() {
  Search search{reinterpret_cast<const void*>(&build_id), {}};
  dl_iterate_phdr(visit, &search);
  if (!search.id.empty()) return search.id;
  // Linked without an id: the digest of the file.
  Dl_info info;
  if (!dladdr(search.inside, &info) || !info.dli_fname) return "unknown";
  return base::sha256(base::read_file(info.dli_fname)).hex();
}

}  // namespace

const std::string& build_id() {
  static const std::string id = find_id();
  return id;
}

}  // namespace stax::build

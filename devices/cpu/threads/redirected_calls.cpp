#include "devices/cpu/threads/redirected_calls.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

namespace het::cpu {
namespace {

#if defined(__x86_64__)
constexpr unsigned kFunctionSlot = R_X86_64_JUMP_SLOT;
constexpr unsigned kAddressSlot = R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
constexpr unsigned kFunctionSlot = R_AARCH64_JUMP_SLOT;
constexpr unsigned kAddressSlot = R_AARCH64_GLOB_DAT;
#else
#error "the relocations of this processor are not known here"
#endif

struct ImportedAddress {
  void** place;
  void* function;
};

/// The parts of a library's dynamic section (ELF) that say what it imports.
struct Imports {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  std::span<const ElfW(Rela)> functions;
  std::span<const ElfW(Rela)> addresses;
};

Imports imports_of(const link_map& library) {
  Imports found;
  const ElfW(Rela)* functions = nullptr;
  const ElfW(Rela)* addresses = nullptr;
  size_t function_bytes = 0;
  size_t address_bytes = 0;
  for (const ElfW(Dyn)* entry = library.l_ld; entry->d_tag != DT_NULL; ++entry) {
    const ElfW(Addr) value = entry->d_un.d_ptr;
    switch (entry->d_tag) {
      case DT_SYMTAB:
        found.symbols = reinterpret_cast<const ElfW(Sym)*>(value);
        break;
      case DT_STRTAB:
        found.names = reinterpret_cast<const char*>(value);
        break;
      case DT_JMPREL:
        functions = reinterpret_cast<const ElfW(Rela)*>(value);
        break;
      case DT_PLTRELSZ:
        function_bytes = entry->d_un.d_val;
        break;
      case DT_RELA:
        addresses = reinterpret_cast<const ElfW(Rela)*>(value);
        break;
      case DT_RELASZ:
        address_bytes = entry->d_un.d_val;
        break;
      default:
        break;
    }
  }
  if (functions != nullptr) found.functions = {functions, function_bytes / sizeof(ElfW(Rela))};
  if (addresses != nullptr) found.addresses = {addresses, address_bytes / sizeof(ElfW(Rela))};
  return found;
}

/// Where the library keeps the addresses of the functions; none where it lacks one.
std::vector<ImportedAddress> find_slots(const link_map& library,
                                        std::span<const RedirectedCall> calls) {
  const Imports imports = imports_of(library);
  if (imports.symbols == nullptr || imports.names == nullptr) return {};
  std::vector<ImportedAddress> slots;
  for (const RedirectedCall& call : calls) {
    const size_t before = slots.size();
    for (const auto& entries : {imports.functions, imports.addresses}) {
      for (const ElfW(Rela) & entry : entries) {
        const auto type = ELF64_R_TYPE(entry.r_info);
        if (type != kFunctionSlot && type != kAddressSlot) continue;
        const ElfW(Sym)& symbol = imports.symbols[ELF64_R_SYM(entry.r_info)];
        if (std::strcmp(imports.names + symbol.st_name, call.name) != 0) continue;
        slots.push_back({reinterpret_cast<void**>(library.l_addr + entry.r_offset), call.function});
      }
    }
    if (slots.size() == before) return {};
  }
  return slots;
}

/// The pages that the dynamic linker has made read-only after it had filled the table.
struct ReadOnlyPages {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  bool has(uintptr_t address) const { return address >= begin && address < end; }
};

ReadOnlyPages read_only_pages(const link_map& library) {
  struct Search {
    ElfW(Addr) base;
    ReadOnlyPages found;
  } search{library.l_addr, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto& wanted = *static_cast<Search*>(data);
        if (info->dlpi_addr != wanted.base) return 0;
        for (size_t k = 0; k < info->dlpi_phnum; ++k) {
          const ElfW(Phdr)& part = info->dlpi_phdr[k];
          if (part.p_type != PT_GNU_RELRO) continue;
          wanted.found.begin = info->dlpi_addr + part.p_vaddr;
          wanted.found.end = wanted.found.begin + part.p_memsz;
        }
        return 1;
      },
      &search);
  return search.found;
}

bool write_slot(const ImportedAddress& slot, const ReadOnlyPages& read_only) {
  const auto size = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<uintptr_t>(slot.place);
  auto* const page = reinterpret_cast<void*>(address & ~(size - 1));
  const bool locked = read_only.has(address);
  if (locked && ::mprotect(page, size, PROT_READ | PROT_WRITE) != 0) return false;
  // Other threads may be calling.
  __atomic_store_n(slot.place, slot.function, __ATOMIC_RELEASE);
  if (locked) ::mprotect(page, size, PROT_READ);
  return true;
}

/// The library of these functions is never unloaded; nothing to do in a program.
void stay_loaded(const void* function) {
  Dl_info info{};
  if (dladdr(function, &info) != 0 && info.dli_fname != nullptr) {
    dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  }
}

}  // namespace

bool redirect_calls(const void* inside, std::span<const RedirectedCall> calls) {
  Dl_info info{};
  link_map* library = nullptr;
  if (dladdr1(inside, &info, reinterpret_cast<void**>(&library), RTLD_DL_LINKMAP) == 0 ||
      library == nullptr || library->l_ld == nullptr) {
    return false;
  }
  const std::vector<ImportedAddress> slots = find_slots(*library, calls);
  if (slots.empty()) return false;
  stay_loaded(calls.front().function);
  const ReadOnlyPages read_only = read_only_pages(*library);
  for (const ImportedAddress& slot : slots) {
    if (!write_slot(slot, read_only)) return false;
  }
  return true;
}

}  // namespace het::cpu

// A CUDA ELF image: ELF64 with a machine number of its own. Kernels are the functions of the symbol
// table that carry a vendor bit. What they need stands in `.nv.info` (for all functions) and
// `.nv.info.NAME` (for one, whose code the section's `info` names), as records of
//
//   u8 form, u8 attribute, then by form 4: u16 length and that many bytes; 1, 2 or 3: 2 bytes
//
// Read off images of the CUDA toolkits 11 to 13 and held against what `ptxas -v` and `cuobjdump
// -res-usage` say of them. Images for sm_100 and newer carry everything a second time for another
// code form, in sections whose types differ from those below.

#include "analyzers/native/cubin.h"

#include <algorithm>
#include <span>
#include <utility>

#include "analyzers/native/sass.h"

namespace opseal {
namespace {

constexpr std::uint64_t header_size = 64;
constexpr std::uint64_t section_header_size = 64;
constexpr std::uint64_t symbol_size = 24;
constexpr std::uint16_t cuda_machine = 190;

constexpr std::uint32_t type_symbols = 2;
constexpr std::uint32_t type_texts = 3;
constexpr std::uint32_t type_note = 7;
constexpr std::uint32_t type_no_bits = 8;
constexpr std::uint32_t type_section_numbers = 18;
constexpr std::uint32_t type_properties = 0x70000000;

constexpr std::uint16_t reserved_numbers = 0xff00;
constexpr std::uint16_t number_elsewhere = 0xffff;
constexpr unsigned function_type = 2;
constexpr unsigned local_binding = 0;
constexpr unsigned kernel_bit = 0x10;

// From this architecture on every kernel's shared memory begins with bytes of the system.
constexpr std::uint32_t first_reserving_architecture = 90;
constexpr std::int64_t reserved_shared_memory = 1024;

// Attributes of a record.
constexpr std::uint8_t max_threads_attribute = 0x05;
constexpr std::uint8_t required_threads_attribute = 0x10;
// ordinal at 4, size in the upper 14 bits of the number at 8
constexpr std::uint8_t parameter_attribute = 0x17;
constexpr std::uint8_t registers_attribute = 0x2f;
constexpr std::uint8_t cluster_attribute = 0x3d;
// Where a parameter is too large for the above: ordinal at 4, size in the lower 16 bits at 8.
constexpr std::uint8_t large_parameter_attribute = 0x45;

// Toolkit 13 and those parts of 12.9 that were ahead of it arrange the flags in another way.
bool has_newer_flags(const Bytes& file) {
  constexpr std::uint8_t first_version = 8;
  return file.u8(8) >= first_version;
}

bool is_relocatable(const Bytes& file) {
  constexpr std::uint16_t relocatable_type = 1;
  return file.u16(16) == relocatable_type;
}

std::uint32_t architecture_number(const Bytes& file) {
  const std::uint32_t flags = file.u32(48);
  return has_newer_flags(file) ? flags >> 8 & 0xff : flags & 0xff;
}

template <typename Use>
void for_each_record(const Bytes& records, Use use) {
  constexpr std::uint8_t sized_form = 4;
  std::uint64_t at = 0;
  while (records.holds(at, 4)) {
    const std::uint64_t length = records.u8(at) == sized_form ? records.u16(at + 2) : 0;
    use(records.u8(at + 1), records.part(at + 4, length, "a record of properties"));
    at += 4 + length;
  }
}

std::array<std::uint32_t, 3> read_dimensions(const Bytes& value) {
  return {value.u32(0), value.u32(4), value.u32(8)};
}

void add_parameter(const Bytes& records, std::uint16_t ordinal, std::uint32_t size,
                   DeviceKernel& kernel) {
  constexpr std::uint64_t record_size = 16;
  if (ordinal >= records.size() / record_size) {
    throw InputError(records.offset(), records.size(),
                     "parameter " + std::to_string(ordinal) + " in properties that hold " +
                         std::to_string(records.size() / record_size) + " at most");
  }
  if (kernel.parameters.size() <= ordinal) kernel.parameters.resize(ordinal + std::size_t{1});
  kernel.parameters[ordinal] = size;
}

void read_properties(const Bytes& records, DeviceKernel& kernel) {
  for_each_record(records, [&](std::uint8_t attribute, const Bytes& value) {
    switch (attribute) {
      case parameter_attribute:
        add_parameter(records, value.u16(4), value.u32(8) >> 18, kernel);
        break;
      case large_parameter_attribute:
        add_parameter(records, value.u16(4), value.u16(8), kernel);
        break;
      case max_threads_attribute:
        kernel.max_threads = read_dimensions(value);
        break;
      case required_threads_attribute:
        kernel.required_threads = read_dimensions(value);
        break;
      case cluster_attribute:
        kernel.cluster = read_dimensions(value);
        break;
      default:
        break;
    }
  });
}

std::int32_t as_count(std::int64_t number) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(number, -1, INT32_MAX));
}

template <typename Section>
Bytes bytes_of(const Bytes& file, const Section& section, const char* what) {
  return file.part(section.offset, section.size, what);
}

void check_header(const Bytes& file) {
  if (!is_cubin(file.view())) {
    throw InputError(file.offset(), 0, "no CUDA ELF image: it begins otherwise");
  }
  if (file.u16(58) != section_header_size) {
    throw InputError(file.offset() + 58, 2,
                     "section headers of " + std::to_string(file.u16(58)) + " bytes, expected 64");
  }
}

}  // namespace

bool is_cubin(std::string_view head) {
  // ELF, 64 bits, little-endian
  constexpr std::string_view magic = "\177ELF\2\1";
  return head.size() >= header_size && head.starts_with(magic) &&
         Bytes(head).u16(18) == cuda_machine;
}

void CubinReader::read(const Bytes& file, DeviceImage& image, std::uint64_t most) {
  ImageBytes whole;
  whole.bytes = file;
  read_partly(whole, image, most);
}

bool CubinReader::read_partly(const ImageBytes& parts, DeviceImage& image, std::uint64_t most) {
  const Bytes& file = parts.bytes;
  check_header(file);
  image.relocatable = is_relocatable(file);
  read_sections(file);
  if (!holds_tables(parts)) return false;
  read_shared_memory(file);
  if (symbol_table_ == 0) return true;

  const Bytes symbols = bytes_of(file, sections_[symbol_table_], "a symbol table");
  const std::uint32_t link = sections_[symbol_table_].link;
  if (link >= sections_.size()) {
    throw InputError(symbols.offset(), 0,
                     "the symbols' names are in section " + std::to_string(link) + " of " +
                         std::to_string(sections_.size()));
  }
  const Bytes names = bytes_of(file, sections_[link], "a table of names");
  const std::uint64_t count = symbols.size() / symbol_size;
  registers_.assign(count, -1);
  if (file_properties_ != 0) {
    read_registers(bytes_of(file, sections_[file_properties_], "the file's properties"));
  }
  const std::uint32_t architecture = architecture_number(file);
  Budget budget(file, "names, properties and code of kernels");
  for (std::uint64_t number = 0; number < count; ++number) {
    const std::uint64_t at = number * symbol_size;
    const unsigned info = symbols.u8(at + 4);
    if ((info & 0xf) != function_type || (symbols.u8(at + 5) & kernel_bit) == 0) continue;
    if (image.kernels.size() >= most) refuse_kernels(symbols.offset() + at, most);
    DeviceKernel kernel;
    kernel.name = budget.take(names.text(symbols.u32(at)), symbols.offset() + at);
    kernel.local = info >> 4 == local_binding;
    kernel.registers = registers_[number];
    std::uint32_t section = symbols.u16(at + 6);
    if (section == number_elsewhere && section_numbers_ != 0) {
      section = bytes_of(file, sections_[section_numbers_], "section numbers").u32(number * 4);
    } else if (section >= reserved_numbers) {
      section = 0;
    }
    if (section != 0 && !read_function(parts, section, symbols.u64(at + 8), symbols.u64(at + 16),
                                       architecture, budget, kernel)) {
      image.kernels.clear();
      return false;
    }
    image.kernels.push_back(std::move(kernel));
  }
  return true;
}

bool CubinReader::holds_tables(const ImageBytes& file) const {
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    const Section& section = sections_[i];
    const bool read = i == name_section_ || i == symbol_table_ || section.type == type_texts ||
                      section.type == type_section_numbers || section.type == type_properties;
    if (read && !file.holds(section.offset, section.size)) return false;
  }
  const std::uint32_t link = symbol_table_ == 0 ? 0 : sections_[symbol_table_].link;
  return link >= sections_.size() || file.holds(sections_[link].offset, sections_[link].size);
}

bool CubinReader::read_function(const ImageBytes& image, std::uint32_t number, std::uint64_t start,
                                std::uint64_t size, std::uint32_t architecture, Budget& budget,
                                DeviceKernel& kernel) const {
  const Bytes& file = image.bytes;
  if (number >= sections_.size()) {
    throw InputError(file.offset(), 0,
                     "a kernel in section " + std::to_string(number) + " of " +
                         std::to_string(sections_.size()));
  }
  const Section& code = sections_[number];
  // Before sm_100 the code's section says it as well, and older tools only there.
  if (kernel.registers < 0 && code.info >> 24 != 0) {
    kernel.registers = static_cast<std::int32_t>(code.info >> 24);
  }
  std::int64_t shared_memory = std::max<std::int64_t>(code.shared_memory, 0);
  // Parts get it when they are linked.
  if (!is_relocatable(file) && architecture >= first_reserving_architecture &&
      shared_memory >= reserved_shared_memory) {
    shared_memory -= reserved_shared_memory;
  }
  kernel.shared_memory = as_count(shared_memory);
  if (code.properties != 0) {
    const Bytes properties = bytes_of(file, sections_[code.properties], "a kernel's properties");
    budget.take(properties.size(), properties.offset());
    read_properties(properties, kernel);
  }
  if (architecture < first_readable_architecture || code.type == type_no_bits) return true;
  const Bytes body = bytes_of(file, code, "a kernel's code").part(start, size, "a kernel's code");
  budget.take(body.size(), body.offset());
  const std::uint64_t at = code.offset + start;
  const bool there = image.holds(at, body.size());
  if (!there && at % instruction_size != 0) return false;
  const BodyFacts facts =
      there ? look_at_body(body.view())
            : look_at_effects(std::span(image.effects)
                                  .subspan(at / instruction_size, body.size() / instruction_size));
  kernel.body_read = true;
  kernel.instructions = facts.instructions;
  kernel.writes = facts.writes;
  kernel.traps = facts.traps;
  kernel.calls = facts.calls;
  return true;
}

void CubinReader::read_sections(const Bytes& file) {
  sections_.clear();
  name_section_ = symbol_table_ = file_properties_ = section_numbers_ = 0;
  const std::uint64_t start = file.u64(40);
  if (start == 0) return;
  std::uint64_t count = file.u16(60);
  // A count beyond 16 bits stands in the header of section 0.
  if (count == 0) count = file.from(start, "section headers").u64(32);
  std::uint32_t name_section = file.u16(62);
  if (name_section == number_elsewhere) name_section = file.from(start, "section headers").u32(40);
  if (count > file.size() / section_header_size) {
    throw InputError(file.offset() + 60, 2,
                     std::to_string(count) + " sections in an image of " +
                         std::to_string(file.size()) + " bytes");
  }
  const Bytes headers = file.part(start, count * section_header_size, "section headers");
  sections_.resize(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = i * section_header_size;
    Section& section = sections_[i];
    section.name = headers.u32(at);
    section.type = headers.u32(at + 4);
    section.offset = headers.u64(at + 24);
    section.size = headers.u64(at + 32);
    section.link = headers.u32(at + 40);
    section.info = headers.u32(at + 44);
  }
  if (name_section >= count) return;
  name_section_ = name_section;
  for (std::uint32_t i = 1; i < count; ++i) {
    const Section& section = sections_[i];
    if (section.type == type_symbols && symbol_table_ == 0) {
      symbol_table_ = i;
    } else if (section.type == type_section_numbers) {
      section_numbers_ = i;
    } else if (section.type == type_properties) {
      if (section.info == 0) {
        file_properties_ = i;
      } else if (section.info < count) {
        sections_[section.info].properties = i;
      }
    }
  }
}

void CubinReader::read_shared_memory(const Bytes& file) {
  if (name_section_ == 0) return;
  const Bytes names = bytes_of(file, sections_[name_section_], "names of sections");
  constexpr std::string_view shared_prefix = ".nv.shared.";
  for (std::uint32_t i = 1; i < sections_.size(); ++i) {
    const Section& section = sections_[i];
    // Of three types: in linked images, in parts that were not linked, and as assemblers write it.
    const bool is_table = section.type == type_section_numbers || section.type == type_properties ||
                          i == symbol_table_;
    if (!is_table && section.info != 0 && section.info < sections_.size() &&
        section.name <= names.size() &&
        names.view().substr(section.name).starts_with(shared_prefix)) {
      sections_[section.info].shared_memory =
          static_cast<std::int64_t>(std::min<std::uint64_t>(section.size, INT32_MAX));
    }
  }
}

void CubinReader::read_registers(const Bytes& properties) {
  for_each_record(properties, [this](std::uint8_t attribute, const Bytes& value) {
    if (attribute != registers_attribute) return;
    const std::uint32_t symbol = value.u32(0);
    if (symbol < registers_.size()) registers_[symbol] = as_count(value.u32(4));
  });
}

std::vector<std::string_view> CubinReader::notes(const Bytes& file) {
  check_header(file);
  read_sections(file);
  std::vector<std::string_view> notes;
  for (const Section& section : sections_) {
    if (section.type == type_note) notes.push_back(bytes_of(file, section, "a note").view());
  }
  return notes;
}

std::string cubin_architecture_number(const Bytes& file) {
  return "sm_" + std::to_string(architecture_number(file));
}

std::string cubin_architecture(const Bytes& file) {
  const std::string name = cubin_architecture_number(file);
  // Toolkits before 13 set it for `a` from sm_100 on; that it isn't set says nothing.
  constexpr std::uint32_t architecture_specific = 8;
  if (has_newer_flags(file) && (file.u32(48) & architecture_specific) != 0) return name + 'a';
  CubinReader reader;
  for (const std::string_view note : reader.notes(file)) {
    // `-arch sm_90a`, among the options.
    const std::size_t found = note.find(name);
    if (found == std::string_view::npos || found + name.size() >= note.size()) continue;
    const char suffix = note[found + name.size()];
    if (suffix == 'a' || suffix == 'f') return name + suffix;
  }
  return name;
}

}  // namespace opseal

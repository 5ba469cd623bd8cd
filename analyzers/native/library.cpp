#include "analyzers/native/library.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "analyzers/mapped_file.h"
#include "analyzers/native/archive_members.h"
#include "analyzers/native/host_links.h"
#include "analyzers/native/library_parts.h"
#include "opseal/form.h"
#include "opseal/text.h"

namespace fs = std::filesystem;

namespace opseal {
namespace {

// ELF's words: e_type, e_machine.
constexpr std::uint16_t type_relocatable = 1;
constexpr std::uint16_t type_executable = 2;
constexpr std::uint16_t machine_x86_64 = 62;
constexpr std::uint16_t machine_aarch64 = 183;
constexpr std::uint16_t machine_cuda = 190;

std::string machine_word(std::uint16_t machine) {
  switch (machine) {
    case machine_x86_64:
      return "x86-64";
    case machine_aarch64:
      return "aarch64";
    case 243:
      return "riscv64";
    case 21:
      return "ppc64";
    case machine_cuda:
      return "cuda";
    default:
      return "machine " + std::to_string(machine);
  }
}

std::string_view type_word(const Elf& elf, const ElfDynamic& dynamic) {
  if (elf.type() == type_relocatable) return "relocatable";
  // The C library has a soname and can be started all the same.
  const bool program =
      elf.type() == type_executable || (elf.has_interpreter() && dynamic.soname.empty());
  return program ? "program" : "shared";
}

// Names of the kernels that a linked host library can hand to the CUDA runtime: those of finished
// images in the section that the runtime's own registration points to.
std::vector<std::string_view> registrable_kernels(const DeviceImages& images) {
  std::vector<std::string_view> names;
  for (const DeviceImage& image : images.images) {
    if (image.relocatable || images.containers[image.container].section != ".nv_fatbin") continue;
    for (const DeviceKernel& kernel : image.kernels) names.push_back(kernel.name);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// Separate debug information keeps the headers of the library it was taken from, without bytes: it
// tells nothing of what the library holds.
bool is_debug_file(const Elf& elf) {
  constexpr std::uint32_t no_bits = 8;
  const auto& sections = elf.sections();
  return std::any_of(sections.begin(), sections.end(), [](const ElfSection& section) {
    return section.type == no_bits && (section.name == ".dynsym" || section.name == ".dynamic");
  });
}

class LibraryWriter {
 public:
  LibraryWriter(const LibraryFile& library, unsigned threads, FactWriter& writer, Facts& facts)
      : library_(library), threads_(threads), writer_(writer), facts_(facts) {}

  void write() {
    const Bytes bytes(library_.bytes);
    switch (library_kind(library_.bytes)) {
      case LibraryKind::elf:
        write_elf(bytes);
        break;
      case LibraryKind::archive:
      case LibraryKind::thin_archive:
        write_archive(bytes);
        break;
      case LibraryKind::fat_binary:
        write_bare("fatbin", bytes);
        break;
      case LibraryKind::ptx:
        write_bare("ptx", bytes);
        break;
      case LibraryKind::mach_o:
        throw InputError(0, 0, "a Mach-O library is not read");
      case LibraryKind::pe:
        throw InputError(0, 0, "a Windows library (PE) is not read");
      case LibraryKind::none:
        throw InputError(0, 0, "no built library");
    }
  }

 private:
  void open(std::string_view format) {
    object_ = writer_.open(Key::none, NodeType::object, 0);
    writer_.add_text(Key::path, library_.path, 0, 0);
    if (!library_.aliases.empty()) {
      write_texts(Key::aliases, {library_.aliases.begin(), library_.aliases.end()}, writer_);
    }
    writer_.add_text(Key::format, format, 0, 0);
    write_mentions(Key::imported_by, library_.imported_by);
    write_mentions(Key::loaded_by, library_.loaded_by);
  }
  void close() { writer_.close(object_, library_.bytes.size()); }

  void write_mentions(Key key, const std::vector<LibraryFile::Mention>& mentions) {
    if (mentions.empty()) return;
    const std::uint32_t list = writer_.open(key, NodeType::list, 0);
    for (const LibraryFile::Mention& mention : mentions) {
      const std::uint32_t place = writer_.open(Key::none, NodeType::object, 0);
      writer_.add_text(Key::file, mention.file, 0, 0);
      writer_.add(Key::line, NodeType::count, mention.line, 0, 0);
      writer_.close(place, 0);
    }
    writer_.close(list, 0);
  }

  void tell(const InputError& error, std::string_view part) {
    const auto length =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(error.length, Location::max_length));
    facts_.problems.push_back({Location{library_.file, length, error.offset},
                               std::string(part) + ": " + error.what(),
                               {},
                               Severity::error});
  }

  // What a part can't read is told and not said, and the other parts are read all the same.
  template <typename Read>
  void read_part(std::string_view part, Read read) {
    const std::uint32_t start = writer_.next();
    try {
      read();
    } catch (const InputError& error) {
      writer_.drop(start);
      tell(error, part);
    }
  }

  bool take_problems(DeviceImages& images) {
    for (Problem& problem : images.problems) {
      problem.where.file = library_.file;
      facts_.problems.push_back(std::move(problem));
    }
    return !images.problems.empty();
  }

  ImageOptions image_options() const { return {threads_, true, library_.file}; }

  void write_bare(std::string_view format, const Bytes& bytes) {
    DeviceImages images = read_bare_image(bytes, image_options());
    open(format);
    if (!take_problems(images)) write_images(images, writer_);
    close();
  }

  void write_elf(const Bytes& bytes) {
    const Elf elf(bytes);
    if (elf.machine() == machine_cuda) {
      write_bare("cubin", bytes);
      return;
    }
    open("elf");
    if (is_debug_file(elf)) {
      writer_.add_text(Key::machine, machine_word(elf.machine()), 0, 0);
      if (const std::string id = elf.build_id(); !id.empty()) {
        writer_.add_text(Key::build_id, id, 0, 0);
      }
      close();
      return;
    }
    std::vector<ElfSymbol> symbols;
    read_part("symbols", [&] {
      const ElfDynamic dynamic = elf.dynamic();
      const bool object = elf.type() == type_relocatable;
      symbols = object ? elf.symbols() : elf.dynamic_symbols();
      writer_.add_text(Key::type, type_word(elf, dynamic), 0, 0);
      writer_.add_text(Key::machine, machine_word(elf.machine()), 0, 0);
      if (const std::string id = elf.build_id(); !id.empty()) {
        writer_.add_text(Key::build_id, id, 0, 0);
      }
      if (!object) write_dynamic(dynamic, writer_);
      write_symbols(symbols, object, writer_);
    });
    DeviceImages images = read_device_images(elf, image_options());
    const bool whole = !take_problems(images);
    if (whole) write_images(images, writer_);
    read_part("handlers", [&] { write_host(elf, symbols, images, whole); });
    read_part("registrars", [&] { write_registrars(find_registrars(elf, symbols), writer_); });
    close();
  }

  // What the host code shows: handlers, the kernels it registers, and which leads to which.
  void write_host(const Elf& elf, const std::vector<ElfSymbol>& symbols, const DeviceImages& images,
                  bool whole) {
    // Of other machines no code is read: handlers would seem to be not exported.
    const bool x86 = elf.machine() == machine_x86_64;
    if (!x86 && elf.machine() != machine_aarch64) return;
    // How a host registers its kernels was only looked at on x86-64.
    const std::vector<std::string_view> names =
        x86 ? registrable_kernels(images) : std::vector<std::string_view>();
    const bool handlers_there = mentions_ffi_handlers(elf);
    if (names.empty() && !handlers_there) return;
    HostCode code(elf, threads_);
    const std::vector<HostKernel> kernels = find_host_kernels(code, names);
    const bool stubs_known = std::any_of(kernels.begin(), kernels.end(),
                                         [](const HostKernel& kernel) { return kernel.stub != 0; });
    if (handlers_there) {
      const std::uint32_t list = writer_.open(Key::handlers, NodeType::list, 0);
      for (const FfiHandler& handler : find_ffi_handlers(code, symbols)) {
        const bool known = whole && handler.address != 0 && stubs_known;
        std::vector<std::string_view> reaches;
        if (known) reaches = reachable_kernels(code, kernels, handler.address);
        write_handler(handler, reaches, known, writer_);
      }
      writer_.close(list, library_.bytes.size());
    }
    // Without a single one found this is code that registers in another way, or not at all.
    if (!whole || !stubs_known) return;
    std::vector<std::string_view> registered;
    for (const HostKernel& kernel : kernels) {
      if (kernel.stub != 0) registered.push_back(kernel.name);
    }
    write_texts(Key::host_kernels, registered, writer_);
    // Those that stand nowhere in the host's data can't be registered by it.
    std::vector<std::string_view> unregistered;
    auto kernel = kernels.begin();
    for (const std::string_view name : names) {
      const bool there = kernel != kernels.end() && kernel->name == name;
      if (there) {
        ++kernel;
      } else {
        unregistered.push_back(name);
      }
    }
    write_texts(Key::unregistered_kernels, unregistered, writer_);
  }

  void write_archive(const Bytes& bytes) {
    const ArchiveListing listing = list_archive(bytes);
    open("archive");
    std::vector<std::unique_ptr<std::string>> files;
    DeviceImages all;
    std::vector<ElfSymbol> symbols;
    bool whole = true;
    bool any_read = false;
    std::vector<std::string_view> foreign;
    std::set<fs::path> known;
    for (const ArchiveMember& member : listing.members) {
      // A file that a thin archive names again is the same one.
      if (listing.thin && !known.insert(fs::path(member.name).lexically_normal()).second) continue;
      try {
        const Bytes content = listing.thin ? thin_member(member, files) : member.bytes;
        if (is_foreign(content.view()) || is_foreign_object(content.view())) {
          foreign.push_back(member.name);
          continue;
        }
        if (library_kind(content.view()) != LibraryKind::elf) continue;
        const Elf elf(content);
        any_read = true;
        const std::vector<ElfSymbol> own = elf.symbols();
        symbols.insert(symbols.end(), own.begin(), own.end());
        DeviceImages images = read_device_images(elf, image_options());
        whole = !take_problems(images) && whole;
        append(all, std::move(images));
      } catch (const InputError& error) {
        whole = false;
        tell(error, "member " + quote(member.name));
      }
    }
    if (!foreign.empty()) tell_foreign(foreign, any_read);
    if (whole && foreign.empty()) {
      write_symbols(symbols, true, writer_);
      write_images(all, writer_);
    }
    close();
  }

  // Of an archive for another system nothing was judged.
  void tell_foreign(const std::vector<std::string_view>& names, bool others_read) {
    constexpr std::size_t most_named = 3;
    std::string list;
    for (std::size_t i = 0; i < std::min(names.size(), most_named); ++i) {
      list += (i == 0 ? "" : ", ") + quote(names[i]);
    }
    if (names.size() > most_named) {
      list += " and " + std::to_string(names.size() - most_named) + " more";
    }
    facts_.problems.push_back({Location{library_.file, 0, 0},
                               "holds " + plural(names.size(), "object") +
                                   " of another format, or for " + std::string(foreign_systems) +
                                   ", which opseal does not read: " + list,
                               {},
                               others_read ? Severity::warning : Severity::error});
  }

  // Members of a thin archive are files below its folder; others are none of its business.
  Bytes thin_member(const ArchiveMember& member, std::vector<std::unique_ptr<std::string>>& files) {
    const fs::path name(member.name);
    const bool inside =
        name.is_relative() && std::find(name.begin(), name.end(), "..") == name.end();
    if (library_.folder.empty() || !inside) {
      throw InputError(
          member.offset, 0,
          "member " + quote(member.name) + " of the thin archive is a file that is not looked for");
    }
    // Copied, as no process may have as many files open as an archive may have members.
    const MappedFile mapped((fs::path(library_.folder) / name).string());
    files.push_back(std::make_unique<std::string>(mapped.bytes()));
    if (mapped.changed()) throw InputError(member.offset, 0, "was changed while it was read");
    return Bytes(*files.back());
  }

  static void append(DeviceImages& all, DeviceImages&& more) {
    const auto shift = static_cast<std::uint32_t>(all.containers.size());
    for (DeviceImage& image : more.images) image.container += shift;
    std::move(more.containers.begin(), more.containers.end(), std::back_inserter(all.containers));
    std::move(more.images.begin(), more.images.end(), std::back_inserter(all.images));
    std::move(more.bundles.begin(), more.bundles.end(), std::back_inserter(all.bundles));
    std::move(more.names.begin(), more.names.end(), std::back_inserter(all.names));
  }

  const LibraryFile& library_;
  unsigned threads_;
  FactWriter& writer_;
  Facts& facts_;
  std::uint32_t object_ = 0;
};

}  // namespace

void write_library(const LibraryFile& library, unsigned threads, FactWriter& writer, Facts& facts) {
  const std::uint32_t start = writer.next();
  try {
    LibraryWriter(library, threads, writer, facts).write();
  } catch (const InputError&) {
    writer.drop(start);
    throw;
  }
}

void load_library(std::string_view bytes, std::uint32_t file, unsigned threads, Facts& facts) {
  facts.files[file].binary = true;
  Document document;
  document.file = file;
  FactWriter writer(facts);
  document.first = writer.next();
  const std::uint32_t root = writer.open(Key::none, NodeType::object, 0);
  writer.add(Key::opseal_manifest, NodeType::count, manifest_version, 0, 0);
  const std::uint32_t libraries = writer.open(Key::libraries, NodeType::list, 0);
  const std::string path = facts.files[file].path;
  const fs::path open_path(facts.files[file].open_path);
  std::string folder = open_path.parent_path().string();
  if (folder.empty() && !open_path.empty()) folder = ".";
  LibraryFile library;
  library.bytes = bytes;
  library.path = path;
  library.file = file;
  library.folder = folder;
  write_library(library, threads, writer, facts);
  writer.close(libraries, bytes.size());
  writer.close(root, bytes.size());
  document.end = writer.next();
  facts.documents.push_back(document);
}

}  // namespace opseal

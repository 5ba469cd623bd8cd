#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzers/native/budget.h"
#include "analyzers/native/device_images.h"
#include "analyzers/native/large_image.h"

namespace opseal {

// Reads one linked or relocatable CUDA ELF image after the other, keeping its tables' memory.
class CubinReader {
 public:
  // Fills in `relocatable` and `kernels`, whose names are views into `file`. Throws InputError,
  // also where there are more than `most` kernels.
  void read(const Bytes& file, DeviceImage& image, std::uint64_t most = most_kernels);
  // The same where the middle is missing. False, and nothing filled in: more is missing than
  // instructions.
  bool read_partly(const ImageBytes& file, DeviceImage& image, std::uint64_t most = most_kernels);
  // The bytes of the note sections. Throws InputError.
  std::vector<std::string_view> notes(const Bytes& file);

 private:
  struct Section {
    // Where its name begins in the table of names.
    std::uint32_t name = 0;
    std::uint32_t type = 0;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint32_t link = 0;
    std::uint32_t info = 0;
    // Of a function's code: its section of properties (0: none), and the bytes of shared memory
    // (-1: not said).
    std::uint32_t properties = 0;
    std::int64_t shared_memory = -1;
  };

  void read_sections(const Bytes& file);
  // Takes the bytes of shared memory from the sections whose names say that they are some.
  void read_shared_memory(const Bytes& file);
  void read_registers(const Bytes& properties);
  // Whether all that is read but code is there.
  bool holds_tables(const ImageBytes& file) const;
  // False: the code is among what is missing, and can't be told from the effects.
  bool read_function(const ImageBytes& image, std::uint32_t number, std::uint64_t start,
                     std::uint64_t size, std::uint32_t architecture, Budget& budget,
                     DeviceKernel& kernel) const;

  std::vector<Section> sections_;
  // By number of the symbol; -1: not said.
  std::vector<std::int32_t> registers_;
  // Numbers of sections; 0: not there.
  std::uint32_t name_section_ = 0;
  std::uint32_t symbol_table_ = 0;
  std::uint32_t section_numbers_ = 0;
  std::uint32_t file_properties_ = 0;
};

bool is_cubin(std::string_view head);
// What a bare image says of its architecture: the number from the header, and the suffix from the
// options of the compiler, which it keeps in a note. Throws InputError.
std::string cubin_architecture(const Bytes& file);
// The same without the suffix. Needs: is_cubin.
std::string cubin_architecture_number(const Bytes& file);

}  // namespace opseal

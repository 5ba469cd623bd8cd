#pragma once

#include <string>
#include <vector>

#include "analyzers/sources/records.h"
#include "analyzers/sources/source_texts.h"

namespace opseal {

class PlacedWriter;

// Libraries that a project names with the suffix of the system, and asks for by one suffix.
struct SuffixRecord {
  struct Lookup {
    std::string written;
    SourcePlace place;
  };

  // Of the folder or file that names them.
  std::string name;
  // What gives the suffix, where it is used.
  std::string chooser;
  SourcePlace chosen;
  std::vector<Lookup> lookups;
};

std::vector<SuffixRecord> find_suffix_records(const std::vector<std::string>& paths,
                                              const SourceTexts& texts);

// Into the list of caches.
void write_suffixes(const std::vector<SuffixRecord>& records, PlacedWriter& writer);

}  // namespace opseal

#pragma once

#include <cstdint>
#include <string_view>

#include "analyzers/fact_writer.h"
#include "opseal/facts.h"
#include "opseal/form.h"

namespace opseal {

// A document that a reader states as a manifest: its head, who made it, and its end. What is
// written between is its content.
class ManifestDocument {
 public:
  ManifestDocument(FactWriter& writer, std::uint32_t file, std::string_view producer,
                   std::string_view system)
      : writer_(writer) {
    document_.file = file;
    document_.first = writer_.next();
    root_ = writer_.open(Key::none, NodeType::object, 0);
    writer_.add(Key::opseal_manifest, NodeType::count, manifest_version, 0, 0);
    const std::uint32_t made_by = writer_.open(Key::producer, NodeType::object, 0);
    writer_.add_text(Key::name, producer, 0, 0);
    writer_.close(made_by, 0);
    writer_.add_text(Key::system, system, 0, 0);
  }

  void end(Facts& facts) {
    writer_.close(root_, 0);
    document_.end = writer_.next();
    facts.documents.push_back(document_);
  }

 private:
  FactWriter& writer_;
  Document document_;
  std::uint32_t root_ = 0;
};

}  // namespace opseal

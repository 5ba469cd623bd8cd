#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/fact_writer.h"
#include "analyzers/sources/ignores.h"
#include "analyzers/sources/records.h"
#include "opseal/form.h"
#include "opseal/sources.h"

namespace opseal {

// A registration whose name only the running code knows, as it is written.
struct UndecidedName {
  std::string written;
  SourcePlace place;
};

// Writes the documents of a tree of sources: one for each system, each fact at its place in the
// file that says it.
class PlacedWriter {
 public:
  // File 0 of the facts is the tree; `sources` are its files by number, of which those are added to
  // the facts that say something.
  PlacedWriter(Facts& facts, const std::vector<InputFile>& sources)
      : facts_(facts), sources_(sources), numbers_(sources.size(), 0), writer_(facts) {}

  // The head of a document.
  void begin(std::string_view system) {
    Document document;
    document.first = writer_.next();
    file_ = 0;
    root_ = writer_.open(Key::none, NodeType::object, 0);
    writer_.add(Key::opseal_manifest, NodeType::count, manifest_version, 0, 0);
    const std::uint32_t producer = writer_.open(Key::producer, NodeType::object, 0);
    writer_.add_text(Key::name, sources_producer, 0, 0);
    writer_.close(producer, 0);
    if (!system.empty()) writer_.add_text(Key::system, system, 0, 0);
    facts_.documents.push_back(document);
  }
  void tree(std::uint32_t files, bool partial, const std::vector<UndecidedName>& undecided,
            const std::vector<IgnoreComment>& ignores) {
    move_to(0);
    const std::uint32_t object = writer_.open(Key::tree, NodeType::object, 0);
    writer_.add(Key::files, NodeType::count, files, 0, 0);
    writer_.add(Key::partial, NodeType::truth, partial ? 1 : 0, 0, 0);
    const std::uint32_t list = writer_.open(Key::undecided, NodeType::list, 0);
    for (const UndecidedName& one : undecided) {
      const std::uint32_t item = open(Key::none, NodeType::object, one.place);
      text(Key::name, std::string_view(one.written).substr(0, longest_written), one.place);
      text(Key::reason, "known only when the code runs", one.place);
      close(item);
    }
    writer_.close(list, 0);
    if (!ignores.empty()) {
      const std::uint32_t exceptions = open_list(Key::exceptions);
      for (const IgnoreComment& one : ignores) {
        const std::uint32_t item = open(Key::none, NodeType::object, one.place);
        text(Key::name, std::string_view(one.rule).substr(0, longest_written), one.place);
        text_if(Key::reason, one.reason, one.place);
        close(item);
      }
      close_list(exceptions);
    }
    move_to(0);
    writer_.close(object, 0);
  }
  void end() {
    writer_.close(root_, 0);
    facts_.documents.back().end = writer_.next();
  }

  // A list of the document itself.
  std::uint32_t open_list(Key key) {
    move_to(0);
    return writer_.open(key, NodeType::list, 0);
  }
  std::uint32_t open(Key key, NodeType type, const SourcePlace& place) {
    go(place);
    const std::uint32_t container = writer_.open(key, type, place.offset);
    ends_.push_back(std::uint64_t{place.offset} + place.length);
    return container;
  }
  void close(std::uint32_t container) {
    writer_.close(container, ends_.back());
    ends_.pop_back();
  }
  void close_list(std::uint32_t list) { writer_.close(list, 0); }

  void text(Key key, std::string_view text, const SourcePlace& place) {
    go(place);
    writer_.add_text(key, text, place.offset, place.length);
  }
  void text_if(Key key, std::string_view value, const SourcePlace& place) {
    if (!value.empty()) text(key, value, place);
  }
  void count(Key key, std::uint32_t value, const SourcePlace& place) {
    go(place);
    writer_.add(key, NodeType::count, value, place.offset, place.length);
  }
  void truth(Key key, bool value, const SourcePlace& place) {
    go(place);
    writer_.add(key, NodeType::truth, value ? 1 : 0, place.offset, place.length);
  }
  void null(Key key, const SourcePlace& place) {
    go(place);
    writer_.add(key, NodeType::null, 0, place.offset, place.length);
  }
  void texts(Key key, const std::vector<std::string>& values, const SourcePlace& place) {
    const std::uint32_t list = open(key, NodeType::list, place);
    for (const std::string& value : values) text(Key::none, value, place);
    close(list);
  }

  // One entry of a map: a name, and a list of texts.
  void entry(std::string_view name, const std::vector<std::string>& values,
             const SourcePlace& place) {
    text(Key::entry_name, name, place);
    texts(Key::entry_value, values, place);
  }

  // `name`, and what the declaration tells.
  void function(Key key, const SourceFunction& function) {
    const std::uint32_t object = open(key, NodeType::object, function.place);
    text(Key::name, function.name.empty() ? "lambda" : function.name, function.place);
    if (function.declared) {
      count(Key::positional, function.positional, function.place);
      count(Key::required, function.required, function.place);
      truth(Key::variadic, function.variadic, function.place);
      if (function.parameters.size() == function.positional) {
        texts(Key::parameters, function.parameters, function.place);
      }
      if (!function.names.empty()) texts(Key::names, function.names, function.place);
    }
    for (const std::string& one : function.results) {
      if (one == "?") continue;
      texts(Key::results, function.results, function.place);
      break;
    }
    ranks(function);
    if (!function.choices.empty()) texts(Key::shape, function.choices, function.place);
    if (function.reads_known) texts(Key::reads, function.reads, function.place);
    close(object);
  }

  // Said where one is known.
  void ranks(const SourceFunction& function) {
    bool known = false;
    for (const std::optional<std::uint32_t>& one : function.ranks) known = known || one;
    if (!known) return;
    const std::uint32_t list = open(Key::rank, NodeType::list, function.place);
    for (const std::optional<std::uint32_t>& one : function.ranks) {
      if (one) {
        count(Key::none, *one, function.place);
      } else {
        null(Key::none, function.place);
      }
    }
    close(list);
  }

  void rule_calls(const std::vector<RuleCall>& list) {
    if (list.empty()) return;
    const std::uint32_t all = open(Key::calls, NodeType::list, list.front().function.place);
    for (const RuleCall& call : list) {
      const std::uint32_t item = open(Key::none, NodeType::object, call.function.place);
      function(Key::function, call.function);
      text_if(Key::kind, call.kind, call.function.place);
      count(Key::positional, call.positional, call.function.place);
      if (!call.names.empty()) texts(Key::names, call.names, call.function.place);
      if (!call.called.empty()) texts(Key::parameters, call.called, call.function.place);
      if (call.returns) count(Key::returns, *call.returns, call.returns_place);
      close(item);
    }
    close(all);
  }

  // The number of a source in the facts, to which it is added if need be.
  std::uint32_t file_of(std::uint32_t source) {
    std::uint32_t& number = numbers_[source];
    if (number == 0) {
      number = static_cast<std::uint32_t>(facts_.files.size());
      facts_.files.push_back(sources_[source]);
    }
    return number;
  }

 private:
  static constexpr std::size_t longest_written = 200;

  void go(const SourcePlace& place) { move_to(file_of(place.file)); }
  void move_to(std::uint32_t file) {
    if (file == file_) return;
    facts_.other_files.push_back({writer_.next(), file});
    file_ = file;
  }

  Facts& facts_;
  const std::vector<InputFile>& sources_;
  std::vector<std::uint32_t> numbers_;
  FactWriter writer_;
  std::uint32_t file_ = 0;
  std::uint32_t root_ = 0;
  std::vector<std::uint64_t> ends_;
};

}  // namespace opseal

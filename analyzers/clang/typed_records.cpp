#include "analyzers/clang/typed_records.h"

#include <limits>

#include "opseal/ascii.h"

namespace opseal {
namespace {

void write_texts(const std::vector<std::string>& texts, RowWriter& writer) {
  writer.count(texts.size());
  for (const std::string& text : texts) writer.text(text);
}

std::vector<std::string> read_texts(RowReader& reader) {
  std::vector<std::string> texts;
  for (std::size_t left = reader.size(); left > 0 && !reader.at_end(); --left) {
    texts.emplace_back(reader.text());
  }
  return texts;
}

// A list of things, each read in place.
template <typename Item, typename Read>
std::vector<Item> read_list(RowReader& reader, Read read) {
  std::vector<Item> items;
  for (std::size_t left = reader.size(); left > 0 && !reader.at_end(); --left) {
    items.emplace_back();
    read(items.back());
  }
  return items;
}

}  // namespace

std::string_view RowReader::text() {
  std::uint64_t length = 0;
  std::size_t at = at_;
  for (; at < bytes_.size() && is_digit(bytes_[at]); ++at) {
    length = length * 10 + static_cast<std::uint64_t>(bytes_[at] - '0');
    if (length > bytes_.size()) break;
  }
  if (broken_ || at == at_ || at >= bytes_.size() || bytes_[at] != ':' ||
      length > bytes_.size() - at - 1) {
    broken_ = true;
    return {};
  }
  at_ = at + 1 + static_cast<std::size_t>(length);
  return bytes_.substr(at + 1, static_cast<std::size_t>(length));
}

std::uint32_t RowReader::count() {
  const std::string_view digits = text();
  std::uint64_t value = 0;
  for (const char digit : digits) {
    if (!is_digit(digit)) broken_ = true;
    value = value * 10 + static_cast<std::uint64_t>(digit - '0');
    if (value > std::numeric_limits<std::uint32_t>::max()) broken_ = true;
    if (broken_) return 0;
  }
  if (digits.empty()) broken_ = true;
  return static_cast<std::uint32_t>(value);
}

TypedPlace RowReader::place() {
  TypedPlace place;
  place.offset = count();
  place.length = count();
  return place;
}

std::size_t RowReader::size() {
  const std::size_t size = count();
  if (size > bytes_.size() - at_) broken_ = true;
  return broken_ ? 0 : size;
}

void write_question(const TypedQuestion& question, RowWriter& writer) {
  writer.text(question.path);
  writer.text(question.text);
  writer.count(question.prelude);
  writer.count(question.prefix);
  writer.text(question.open_path);
  writer.text(question.root);
  write_texts(question.flags, writer);
  writer.count(question.seconds);
  writer.count(question.functions.size());
  for (const std::uint32_t offset : question.functions) writer.count(offset);
  write_texts(question.names, writer);
  writer.count(question.keys.size());
  for (const std::uint32_t offset : question.keys) writer.count(offset);
}

TypedQuestion read_question(RowReader& reader) {
  TypedQuestion question;
  question.path = reader.text();
  question.text = reader.text();
  question.prelude = reader.count();
  question.prefix = reader.count();
  question.open_path = reader.text();
  question.root = reader.text();
  question.flags = read_texts(reader);
  question.seconds = reader.count();
  question.functions =
      read_list<std::uint32_t>(reader, [&](std::uint32_t& offset) { offset = reader.count(); });
  question.names = read_texts(reader);
  question.keys =
      read_list<std::uint32_t>(reader, [&](std::uint32_t& offset) { offset = reader.count(); });
  return question;
}

void write_answer(const TypedFile& file, RowWriter& writer) {
  writer.count(file.functions.size());
  for (const TypedFunction& function : file.functions) {
    writer.place(function.place);
    writer.text(function.name);
    writer.text(function.signature);
    write_texts(function.parameters, writer);
    writer.count(function.positional);
    writer.count(function.resolved ? 1 : 0);
  }
  writer.count(file.pointers.size());
  for (const TypedPointer& pointer : file.pointers) {
    writer.place(pointer.place);
    writer.text(pointer.expression);
    writer.text(pointer.type);
    writer.text(pointer.function);
  }
  writer.count(file.statuses.size());
  for (const TypedStatus& status : file.statuses) {
    writer.place(status.place);
    writer.text(status.callee);
    writer.count(status.dropped ? 1 : 0);
  }
  writer.count(file.registrars.size());
  for (const TypedRegistrar& registrar : file.registrars) {
    writer.place(registrar.place);
    writer.text(registrar.type);
    writer.text(registrar.name);
    writer.count(registrar.uses.size());
    for (const TypedUse& use : registrar.uses) {
      writer.place(use.place);
      writer.text(use.name);
    }
  }
  writer.count(file.globals.size());
  for (const TypedGlobal& global : file.globals) {
    writer.place(global.place);
    writer.text(global.name);
    writer.count(global.dynamic ? 1 : 0);
  }
  writer.count(file.launchers.size());
  for (const TypedLauncher& launcher : file.launchers) {
    writer.place(launcher.place);
    writer.text(launcher.name);
    writer.count(launcher.plain ? 1 : 0);
  }
  writer.count(file.lost_errors.size());
  for (const TypedLostError& lost : file.lost_errors) {
    writer.place(lost.place);
    writer.text(lost.callee);
    writer.text(lost.name);
    writer.text(lost.function);
  }
  writer.count(file.keys.size());
  for (const TypedKey& key : file.keys) {
    writer.place(key.place);
    writer.text(key.type);
    writer.count(key.fields.size());
    for (const TypedKeyField& field : key.fields) {
      writer.place(field.place);
      writer.text(field.name);
      writer.count(field.exempt ? 1 : 0);
    }
    write_texts(key.reads, writer);
  }
  for (const auto* list : {&file.values, &file.enumerators}) {
    writer.count(list->size());
    for (const TypedEnumerator& one : *list) {
      writer.place(one.place);
      writer.text(one.name);
    }
  }
}

TypedFile read_answer(RowReader& reader) {
  TypedFile file;
  file.functions = read_list<TypedFunction>(reader, [&](TypedFunction& function) {
    function.place = reader.place();
    function.name = reader.text();
    function.signature = reader.text();
    function.parameters = read_texts(reader);
    function.positional = reader.count();
    function.resolved = reader.count() != 0;
  });
  file.pointers = read_list<TypedPointer>(reader, [&](TypedPointer& pointer) {
    pointer.place = reader.place();
    pointer.expression = reader.text();
    pointer.type = reader.text();
    pointer.function = reader.text();
  });
  file.statuses = read_list<TypedStatus>(reader, [&](TypedStatus& status) {
    status.place = reader.place();
    status.callee = reader.text();
    status.dropped = reader.count() != 0;
  });
  file.registrars = read_list<TypedRegistrar>(reader, [&](TypedRegistrar& registrar) {
    registrar.place = reader.place();
    registrar.type = reader.text();
    registrar.name = reader.text();
    registrar.uses = read_list<TypedUse>(reader, [&](TypedUse& use) {
      use.place = reader.place();
      use.name = reader.text();
    });
  });
  file.globals = read_list<TypedGlobal>(reader, [&](TypedGlobal& global) {
    global.place = reader.place();
    global.name = reader.text();
    global.dynamic = reader.count() != 0;
  });
  file.launchers = read_list<TypedLauncher>(reader, [&](TypedLauncher& launcher) {
    launcher.place = reader.place();
    launcher.name = reader.text();
    launcher.plain = reader.count() != 0;
  });
  file.lost_errors = read_list<TypedLostError>(reader, [&](TypedLostError& lost) {
    lost.place = reader.place();
    lost.callee = reader.text();
    lost.name = reader.text();
    lost.function = reader.text();
  });
  file.keys = read_list<TypedKey>(reader, [&](TypedKey& key) {
    key.place = reader.place();
    key.type = reader.text();
    key.fields = read_list<TypedKeyField>(reader, [&](TypedKeyField& field) {
      field.place = reader.place();
      field.name = reader.text();
      field.exempt = reader.count() != 0;
    });
    key.reads = read_texts(reader);
  });
  for (auto* list : {&file.values, &file.enumerators}) {
    *list = read_list<TypedEnumerator>(reader, [&](TypedEnumerator& one) {
      one.place = reader.place();
      one.name = reader.text();
    });
  }
  return file;
}

}  // namespace opseal

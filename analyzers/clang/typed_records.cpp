#include "analyzers/clang/typed_records.h"

namespace opseal {
namespace {

void write_place(const TypedPlace& place, RowWriter& writer) {
  writer.count(place.offset);
  writer.count(place.length);
}

TypedPlace read_place(RowReader& reader) {
  TypedPlace place;
  place.offset = reader.count();
  place.length = reader.count();
  return place;
}

}  // namespace

void write_question(const TypedQuestion& question, RowWriter& writer) {
  writer.text(question.path);
  writer.text(question.text);
  writer.count(question.prelude);
  writer.count(question.prefix);
  writer.text(question.open_path);
  writer.text(question.root);
  write_texts(question.flags, writer);
  writer.text(question.cache);
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
  question.cache = reader.text();
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
    write_place(function.place, writer);
    writer.text(function.name);
    writer.text(function.signature);
    write_texts(function.parameters, writer);
    writer.count(function.positional);
    writer.count(function.resolved ? 1 : 0);
  }
  writer.count(file.pointers.size());
  for (const TypedPointer& pointer : file.pointers) {
    write_place(pointer.place, writer);
    writer.text(pointer.expression);
    writer.text(pointer.type);
    writer.text(pointer.function);
  }
  writer.count(file.statuses.size());
  for (const TypedStatus& status : file.statuses) {
    write_place(status.place, writer);
    writer.text(status.callee);
    writer.count(status.dropped ? 1 : 0);
  }
  writer.count(file.registrars.size());
  for (const TypedRegistrar& registrar : file.registrars) {
    write_place(registrar.place, writer);
    writer.text(registrar.type);
    writer.text(registrar.name);
    writer.count(registrar.uses.size());
    for (const TypedUse& use : registrar.uses) {
      write_place(use.place, writer);
      writer.text(use.name);
    }
  }
  writer.count(file.globals.size());
  for (const TypedGlobal& global : file.globals) {
    write_place(global.place, writer);
    writer.text(global.name);
    writer.count(global.dynamic ? 1 : 0);
  }
  writer.count(file.launchers.size());
  for (const TypedLauncher& launcher : file.launchers) {
    write_place(launcher.place, writer);
    writer.text(launcher.name);
    writer.count(launcher.plain ? 1 : 0);
  }
  writer.count(file.lost_errors.size());
  for (const TypedLostError& lost : file.lost_errors) {
    write_place(lost.place, writer);
    writer.text(lost.callee);
    writer.text(lost.name);
    writer.text(lost.function);
  }
  writer.count(file.keys.size());
  for (const TypedKey& key : file.keys) {
    write_place(key.place, writer);
    writer.text(key.type);
    writer.count(key.fields.size());
    for (const TypedKeyField& field : key.fields) {
      write_place(field.place, writer);
      writer.text(field.name);
      writer.count(field.exempt ? 1 : 0);
    }
    write_texts(key.reads, writer);
  }
  for (const auto* list : {&file.values, &file.enumerators}) {
    writer.count(list->size());
    for (const TypedEnumerator& one : *list) {
      write_place(one.place, writer);
      writer.text(one.name);
    }
  }
}

TypedFile read_answer(RowReader& reader) {
  TypedFile file;
  file.functions = read_list<TypedFunction>(reader, [&](TypedFunction& function) {
    function.place = read_place(reader);
    function.name = reader.text();
    function.signature = reader.text();
    function.parameters = read_texts(reader);
    function.positional = reader.count();
    function.resolved = reader.count() != 0;
  });
  file.pointers = read_list<TypedPointer>(reader, [&](TypedPointer& pointer) {
    pointer.place = read_place(reader);
    pointer.expression = reader.text();
    pointer.type = reader.text();
    pointer.function = reader.text();
  });
  file.statuses = read_list<TypedStatus>(reader, [&](TypedStatus& status) {
    status.place = read_place(reader);
    status.callee = reader.text();
    status.dropped = reader.count() != 0;
  });
  file.registrars = read_list<TypedRegistrar>(reader, [&](TypedRegistrar& registrar) {
    registrar.place = read_place(reader);
    registrar.type = reader.text();
    registrar.name = reader.text();
    registrar.uses = read_list<TypedUse>(reader, [&](TypedUse& use) {
      use.place = read_place(reader);
      use.name = reader.text();
    });
  });
  file.globals = read_list<TypedGlobal>(reader, [&](TypedGlobal& global) {
    global.place = read_place(reader);
    global.name = reader.text();
    global.dynamic = reader.count() != 0;
  });
  file.launchers = read_list<TypedLauncher>(reader, [&](TypedLauncher& launcher) {
    launcher.place = read_place(reader);
    launcher.name = reader.text();
    launcher.plain = reader.count() != 0;
  });
  file.lost_errors = read_list<TypedLostError>(reader, [&](TypedLostError& lost) {
    lost.place = read_place(reader);
    lost.callee = reader.text();
    lost.name = reader.text();
    lost.function = reader.text();
  });
  file.keys = read_list<TypedKey>(reader, [&](TypedKey& key) {
    key.place = read_place(reader);
    key.type = reader.text();
    key.fields = read_list<TypedKeyField>(reader, [&](TypedKeyField& field) {
      field.place = read_place(reader);
      field.name = reader.text();
      field.exempt = reader.count() != 0;
    });
    key.reads = read_texts(reader);
  });
  for (auto* list : {&file.values, &file.enumerators}) {
    *list = read_list<TypedEnumerator>(reader, [&](TypedEnumerator& one) {
      one.place = read_place(reader);
      one.name = reader.text();
    });
  }
  return file;
}

}  // namespace opseal

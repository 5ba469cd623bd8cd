#include "analyzers/probe/ffi_question.h"

#include <algorithm>

#include "analyzers/rows.h"

namespace opseal::ffi {
namespace {

void write_operands(const std::vector<QuestionOperand>& operands, RowWriter& row) {
  row.count(operands.size());
  for (const QuestionOperand& operand : operands) {
    row.integer(operand.dtype);
    row.count(operand.dims.size());
    for (const std::int64_t extent : operand.dims) row.integer(extent);
    row.count(operand.written ? 1 : 0);
    row.count(operand.indexes ? 1 : 0);
    row.integer(operand.shares);
    row.count(operand.strides.size());
    for (const std::int64_t stride : operand.strides) row.integer(stride);
    row.text(operand.bytes);
  }
}

std::vector<QuestionOperand> read_operands(RowReader& row) {
  return read_list<QuestionOperand>(row, [&row](QuestionOperand& operand) {
    operand.dtype = static_cast<std::int32_t>(row.integer());
    operand.dims =
        read_list<std::int64_t>(row, [&row](std::int64_t& extent) { extent = row.integer(); });
    operand.written = row.count() != 0;
    operand.indexes = row.count() != 0;
    operand.shares = static_cast<std::int32_t>(row.integer());
    operand.strides =
        read_list<std::int64_t>(row, [&row](std::int64_t& stride) { stride = row.integer(); });
    operand.bytes = row.text();
  });
}

void write_plain(const std::optional<PlainInterface>& plain, RowWriter& row) {
  row.count(plain ? 1 : 0);
  if (!plain) return;
  row.integer(plain->status);
  row.integer(plain->returned);
  row.count(plain->arguments.size());
  for (const PlainArgument& argument : plain->arguments) {
    row.count(static_cast<std::size_t>(argument.kind));
    row.count(argument.operand);
    row.count(argument.axis);
    row.integer(argument.dtype);
    row.count(argument.in_bytes ? 1 : 0);
    row.text(argument.bytes);
  }
}

std::optional<PlainInterface> read_plain(RowReader& row) {
  if (row.count() == 0) return {};
  PlainInterface plain;
  plain.status = static_cast<std::int32_t>(row.integer());
  plain.returned = static_cast<std::int32_t>(row.integer());
  plain.arguments = read_list<PlainArgument>(row, [&row](PlainArgument& argument) {
    argument.kind = static_cast<PlainArgument::Kind>(row.count());
    argument.operand = row.count();
    argument.axis = row.count();
    argument.dtype = static_cast<std::int32_t>(row.integer());
    argument.in_bytes = row.count() != 0;
    argument.bytes = row.text();
  });
  return plain;
}

void write_end(const CallEnd& end, RowWriter& row) {
  row.count(static_cast<std::size_t>(end.how));
  row.integer(end.code);
  row.text(end.message);
}

CallEnd read_end(RowReader& row) {
  CallEnd end;
  end.how = static_cast<CallEnd::How>(row.count() % 3);
  end.code = static_cast<std::int32_t>(row.integer());
  end.message = row.text();
  return end;
}

void write_damage(const std::vector<BufferDamage>& list, RowWriter& row) {
  row.count(list.size());
  for (const BufferDamage& damage : list) {
    row.text(damage.buffer);
    row.integer(damage.index);
    row.count(damage.elements);
  }
}

std::vector<BufferDamage> read_damage(RowReader& row) {
  return read_list<BufferDamage>(row, [&row](BufferDamage& damage) {
    damage.buffer = row.text();
    damage.index = row.integer();
    damage.elements = row.count();
  });
}

void write_recovered(const std::vector<RecoveredOperand>& operands, RowWriter& row) {
  row.count(operands.size());
  for (const RecoveredOperand& operand : operands) {
    row.text(operand.dtype);
    row.integer(operand.rank);
  }
}

std::vector<RecoveredOperand> read_recovered(RowReader& row) {
  return read_list<RecoveredOperand>(row, [&row](RecoveredOperand& operand) {
    operand.dtype = row.text();
    operand.rank = static_cast<int>(row.integer());
  });
}

void write_signature(const RecoveredSignature& signature, RowWriter& row) {
  row.text(signature.stage);
  write_recovered(signature.arguments, row);
  write_recovered(signature.results, row);
  row.count(signature.attributes.size());
  for (const RecoveredAttribute& attribute : signature.attributes) {
    row.text(attribute.name);
    row.text(attribute.kind);
    row.text(attribute.dtype);
  }
  for (const bool flag : {signature.more_arguments, signature.more_results,
                          signature.attributes_unnamed, signature.ran}) {
    row.count(flag ? 1 : 0);
  }
  row.count(signature.calls);
  row.text(signature.unread);
}

RecoveredSignature read_signature(RowReader& row) {
  RecoveredSignature signature;
  signature.stage = row.text();
  signature.arguments = read_recovered(row);
  signature.results = read_recovered(row);
  signature.attributes = read_list<RecoveredAttribute>(row, [&row](RecoveredAttribute& attribute) {
    attribute.name = row.text();
    attribute.kind = row.text();
    attribute.dtype = row.text();
  });
  signature.more_arguments = row.count() != 0;
  signature.more_results = row.count() != 0;
  signature.attributes_unnamed = row.count() != 0;
  signature.ran = row.count() != 0;
  signature.calls = row.count();
  signature.unread = row.text();
  return signature;
}

}  // namespace

std::size_t size_of(const QuestionOperand& operand) {
  const DtypeInfo* dtype = find_dtype_number(operand.dtype);
  std::size_t bytes = dtype == nullptr ? 0 : dtype->bytes;
  for (const std::int64_t extent : operand.dims) bytes *= static_cast<std::size_t>(extent);
  return bytes;
}

std::size_t size_of(const Question& question) {
  std::size_t bytes = 0;
  for (const auto* side : {&question.arguments, &question.results}) {
    for (const QuestionOperand& operand : *side) bytes += size_of(operand);
  }
  return bytes;
}

const QuestionOperand& operand_at(const Question& question, std::size_t number) {
  const std::size_t arguments = question.arguments.size();
  return number < arguments ? question.arguments[number] : question.results[number - arguments];
}

bool fits(const Answer& answer, const Question& question) {
  const auto same = [](const std::vector<std::string>& bytes,
                       const std::vector<QuestionOperand>& operands) {
    return bytes.empty() || std::equal(bytes.begin(), bytes.end(), operands.begin(), operands.end(),
                                       [](const std::string& one, const QuestionOperand& operand) {
                                         return one.size() == size_of(operand);
                                       });
  };
  if (!same(answer.results, question.results) || !same(answer.arguments, question.arguments)) {
    return false;
  }
  // A call that came to its end shows what it was made for.
  const bool values = question.kind == QuestionKind::values &&
                      answer.end.how == CallEnd::How::returned && answer.not_loaded.empty() &&
                      answer.lacked.empty();
  return !values || (answer.results.size() == question.results.size() &&
                     answer.arguments.size() == question.arguments.size());
}

bool Question::has_elements() const {
  const auto full = [](const QuestionOperand& operand) {
    return std::find(operand.dims.begin(), operand.dims.end(), 0) == operand.dims.end();
  };
  return std::all_of(arguments.begin(), arguments.end(), full) &&
         std::all_of(results.begin(), results.end(), full);
}

std::string write_question(const Question& question) {
  RowWriter row;
  row.count(static_cast<std::size_t>(question.kind));
  row.text(question.library);
  row.text(question.symbol);
  row.count(question.handed ? 1 : 0);
  write_operands(question.arguments, row);
  write_operands(question.results, row);
  row.count(question.attributes.size());
  for (const Attribute& attribute : question.attributes) {
    row.text(attribute.name);
    row.count(static_cast<std::size_t>(attribute.type));
    row.integer(attribute.dtype);
    row.count(attribute.elements);
    row.text(attribute.bytes);
  }
  write_plain(question.plain, row);
  row.count(question.early.size());
  for (const EarlyHandler& handler : question.early) {
    row.integer(handler.stage);
    row.text(handler.symbol);
  }
  row.count(question.seed);
  row.integer(question.minor);
  row.count(question.threads);
  row.count(question.keeps_results ? 1 : 0);
  return row.bytes();
}

bool read_question(std::string_view bytes, Question& question) {
  RowReader row(bytes);
  const std::uint32_t kind = row.count();
  if (kind > static_cast<std::uint32_t>(QuestionKind::values)) return false;
  question.kind = static_cast<QuestionKind>(kind);
  question.library = row.text();
  question.symbol = row.text();
  question.handed = row.count() != 0;
  question.arguments = read_operands(row);
  question.results = read_operands(row);
  question.attributes = read_list<Attribute>(row, [&row](Attribute& attribute) {
    attribute.name = row.text();
    attribute.type = static_cast<AttributeType>(row.count());
    attribute.dtype = static_cast<std::int32_t>(row.integer());
    attribute.elements = row.count();
    attribute.bytes = row.text();
  });
  question.plain = read_plain(row);
  question.early = read_list<EarlyHandler>(row, [&row](EarlyHandler& handler) {
    handler.stage = static_cast<std::int32_t>(row.integer());
    handler.symbol = row.text();
  });
  question.seed = row.count();
  question.minor = static_cast<std::int32_t>(row.integer());
  question.threads = row.count();
  question.keeps_results = row.count() != 0;
  return row.at_end() && !row.broken();
}

std::string write_answer(const Answer& answer) {
  RowWriter row;
  row.text(answer.not_loaded);
  row.count(answer.metadata.answered ? 1 : 0);
  row.integer(answer.metadata.major);
  row.integer(answer.metadata.minor);
  row.count(answer.metadata.traits);
  row.integer(answer.metadata.state_type);
  write_end(answer.metadata.end, row);
  write_signature(answer.signature, row);
  write_end(answer.end, row);
  row.text(answer.lacked);
  row.text(answer.refused_again);
  for (const auto* list :
       {&answer.trespasses, &answer.written_arguments, &answer.unwritten_arguments,
        &answer.unwritten_results, &answer.unstable_results, &answer.thread_results,
        &answer.thread_values, &answer.view_results, &answer.narrow_results}) {
    write_damage(*list, row);
  }
  write_texts(answer.results, row);
  write_texts(answer.arguments, row);
  row.count(answer.handed.size());
  for (const HandedHandler& one : answer.handed) {
    for (const std::string* text : {&one.name, &one.library, &one.stage, &one.lack}) {
      row.text(*text);
    }
  }
  return row.bytes();
}

bool read_answer(std::string_view bytes, Answer& answer) {
  RowReader row(bytes);
  answer.not_loaded = row.text();
  answer.metadata.answered = row.count() != 0;
  answer.metadata.major = static_cast<int>(row.integer());
  answer.metadata.minor = static_cast<int>(row.integer());
  answer.metadata.traits = row.count();
  answer.metadata.state_type = row.integer();
  answer.metadata.end = read_end(row);
  answer.signature = read_signature(row);
  answer.end = read_end(row);
  answer.lacked = row.text();
  answer.refused_again = row.text();
  for (auto* list : {&answer.trespasses, &answer.written_arguments, &answer.unwritten_arguments,
                     &answer.unwritten_results, &answer.unstable_results, &answer.thread_results,
                     &answer.thread_values, &answer.view_results, &answer.narrow_results}) {
    *list = read_damage(row);
  }
  answer.results = read_texts(row);
  answer.arguments = read_texts(row);
  answer.handed = read_list<HandedHandler>(row, [&row](HandedHandler& one) {
    for (std::string* text : {&one.name, &one.library, &one.stage, &one.lack}) *text = row.text();
  });
  return row.at_end() && !row.broken();
}

}  // namespace opseal::ffi

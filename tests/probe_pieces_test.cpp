// Parts of `opseal probe`: generated numbers, guarded memory, and how questions travel.

#include <doctest/doctest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "analyzers/probe/ffi_question.h"
#include "analyzers/probe/guarded_buffer.h"
#include "analyzers/probe/probe_result.h"
#include "analyzers/probe/values.h"

namespace opseal::test {
namespace {

const ffi::DtypeInfo& dtype(const std::string& word) {
  for (const ffi::DtypeInfo& one : ffi::dtypes) {
    if (word == one.word) return one;
  }
  throw std::invalid_argument(word);
}

std::vector<unsigned char> filled(const std::string& word, std::size_t elements,
                                  std::uint64_t seed) {
  std::vector<unsigned char> bytes(elements * dtype(word).bytes);
  fill_values(bytes, dtype(word), seed);
  return bytes;
}

}  // namespace

TEST_CASE("probe values: floating dtypes of all widths are given the same numbers") {
  const std::vector<unsigned char> wide = filled("f64", 500, 7);
  std::set<double> seen;
  for (const char* word : {"f16", "bf16", "f32"}) {
    INFO(word);
    const std::vector<unsigned char> bytes = filled(word, 500, 7);
    for (std::size_t at = 0; at < 500; ++at) {
      const double value = *value_at(bytes, dtype(word), at);
      CHECK(value == *value_at(wide, dtype("f64"), at));
      CHECK(value != 0);
      CHECK(value >= -2);
      CHECK(value <= 2);
      seen.insert(value);
    }
  }
  CHECK(seen.size() > 150);
  CHECK(filled("f64", 500, 8) != wide);
}

TEST_CASE("probe values: known bits are known numbers") {
  const auto half = [](std::uint16_t bits) {
    unsigned char bytes[2];
    std::memcpy(bytes, &bits, 2);
    return *value_at(bytes, dtype("f16"), 0);
  };
  CHECK(half(0x3C00) == 1.0);
  CHECK(half(0xC000) == -2.0);
  CHECK(half(0x7BFF) == 65504.0);
  CHECK(half(0x0001) == 5.9604644775390625e-08);
  CHECK(unit_in_last_place(dtype("f32"), 1.0) == 1.1920928955078125e-07);
  CHECK(unit_in_last_place(dtype("f32"), 0.75) == 5.9604644775390625e-08);
  CHECK(unit_in_last_place(dtype("bf16"), 1.0) == 0.0078125);
  CHECK(unit_in_last_place(dtype("f16"), 0.0) == 5.9604644775390625e-08);
  CHECK(unit_in_last_place(dtype("i32"), 1.0) == 0);
}

TEST_CASE("guarded buffer: a write beside it is found, and where") {
  // What lies right beside a page that can't be touched is not tried here: it would end the test.
  for (const std::size_t size : {0U, 1U, 60U, 4000U}) {
    INFO(size);
    GuardedBuffer buffer(size, "x");
    REQUIRE(buffer.bytes().size() == size);
    CHECK(reinterpret_cast<std::uintptr_t>(buffer.bytes().data()) % 64 == 0);
    std::memset(buffer.bytes().data(), 0, size);
    CHECK(!buffer.trespass());
    buffer.bytes().data()[size] = 1;
    CHECK(buffer.trespass() == static_cast<std::int64_t>(size));
    buffer.mend();
    buffer.bytes().data()[-1] = 1;
    CHECK(buffer.trespass() == -1);
    buffer.mend();
    CHECK(!buffer.trespass());
    GuardedBuffer other(size, "y", GuardedBuffer::Side::start);
    CHECK(reinterpret_cast<std::uintptr_t>(other.bytes().data()) % 4096 == 0);
    other.bytes().data()[size] = 1;
    CHECK(other.trespass() == static_cast<std::int64_t>(size));
  }
}

TEST_CASE("probe questions: what is written is read again, and what is cut is refused") {
  ffi::Question question;
  question.kind = ffi::QuestionKind::call;
  question.library = "/lib/x y.so";
  question.symbol = "Axpy";
  question.arguments = {{11, {3, -1}, true, false, -1}, {4, {}, false, true, -1}};
  question.results = {{12, {0}, false, false, 0}};
  question.attributes = {{"alpha", ffi::scalar_attribute, 11, 1, std::string("\0\0\0\x40", 4)}};
  question.seed = 4294967295U;
  question.minor = -1;
  question.keeps_results = true;
  const std::string bytes = ffi::write_question(question);
  ffi::Question again;
  REQUIRE(ffi::read_question(bytes, again));
  CHECK(ffi::write_question(again) == bytes);
  CHECK(again.arguments[0].dims == std::vector<std::int64_t>{3, -1});
  CHECK(again.arguments[1].indexes);
  CHECK(again.results[0].shares == 0);
  CHECK(again.attributes[0].bytes == question.attributes[0].bytes);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    CHECK(!ffi::read_question(std::string_view(bytes).substr(0, length), again));
  }
  CHECK(!ffi::read_question(bytes + "1:x", again));
  ffi::Answer answer;
  answer.end = {ffi::CallEnd::How::failed, 3, "no\nsuch"};
  answer.signature.arguments = {{"F32", 2}};
  answer.unwritten_results = {{"result 0", 3, 2}};
  answer.results = {std::string("\0\1", 2)};
  const std::string answered = ffi::write_answer(answer);
  ffi::Answer read;
  REQUIRE(ffi::read_answer(answered, read));
  CHECK(ffi::write_answer(read) == answered);
  for (std::size_t length = 0; length < answered.size(); ++length) {
    CHECK(!ffi::read_answer(std::string_view(answered).substr(0, length), read));
  }
}

TEST_CASE("probe outcomes: a child without an exit status is not said to have one") {
  PoolOutcome outcome;
  outcome.end = PoolEnd::exited;
  outcome.code = no_exit_status;
  outcome.output_tail = "half a frame\n";
  ffi::Answer answer;
  ProbeResult result;
  CHECK(!read_outcome(outcome, answer, result));
  CHECK(result.status == "crashed");
  CHECK(result.reason == "wrote into the answer of its process, or closed it");
  outcome.code = 3;
  CHECK(!read_outcome(outcome, answer, result));
  CHECK(result.reason == "ended the process with status 3; it printed last: half a frame");
}

TEST_CASE("probe outcomes: an answer to another question is none") {
  ProbeResult result;
  ffi::QuestionOperand operand;
  operand.dtype = 12;  // f64
  operand.dims = {3};
  result.question.kind = ffi::QuestionKind::values;
  result.question.arguments = {operand};
  result.question.results = {operand};
  const auto read = [&](const std::vector<std::string>& arguments,
                        const std::vector<std::string>& results) {
    ffi::Answer answer;
    answer.end.how = ffi::CallEnd::How::returned;
    answer.arguments = arguments;
    answer.results = results;
    PoolOutcome outcome;
    outcome.end = PoolEnd::answered;
    outcome.answer = ffi::write_answer(answer);
    result.status.clear();
    ffi::Answer again;
    return read_outcome(outcome, again, result);
  };
  const std::string whole(24, 'x');
  CHECK(read({whole}, {whole}));
  // More, or less, than the operand holds, or than there are.
  for (const std::string& other : {std::string(8192, 'x'), std::string(16, 'x'), std::string()}) {
    CHECK(!read({whole}, {other}));
    CHECK(result.status == "no_answer");
    CHECK(!read({other}, {whole}));
  }
  CHECK(!read({whole}, {whole, whole}));
  CHECK(!read({whole}, {}));
  CHECK(!read({}, {}));
}

}  // namespace opseal::test

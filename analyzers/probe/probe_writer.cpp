#include "analyzers/probe/probe_writer.h"

#include "analyzers/fact_writer.h"
#include "analyzers/probe/probe_operands.h"

namespace opseal {
namespace {

// Where a probe's facts stand: what states the kernel, or else its handler.
Location place_of(const ProbeSubject& subject) {
  for (const Fact& fact : {subject.kernel, subject.target, subject.handler}) {
    if (fact.said()) return fact.where();
  }
  return subject.place;
}

class ProbeWriter {
 public:
  explicit ProbeWriter(Facts& facts) : facts_(facts), writer_(facts) {}

  void write(const std::vector<ProbeSubject>& subjects, const std::vector<ProbeResult>& results,
             std::uint32_t seed) {
    if (results.empty()) return;
    Document document;
    document.settings = true;
    document.file = place_of(subjects[results.front().subject]).file;
    document.first = writer_.next();
    const std::uint32_t root = writer_.open(Key::none, NodeType::object, 0);
    const std::uint32_t list = writer_.open(Key::probes, NodeType::list, 0);
    for (const ProbeResult& result : results) write_one(subjects[result.subject], result, seed);
    writer_.close(list, 0);
    writer_.close(root, 0);
    document.end = writer_.next();
    facts_.documents.push_back(document);
  }

 private:
  void text(Key key, std::string_view value) {
    if (!value.empty()) writer_.add_text(key, value, where_.offset, where_.length);
  }
  void count(Key key, std::uint32_t value) {
    writer_.add(key, NodeType::count, value, where_.offset, where_.length);
  }
  void truth(Key key, bool value) {
    writer_.add(key, NodeType::truth, value ? 1 : 0, where_.offset, where_.length);
  }
  std::uint32_t open(Key key, NodeType type) { return writer_.open(key, type, where_.offset); }
  void close(std::uint32_t container) { writer_.close(container, where_.offset + where_.length); }

  void write_one(const ProbeSubject& subject, const ProbeResult& result, std::uint32_t seed) {
    where_ = place_of(subject);
    facts_.other_files.push_back({writer_.next(), where_.file});
    const std::uint32_t object = open(Key::none, NodeType::object);
    text(Key::kind, result.kind);
    text(Key::identity, result.identity);
    text(Key::operator_, result.kind == "library" ? subject.shown_library : subject.name);
    text(Key::platform, subject.kernel[Key::platform].text());
    text(Key::library, subject.shown_library);
    const bool whole = result.kind == "library";
    if (!whole) text(Key::symbol, subject.symbol);
    if (!whole) text(Key::target, subject.target[Key::name].text());
    text(Key::status, result.status);
    text(Key::reason, result.reason);
    if (result.calls) {
      write_probe_operands(writer_, where_, Key::arguments, result.question.arguments);
      write_probe_operands(writer_, where_, Key::results, result.question.results);
      // Nobody says of a view that it is served.
      if (result.question.kind != ffi::QuestionKind::view) {
        truth(Key::declared, result.declared);
      }
      if (result.bit_stable) truth(Key::bit_stable, true);
      count(Key::seed, seed);
    }
    text(Key::input, result.input);
    text(Key::counterpart, result.counterpart);
    if (!result.counterpart.empty() && result.kind == "call")
      text(Key::method, result.loosely ? "alike" : "bounds");
    if (!result.deviations.empty()) write_deviations(result.deviations);
    writer_.add_real(Key::seconds, result.seconds, where_.offset, where_.length);
    close(object);
  }

  void write_deviations(const std::vector<ProbeDeviation>& deviations) {
    const std::uint32_t list = open(Key::deviations, NodeType::list);
    for (const ProbeDeviation& deviation : deviations) {
      const std::uint32_t object = open(Key::none, NodeType::object);
      text(Key::kind, deviation.kind);
      text(Key::name, deviation.name);
      writer_.add_real(Key::index, static_cast<double>(deviation.index), where_.offset,
                       where_.length);
      if (deviation.elements > 0) count(Key::elements, deviation.elements);
      text(Key::expected, deviation.expected);
      text(Key::seen, deviation.seen);
      close(object);
    }
    close(list);
  }

  Facts& facts_;
  FactWriter writer_;
  Location where_;
};

}  // namespace

void write_probes(const std::vector<ProbeSubject>& subjects,
                  const std::vector<ProbeResult>& results, std::uint32_t seed, Facts& facts) {
  ProbeWriter(facts).write(subjects, results, seed);
}

}  // namespace opseal

#include "analyzers/probe/subjects.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include "analyzers/artifacts.h"
#include "opseal/platforms.h"
#include "opseal/registration.h"
#include "opseal/text.h"

namespace fs = std::filesystem;

namespace opseal {
namespace {

// More are not called in one run.
constexpr std::size_t most_subjects = 100000;

bool runs_on_host(const Platform& platform) {
  return platform.role == PlatformRole::every || platform.hardware == "cpu";
}

class Search {
 public:
  Search(const Facts& facts, const std::vector<ffi::HandedHandler>& handed)
      : facts_(facts), handed_(handed) {}

  std::vector<ProbeSubject> find() {
    for (const Document& document : facts_.documents) {
      if (!document.settings) find_handlers(document);
    }
    for (const Document& document : facts_.documents) {
      if (!document.settings) find_stated(document);
    }
    for (const ffi::HandedHandler& one : handed_) {
      ProbeSubject subject;
      subject.name = one.name;
      take(one, subject);
      add(std::move(subject));
    }
    return std::move(subjects_);
  }

 private:
  using Place = std::pair<std::string, std::string>;

  static std::string real_path(const std::string& path) {
    std::error_code error;
    return fs::weakly_canonical(path, error).string();
  }

  // Where a module lies is known, and what a manifest says of it may start anywhere: a folder of an
  // environment, or of a build.
  static bool is_name_of(std::string_view stated, const std::string& library) {
    return stated.empty() || fs::path(stated).filename() == fs::path(library).filename();
  }

  const ffi::HandedHandler* find_named(std::string_view name, std::string_view library) const {
    for (const ffi::HandedHandler& one : handed_) {
      if (one.name == name && is_name_of(library, one.library)) return &one;
    }
    return nullptr;
  }

  void take(const ffi::HandedHandler& one, ProbeSubject& subject) const {
    subject.early = stages_before(one);
    subject.handed = true;
    subject.symbol = one.name;
    subject.library = one.library;
    subject.shown_library = one.library;
    subject.skipped = one.lack;
    if (one.stage != "execute") subject.calls_skipped = "its stage is " + quote(one.stage);
  }

  // `NAME.instantiate` and so on, of the same library.
  std::vector<ffi::EarlyHandler> stages_before(const ffi::HandedHandler& one) const {
    std::vector<ffi::EarlyHandler> early;
    std::int32_t stage = 0;
    for (const std::string_view word : {"instantiate", "prepare", "initialize"}) {
      const std::string name = one.name + '.' + std::string(word);
      for (const ffi::HandedHandler& other : handed_) {
        const bool beside = other.name == name && other.library == one.library;
        if (beside && other.stage == word && early.size() <= static_cast<std::size_t>(stage)) {
          early.push_back({stage, name});
        }
      }
      ++stage;
    }
    return early;
  }

  // By the symbol that is stated, or else by the name of the target.
  const ffi::HandedHandler* find_handed(const Fact& holder, std::string_view target) const {
    const std::string_view library = holder[Key::library].text();
    const ffi::HandedHandler* one = find_named(holder[Key::symbol].text(), library);
    return one != nullptr ? one : find_named(target, library);
  }

  static bool is_located(const Fact& holder) {
    return holder[Key::symbol].is_text() && holder[Key::library].is_text();
  }

  // What the bytes of a library tell.
  void find_handlers(const Document& document) {
    const InputFile& file = facts_.files[document.file];
    for (const Fact library : facts_.root(document)[Key::libraries].items()) {
      for (const Fact handler : library[Key::handlers].items()) {
        ProbeSubject subject;
        const InputFile& own = facts_.files[handler.where().file];
        subject.handler = handler;
        subject.shown_library = own.path;
        subject.symbol = handler[Key::symbol].text();
        subject.name = subject.symbol;
        if (!file.binary || own.open_path.empty()) {
          // Stated by a manifest, or inside a package.
          if (!file.binary) continue;
          subject.skipped = "the library lies inside a package: unpack it first";
        }
        subject.library = real_path(own.open_path);
        if (subject.symbol.empty()) {
          const std::string_view function = handler[Key::function].text();
          subject.name = function.empty() ? "a handler without a name" : std::string(function);
          const ffi::HandedHandler* handed = find_named(function, subject.library);
          if (handed != nullptr && handed->library == subject.library) {
            take(*handed, subject);
            add(std::move(subject));
            continue;
          }
          subject.skipped =
              "the library doesn't export it: only code of its own module can hand it out "
              "(`--import`)";
        }
        add(std::move(subject));
      }
    }
  }

  // What a manifest says of targets and kernels.
  void find_stated(const Document& document) {
    const Fact manifest = facts_.root(document);
    PlatformNames platforms(manifest);
    const auto serves_host = [&platforms](const Fact& target) {
      return !target[Key::platform].is_text() || runs_on_host(platforms.of(target[Key::platform]));
    };
    // One name may stand for a function of each platform.
    std::map<std::pair<std::string_view, bool>, Fact> targets;
    for (const Fact target : manifest[Key::targets].items()) {
      if (!target[Key::name].is_text()) continue;
      targets[{target[Key::name].text(), serves_host(target)}] = target;
    }
    for (const Fact target : manifest[Key::targets].items()) {
      const bool on_host = serves_host(target);
      // What a module hands out is for this machine, whatever has its name elsewhere.
      const ffi::HandedHandler* handed =
          on_host ? find_handed(target, target[Key::name].text()) : nullptr;
      if (handed == nullptr && !is_located(target)) continue;
      ProbeSubject subject;
      subject.target = target;
      subject.name = target[Key::name].text();
      if (handed != nullptr) {
        take(*handed, subject);
      } else {
        locate(document, target, subject);
      }
      if (!on_host) {
        subject.calls_skipped = "needs a device for " + quote(target[Key::platform].text());
      }
      add(std::move(subject));
    }
    for (const Fact op : manifest[Key::operators].items()) {
      for (const Fact kernel : op[Key::kernels].items()) {
        if (!is_active_kernel(kernel)) continue;
        Fact holder = kernel;
        const bool on_host = runs_on_host(platforms.of(kernel[Key::platform]));
        auto target = targets.find({kernel[Key::target].text(), on_host});
        if (target == targets.end()) target = targets.find({kernel[Key::target].text(), !on_host});
        const ffi::HandedHandler* handed =
            on_host ? find_handed(kernel, kernel[Key::target].text()) : nullptr;
        if (handed == nullptr && !is_located(kernel)) {
          if (target != targets.end()) {
            holder = target->second;
            if (on_host && serves_host(holder)) {
              handed = find_handed(holder, holder[Key::name].text());
            }
          }
          if (handed == nullptr && !is_located(holder)) {
            add_absent(manifest, op, kernel, on_host);
            continue;
          }
        }
        ProbeSubject subject;
        if (target != targets.end() && (handed == nullptr || target->first.second)) {
          subject.target = target->second;
        }
        subject.op = op;
        subject.kernel = kernel;
        subject.name = subject_of(manifest, op);
        if (handed != nullptr) {
          take(*handed, subject);
        } else {
          locate(document, holder, subject);
        }
        if (!on_host) {
          subject.calls_skipped = "needs a device for " + quote(kernel[Key::platform].text());
        }
        add(std::move(subject));
      }
    }
  }

  // Modules were asked, and none of them has what the kernel names.
  void add_absent(const Fact& manifest, const Fact& op, const Fact& kernel, bool on_host) {
    const std::string_view name = kernel[Key::target].text(kernel[Key::symbol].text());
    if (handed_.empty() || !on_host || name.empty()) return;
    ProbeSubject subject;
    subject.op = op;
    subject.kernel = kernel;
    subject.name = subject_of(manifest, op);
    subject.symbol = name;
    subject.skipped = "no module of `--import` hands out " + quote(name);
    add(std::move(subject));
  }

  void locate(const Document& document, const Fact& holder, ProbeSubject& subject) const {
    const std::string manifest = facts_.files[document.file].open_path;
    const std::string_view path = holder[Key::library].text();
    subject.symbol = holder[Key::symbol].text();
    subject.shown_library = path;
    if (manifest.empty()) {
      subject.skipped = "the manifest came from standard input, so its paths start nowhere";
      return;
    }
    if (!stays_inside(path)) {
      subject.skipped = "its library lies outside of the manifest's folder";
      return;
    }
    const fs::path whole = fs::path(manifest).parent_path() / fs::path(path);
    std::error_code error;
    if (!fs::is_regular_file(whole, error)) {
      subject.skipped = "there is no library at " + quote(path);
      return;
    }
    subject.library = real_path(whole.string());
  }

  // A handler that is found again says more of the same subject, or is another kernel of it.
  void add(ProbeSubject subject) {
    const Place place{subject.library, subject.symbol};
    if (!subject.library.empty() && !subject.symbol.empty()) {
      const auto [known, fresh] = places_.try_emplace(place, subjects_.size());
      if (!fresh) {
        ProbeSubject& first = subjects_[known->second];
        subject.handler = first.handler;
        if (!first.kernel.said()) {
          if (!subject.target.said()) subject.target = first.target;
          first = std::move(subject);
          return;
        }
        if (!subject.kernel.said()) return;
      }
    }
    if (subjects_.size() < most_subjects) subjects_.push_back(std::move(subject));
  }

  const Facts& facts_;
  const std::vector<ffi::HandedHandler>& handed_;
  std::vector<ProbeSubject> subjects_;
  std::map<Place, std::size_t> places_;
};

}  // namespace

std::vector<ProbeSubject> find_probe_subjects(const Facts& facts,
                                              const std::vector<ffi::HandedHandler>& handed) {
  return Search(facts, handed).find();
}

}  // namespace opseal

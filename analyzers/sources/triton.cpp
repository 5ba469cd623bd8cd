#include "analyzers/sources/triton.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzers/sources/torch_python.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

// Kernels of one name among which the imported one is looked for.
constexpr std::size_t most_namesakes = 64;

// The folders of a module's path: `a/b/c.py` and `a/b/c/__init__.py` are both `/a/b/c/`.
std::string module_of(std::string_view path) {
  path.remove_suffix(path.ends_with(".py") ? 3 : 0);
  if (path == "__init__") return "/";
  if (path.ends_with("/__init__")) path.remove_suffix(9);
  return "/" + std::string(path) + "/";
}

class Joiner {
 public:
  Joiner(const std::vector<TritonRecord>& records, const std::vector<std::string>& paths)
      : records_(records), paths_(paths) {
    for (const TritonRecord& record : records) {
      for (const TritonKernel& kernel : record.said.kernels) {
        if (!kernel.nested) by_name_[kernel.name].push_back({&kernel, record.file});
      }
    }
  }

  std::vector<TritonStart> run() const {
    std::vector<TritonStart> starts;
    for (const TritonRecord& record : records_) {
      for (const TritonLaunch& launch : record.said.launches) {
        Place kernel{nullptr, record.file};
        if (launch.kernel != TritonLaunch::elsewhere) {
          kernel.first = &record.said.kernels[launch.kernel];
        } else {
          kernel = imported(launch.path, record.file);
        }
        if (kernel.first == nullptr) continue;
        starts.push_back({kernel.first, kernel.second, &launch, record.file});
      }
    }
    return starts;
  }

 private:
  using Place = std::pair<const TritonKernel*, std::uint32_t>;

  // `pkg.kernels.add`, or `..kernels.add` seen from a file. The module that is named may be one
  // that hands on what another in the same folder defines.
  Place imported(std::string_view path, std::uint32_t from) const {
    const std::size_t dot = path.rfind('.');
    if (dot == path.npos) return {};
    const auto named = by_name_.find(path.substr(dot + 1));
    if (named == by_name_.end() || named->second.size() > most_namesakes) return {};
    // Of a relative import the dots lead upwards, the first to the folder itself.
    std::size_t dots = 0;
    while (dots < path.size() && path[dots] == '.') ++dots;
    std::string module = dot < dots ? "" : std::string(path.substr(dots, dot - dots));
    std::replace(module.begin(), module.end(), '.', '/');
    if (dots > 0) {
      std::string_view folder = folder_of(paths_[from]);
      for (std::size_t up = 1; up < dots; ++up) folder = folder_of(folder);
      module = "/" + std::string(folder) + (folder.empty() ? "" : "/") + module;
    } else {
      module = "/" + module;
    }
    if (!module.ends_with('/')) module += '/';
    const auto fits = [&](const Place& place, bool below) {
      const std::string own = module_of(paths_[place.second]);
      if (dots > 0) return below ? own.starts_with(module) : own == module;
      return below ? own.find(module) != std::string::npos : own.ends_with(module);
    };
    for (const bool below : {false, true}) {
      Place found{nullptr, 0};
      std::size_t count = 0;
      for (const Place& place : named->second) {
        if (!fits(place, below)) continue;
        found = place;
        ++count;
      }
      if (count > 1) return {};
      if (count == 1) return found;
    }
    return {};
  }

  const std::vector<TritonRecord>& records_;
  const std::vector<std::string>& paths_;
  std::map<std::string_view, std::vector<Place>> by_name_;
};

std::vector<std::string> words_of(const std::vector<TritonKind>& kinds) {
  std::vector<std::string> words;
  for (const TritonKind kind : kinds) {
    words.emplace_back(kind == TritonKind::pointer  ? "pointer"
                       : kind == TritonKind::number ? "number"
                                                    : "any");
  }
  return words;
}

}  // namespace

std::vector<TritonStart> join_triton(const std::vector<TritonRecord>& records,
                                     const std::vector<std::string>& paths) {
  return Joiner(records, paths).run();
}

void write_triton(const std::vector<TritonStart>& starts, const std::vector<std::string>& paths,
                  PlacedWriter& writer) {
  // By file and place, which is also the order in which they are written.
  std::map<std::pair<std::uint32_t, std::uint32_t>, const TritonKernel*> kernels;
  std::map<std::pair<std::uint32_t, std::string_view>, std::size_t> named;
  for (const TritonStart& start : starts) {
    if (kernels.emplace(std::pair(start.kernel_file, start.kernel->place.offset), start.kernel)
            .second) {
      ++named[{start.kernel_file, start.kernel->name}];
    }
  }
  // Several of one name stand in functions of one file.
  const auto space_of = [&](std::uint32_t file, const TritonKernel& kernel) {
    std::string space = paths[file];
    if (named[{file, kernel.name}] > 1) space += " at " + std::to_string(kernel.place.offset);
    return space;
  };
  const std::uint32_t functions = writer.open_list(Key::functions);
  for (const auto& [at, kernel] : kernels) {
    const SourcePlace place{at.first, kernel->place.offset, kernel->place.length};
    const std::uint32_t object = writer.open(Key::none, NodeType::object, place);
    writer.text(Key::name, kernel->name, place);
    writer.text(Key::namespace_, space_of(at.first, *kernel), place);
    const PythonFunction& function = kernel->function;
    if (function.variadic || function.any_name) {
      writer.truth(Key::variadic, true, place);
    } else {
      writer.count(Key::positional, function.positional, place);
      std::vector<std::string> parameters;
      for (const PythonParameter& one : function.parameters) parameters.push_back(one.name);
      writer.texts(Key::parameters, parameters, place);
      writer.texts(Key::kinds, words_of(kernel->kinds), place);
      writer.texts(Key::required_inputs, kernel->required, place);
    }
    if (!kernel->tuned.empty()) writer.texts(Key::exempt, kernel->tuned, place);
    writer.close(object);
  }
  writer.close_list(functions);
  const std::uint32_t uses = writer.open_list(Key::uses);
  for (const TritonStart& start : starts) {
    const TritonLaunch& launch = *start.launch;
    const SourcePlace place{start.launch_file, launch.place.offset, launch.place.length};
    const std::uint32_t object = writer.open(Key::none, NodeType::object, place);
    writer.text(Key::name, start.kernel->name, place);
    writer.text(Key::namespace_, space_of(start.kernel_file, *start.kernel), place);
    if (!launch.open_ended) {
      writer.count(Key::arguments, launch.positional, place);
      if (!launch.names.empty()) writer.texts(Key::names, launch.names, place);
      writer.texts(Key::kinds, words_of(launch.kinds), place);
    }
    writer.close(object);
  }
  writer.close_list(uses);
}

}  // namespace opseal

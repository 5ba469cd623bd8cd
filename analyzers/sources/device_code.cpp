#include "analyzers/sources/device_code.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "analyzers/source/needles.h"
#include "analyzers/source/source_tree.h"
#include "analyzers/sources/device_conditions.h"
#include "analyzers/sources/device_current.h"
#include "analyzers/sources/device_languages.h"
#include "analyzers/sources/launch_guards.h"

namespace opseal {
namespace {

std::string_view base_of_path(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);
}

// A source that another one includes is read by that one's compiler.
void drop_included(std::vector<DeviceCode>& codes, const std::vector<std::string>& paths) {
  std::unordered_set<std::string_view> included;
  for (const DeviceCode& code : codes) {
    for (const std::string& name : code.included_sources) included.insert(base_of_path(name));
  }
  for (std::size_t at = 0; at < codes.size(); ++at) {
    std::erase_if(codes[at].arch_tests, [&](const ArchTest& test) {
      return test.side == "host_compiler" && included.contains(base_of_path(paths[at]));
    });
  }
}

bool is_unasked(const KernelLaunch& launch) {
  return launch.conditions && launch.conditions->empty();
}

void write_arch_test(const ArchTest& test, PlacedWriter& writer) {
  const std::uint32_t object = writer.open(Key::none, NodeType::object, test.place);
  writer.text(Key::condition, test.condition, test.place);
  writer.text(Key::side, test.side, test.place);
  writer.text_if(Key::status, test.status, test.place);
  writer.text_if(Key::function, test.function, test.place);
  writer.text_if(Key::when, test.when.text(), test.place);
  writer.close(object);
}

void write_launch(const LaunchCode& code, const KernelLaunch& launch, PlacedWriter& writer) {
  const std::uint32_t object = writer.open(Key::none, NodeType::object, launch.place);
  writer.text_if(Key::kernel, launch.kernel, launch.place);
  writer.text_if(Key::function, code.functions[launch.function].name, launch.place);
  if (launch.typed) writer.text(Key::tier, "typed", launch.place);
  if (launch.checked || launch.typed || !code.checked_from_afar) {
    writer.truth(Key::checked, launch.checked, launch.place);
  }
  if (launch.pinned) writer.truth(Key::pinned, *launch.pinned, launch.place);
  if (code.accepts(launch)) writer.truth(Key::exempt, true, launch.place);
  if (launch.conditions) writer.texts(Key::conditions, *launch.conditions, launch.place);
  writer.text_if(Key::guard, launch.guard, launch.place);
  writer.text_if(Key::when, launch.when.text(), launch.place);
  writer.text_if(Key::macro, launch.macro, launch.place);
  writer.close(object);
}

void write_function(const DeviceFunction& function, PlacedWriter& writer) {
  const std::uint32_t object = writer.open(Key::none, NodeType::object, function.place);
  writer.text(Key::name, function.name, function.place);
  writer.texts(Key::parameters, function.parameters, function.place);
  writer.texts(Key::unread, function.unread, function.place);
  writer.truth(Key::contiguous, function.asks_for_layout, function.place);
  writer.text_if(Key::guard, function.guard, function.place);
  if (!function.guard.empty()) writer.text(Key::otherwise, function.otherwise, function.place);
  writer.text_if(Key::when, function.when.text(), function.place);
  writer.close(object);
}

void write_pointer(const KeptPointer& pointer, PlacedWriter& writer) {
  const std::uint32_t object = writer.open(Key::none, NodeType::object, pointer.place);
  writer.text(Key::expression, pointer.expression, pointer.place);
  writer.text_if(Key::holder, pointer.holder, pointer.place);
  writer.text_if(Key::type, pointer.type, pointer.place);
  writer.text_if(Key::value, pointer.value, pointer.place);
  writer.text_if(Key::cast, pointer.cast, pointer.place);
  writer.text_if(Key::function, pointer.function, pointer.place);
  writer.text_if(Key::when, pointer.when.text(), pointer.place);
  if (pointer.typed) writer.text(Key::tier, "typed", pointer.place);
  writer.close(object);
}

void write_layout(const LayoutFunction& function, PlacedWriter& writer) {
  for (const LayoutArgument& argument : function.arguments) {
    if (!argument.contiguous) continue;
    const std::uint32_t object = writer.open(Key::none, NodeType::object, argument.place);
    writer.text(Key::expression, argument.expression, argument.place);
    writer.truth(Key::contiguous, *argument.contiguous, argument.place);
    writer.text(Key::function, function.name, argument.place);
    writer.text_if(Key::when, argument.when.text(), argument.place);
    writer.close(object);
  }
}

void write_untyped(const UntypedPointer& pointer, PlacedWriter& writer) {
  if (!pointer.checked) return;
  const std::uint32_t object = writer.open(Key::none, NodeType::object, pointer.place);
  writer.text(Key::expression, pointer.expression, pointer.place);
  writer.text(Key::name, pointer.name, pointer.place);
  writer.text(Key::cast, pointer.cast, pointer.place);
  writer.truth(Key::checked, *pointer.checked, pointer.place);
  writer.text(Key::function, pointer.function, pointer.place);
  writer.text_if(Key::when, pointer.when.text(), pointer.place);
  writer.close(object);
}

// Of arguments, where who calls is known.
bool says_arguments(const DeviceCode& code) {
  if (std::any_of(code.untyped.begin(), code.untyped.end(),
                  [](const UntypedPointer& one) { return one.checked.has_value(); })) {
    return true;
  }
  return std::any_of(code.layouts.begin(), code.layouts.end(), [](const LayoutFunction& function) {
    return std::any_of(function.arguments.begin(), function.arguments.end(),
                       [](const LayoutArgument& one) { return one.contiguous.has_value(); });
  });
}

// What a tree says of kept pointers and of layouts; of these only where who calls is known.
void write_pointers(const std::vector<DeviceCode>& codes, const std::set<std::uint32_t>& files,
                    bool partial, PlacedWriter& writer) {
  const bool any = std::any_of(files.begin(), files.end(), [&](std::uint32_t file) {
    return !codes[file].pointers.empty() || (!partial && says_arguments(codes[file]));
  });
  if (!any) return;
  const std::uint32_t list = writer.open_list(Key::pointers);
  for (const std::uint32_t file : files) {
    for (const KeptPointer& pointer : codes[file].pointers) write_pointer(pointer, writer);
    if (partial) continue;
    for (const LayoutFunction& function : codes[file].layouts) write_layout(function, writer);
    for (const UntypedPointer& pointer : codes[file].untyped) write_untyped(pointer, writer);
  }
  writer.close_list(list);
}

// A list that nobody fills is not written.
template <typename Item>
void write_list(const std::vector<DeviceCode>& codes, const std::set<std::uint32_t>& files, Key key,
                std::vector<Item> DeviceCode::*member, void (*write)(const Item&, PlacedWriter&),
                PlacedWriter& writer) {
  const bool any = std::any_of(files.begin(), files.end(),
                               [&](std::uint32_t file) { return !(codes[file].*member).empty(); });
  if (!any) return;
  const std::uint32_t list = writer.open_list(key);
  for (const std::uint32_t file : files) {
    for (const Item& item : codes[file].*member) write(item, writer);
  }
  writer.close_list(list);
}

void write_launches(const std::vector<DeviceCode>& codes, const std::set<std::uint32_t>& files,
                    PlacedWriter& writer) {
  const bool any = std::any_of(files.begin(), files.end(), [&](std::uint32_t file) {
    return !codes[file].launches.launches.empty();
  });
  if (!any) return;
  const std::uint32_t list = writer.open_list(Key::launches);
  for (const std::uint32_t file : files) {
    const LaunchCode& code = codes[file].launches;
    for (const KernelLaunch& launch : code.launches) write_launch(code, launch, writer);
  }
  writer.close_list(list);
}

}  // namespace

bool says_device_code(std::string_view bytes) {
  static const Needles needles({"__CUDA_ARCH__", "<<<", "<< <", "LaunchKernel", "LaunchCooperative",
                                "GetLastError", "PeekAtLastError", "__global__",
                                // Helpers that wait and look at what comes back.
                                "DeviceSynchronize(", "StreamSynchronize(", "EventSynchronize(",
                                // Numbers cast to another type by their address.
                                "half*)&", "half *)&", "half*>(&", "half2*)&", "bfloat16*)&",
                                "bfloat16 *)&", "bfloat16*>(&"});
  return needles.occur_in(bytes) || takes_pointers_of_calls(bytes) || casts_untyped_pointers(bytes);
}

void read_device_code(const PlainSource& source, std::string_view path, DeviceCode& code) {
  code.was_read = true;
  for (const std::string_view name : source.includes) {
    if (is_source_path(name) && !is_header_path(name)) code.included_sources.emplace_back(name);
  }
  read_arch_tests(source, path, code);
  code.launches.is_header = is_header_path(path);
  const bool is_cuda = is_cuda_source(source, path);
  read_launches(source, is_cuda, code.launches);
  read_launch_guards(source, code.launches);
  read_pointers(source, code.pointers);
  read_casts(source, code.pointers);
  read_layouts(source, code.layouts);
  read_untyped_pointers(source, code.untyped);
  if (is_cuda) read_device_functions(source, code.functions);
}

std::vector<std::string> join_device_code(std::vector<DeviceCode>& codes) {
  std::vector<LaunchCode*> launches;
  std::unordered_set<std::uint32_t> guarded;
  for (DeviceCode& code : codes) {
    launches.push_back(&code.launches);
    for (const DeviceFunction& function : code.functions) {
      if (is_hollow_outside(function)) guarded.insert(hash_of(function.name));
    }
  }
  std::vector<std::string> names = join_launches(launches);
  const std::vector<std::string> unguarded = join_current_device(launches);
  names.insert(names.end(), unguarded.begin(), unguarded.end());
  if (guarded.empty()) return names;
  const std::vector<std::string> more = join_conditions(launches, guarded);
  names.insert(names.end(), more.begin(), more.end());
  return names;
}

bool has_unasked_launch(const std::vector<DeviceCode>& codes) {
  return std::any_of(codes.begin(), codes.end(), [](const DeviceCode& code) {
    return std::any_of(code.launches.launches.begin(), code.launches.launches.end(), is_unasked);
  });
}

void forget_unasked(std::vector<DeviceCode>& codes) {
  for (DeviceCode& code : codes) {
    for (KernelLaunch& launch : code.launches.launches) {
      if (is_unasked(launch)) launch.conditions.reset();
    }
  }
}

std::set<std::uint32_t> files_with_device_code(std::vector<DeviceCode>& codes,
                                               const std::vector<std::string>& paths) {
  drop_included(codes, paths);
  std::set<std::uint32_t> files;
  for (std::uint32_t at = 0; at < codes.size(); ++at) {
    const DeviceCode& code = codes[at];
    if (!code.arch_tests.empty() || !code.launches.launches.empty() || !code.pointers.empty() ||
        !code.functions.empty() || says_arguments(code)) {
      files.insert(at);
    }
  }
  return files;
}

void write_device_code(const std::vector<DeviceCode>& codes, const std::set<std::uint32_t>& files,
                       bool partial, PlacedWriter& writer) {
  write_list(codes, files, Key::arch_tests, &DeviceCode::arch_tests, write_arch_test, writer);
  // Who checks a launch may stand in a file that was not given.
  if (!partial) write_launches(codes, files, writer);
  write_pointers(codes, files, partial, writer);
  write_list(codes, files, Key::device_functions, &DeviceCode::functions, write_function, writer);
}

}  // namespace opseal

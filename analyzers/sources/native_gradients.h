#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/source/plain_source.h"
#include "analyzers/sources/dispatch_index.h"
#include "analyzers/sources/placed_writer.h"
#include "analyzers/sources/records.h"

namespace opseal {

// Functions of C++ that are a forward or its backward by their names, in one file, and that no
// registration of the tree names: torch's own kernels are bound by generated code.
inline constexpr std::string_view native_system = "torch-native";

// Whether a file may define such a pair.
bool may_hold_native_gradients(std::string_view bytes);

// Adds a record for each function of a pair.
void read_native_gradients(const PlainSource& source, std::vector<TorchRecord>& functions);

// Those that no kernel among the records has.
void drop_registered(const std::vector<TorchRecord>& kernels, std::vector<TorchRecord>& functions);

// Whoever calls it may convert first, in whichever file: what it chooses by is no longer known.
// `first`: the functions from there on.
void forget_handed_converted(const ConvertedFor& converted, std::vector<TorchRecord>& functions,
                             std::size_t first);

// Writes `functions`. Needs: an open document.
void write_native_gradients(const std::vector<TorchRecord>& functions,
                            const std::vector<std::string>& paths, PlacedWriter& writer);

}  // namespace opseal

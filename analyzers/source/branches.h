#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "analyzers/source/tokens.h"

namespace opseal {

// What a branch of a conditional is marked with between statements: a token of the kind
// `directive` with one of these texts. An `#if` without `#else` gets one with nothing behind it.
constexpr std::string_view branch_begins = "#if";
constexpr std::string_view branch_changes = "#else";
constexpr std::string_view branch_ends = "#endif";

// The tokens of a source as they stand, no macro expanded and the bodies of macros left out, for
// readers that follow the flow of functions. Where `#if` divides statements the branches stay,
// between marks; where it divides an expression or brackets, one branch is taken, so that brackets
// always match as the compiler sees them.
// `comments` gets those whose text begins with one of `kept_comments`.
// Needs: bytes and arena outlive the tokens.
void read_branches(std::string_view bytes, TextArena& arena, std::vector<Token>& tokens,
                   std::vector<SourceComment>& comments,
                   std::span<const std::string_view> kept_comments);

}  // namespace opseal

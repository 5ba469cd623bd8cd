#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace opseal {

// The first three numbers of a release: `0.4.38` -> {0, 4, 38}.
using Release = std::array<std::uint32_t, 3>;

inline std::optional<Release> read_release(std::string_view text) {
  Release release{};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t i = 0; i < release.size(); ++i) {
    const auto [next, error] = std::from_chars(at, end, release[i]);
    if (error != std::errc()) return i == 0 ? std::nullopt : std::optional(release);
    at = next;
    if (at == end || *at != '.') break;
    ++at;
  }
  return release;
}

inline std::string to_text(const Release& release) {
  return std::to_string(release[0]) + '.' + std::to_string(release[1]) + '.' +
         std::to_string(release[2]);
}

// Version of XLA's interface for handlers, `0.3` -> {0, 3}. It is written into a handler by the
// headers that it is compiled with; a runtime takes those that are not newer than itself.
using ApiVersion = std::array<std::uint32_t, 2>;

inline std::optional<ApiVersion> read_api_version(std::string_view text) {
  const std::optional<Release> release = read_release(text);
  if (!release) return std::nullopt;
  return ApiVersion{(*release)[0], (*release)[1]};
}

inline std::string to_text(const ApiVersion& version) {
  return std::to_string(version[0]) + '.' + std::to_string(version[1]);
}

// The interface of a release of jaxlib, read off the headers that its wheels bring (0.4.31 to
// 0.12.0). Nothing for older ones, which have no such handlers.
inline std::optional<ApiVersion> api_of_jaxlib(const Release& release) {
  struct Row {
    Release since;
    std::uint32_t minor;
  };
  constexpr Row rows[] = {
      {{0, 11, 1}, 4}, {{0, 9, 1}, 3}, {{0, 8, 1}, 2}, {{0, 4, 32}, 1}, {{0, 4, 31}, 0}};
  // Later ones are at least as new; what they are exactly is not known.
  for (const Row& row : rows) {
    if (release >= row.since) return ApiVersion{0, row.minor};
  }
  return std::nullopt;
}

// The newest release that the table above was made from: of later ones only the least is known.
constexpr Release newest_known_jaxlib = {0, 12, 0};

// The first release of jaxlib with that interface: `0.9.1` for 0.3.
inline std::string_view first_jaxlib(const ApiVersion& version) {
  constexpr std::string_view firsts[] = {"0.4.31", "0.4.32", "0.8.1", "0.9.1", "0.11.1"};
  return version[0] == 0 && version[1] < 5 ? firsts[version[1]] : std::string_view();
}

}  // namespace opseal

// Sets that Python functions let through beside what they look the same thing up in.

#include <doctest/doctest.h>

#include <string>

#include "analyzers/python/parsed.h"
#include "analyzers/python/support_tables.h"

namespace opseal::test {
namespace {

std::vector<PythonSupport> support_in(const std::string& text) {
  const ParsedPython file(text);
  return find_python_support(file);
}

}  // namespace

TEST_CASE("a set that guards a table is found, unless what it asks about is set again between") {
  const std::string sets = "S = {'a', 'b', 'c'}\nT = {'a': 1, 'b': 2}\n";
  const std::string guard = "def f(x):\n  if x not in S:\n    raise ValueError(x)\n";
  CHECK(support_in(sets + guard + "  return T[x]\n").size() == 1);
  CHECK(support_in(sets + guard + "  x = other(x)\n  return T[x]\n").empty());
  CHECK(support_in(sets + guard + "  y = other(x)\n  return T[x]\n").size() == 1);
  // Before it is asked.
  CHECK(support_in(sets + "def f(x):\n  x = other(x)\n  if x not in S:\n    raise ValueError(x)\n" +
                   "  return T[x]\n")
            .size() == 1);
}

TEST_CASE("a member that a class sets twice has no value of its own") {
  const std::string body =
      "  def f(self, x):\n    if x not in self.S:\n      raise ValueError(x)\n"
      "    return self.T[x]\n";
  const std::string sets = "class A:\n  S = {'a', 'b', 'c'}\n  T = {'a': 1, 'b': 2}\n";
  CHECK(support_in(sets + body).size() == 1);
  CHECK(support_in(sets + "  T = {'a': 1, 'b': 2, 'c': 3}\n" + body).empty());
}

TEST_CASE("a class with many members and functions is read as one with few") {
  constexpr std::size_t many = 3000;
  std::string text = "class A:\n";
  for (std::size_t at = 0; at < many; ++at) {
    const std::string number = std::to_string(at);
    text += "  S" + number + " = {'a', 'b', 'c'}\n  T" + number + " = {'a': 1, 'b': 2}\n";
  }
  for (std::size_t at = 0; at < many; ++at) {
    const std::string number = std::to_string(at);
    text += "  def f" + number + "(self, x):\n    if x not in self.S" + number +
            ":\n      raise ValueError(x)\n    return self.T" + number + "[x]\n";
  }
  CHECK(support_in(text).size() == many);
}

TEST_CASE("a function with many guards and lookups is read to its end") {
  constexpr std::size_t many = 100;
  std::string text = "S = {'a', 'b', 'c'}\nT = {'a': 1, 'b': 2}\ndef f(a):\n";
  for (std::size_t at = 0; at < many; ++at) {
    text += "  if a.x" + std::to_string(at) + " not in S:\n    raise ValueError(a)\n";
  }
  for (std::size_t at = 0; at < many; ++at) {
    text += "  use(T[a.x" + std::to_string(at) + "])\n";
  }
  CHECK(support_in(text).size() == many);
}

}  // namespace opseal::test

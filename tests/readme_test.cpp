// What the README shows is what opseal prints: each block between `<!-- begin: opseal ARGUMENTS
// -->` and `<!-- end -->` is run again and compared, or written anew when blessing.

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "cli/process.h"
#include "tests/support.h"

namespace opseal::test {
namespace {

constexpr std::string_view begin_mark = "<!-- begin: opseal ";
constexpr std::string_view mark_end = " -->\n";
constexpr std::string_view end_mark = "<!-- end -->";

std::string run_opseal(const std::string& arguments) {
  std::vector<std::string> command = {OPSEAL_BINARY};
  std::istringstream words(arguments);
  for (std::string word; words >> word;) command.push_back(word);
  const ProcessResult result = run_process(command);
  REQUIRE(result.started);
  CHECK(result.errors.empty());
  return result.output;
}

std::string block_for(const std::string& arguments) {
  std::string output = run_opseal(arguments);
  if (arguments.find("--markdown") != arguments.npos) return output;
  return "```\n$ opseal " + arguments + "\n" + output + "```\n";
}

}  // namespace

TEST_CASE("the README shows what opseal prints") {
  std::filesystem::current_path(source_dir());
  const std::string readme = read_file(source_dir() / "README.md");
  std::string fresh;
  std::size_t at = 0;
  int blocks = 0;
  for (std::size_t mark = readme.find(begin_mark); mark != readme.npos;
       mark = readme.find(begin_mark, at)) {
    const std::size_t words = mark + begin_mark.size();
    const std::size_t words_end = readme.find(mark_end, words);
    REQUIRE(words_end != readme.npos);
    const std::size_t end = readme.find(end_mark, words_end);
    REQUIRE(end != readme.npos);
    fresh += readme.substr(at, words_end + mark_end.size() - at);
    fresh += block_for(readme.substr(words, words_end - words));
    at = end;
    ++blocks;
  }
  fresh += readme.substr(at);
  CHECK(blocks == 2);
  check_or_bless(source_dir() / "README.md", fresh);
}

}  // namespace opseal::test

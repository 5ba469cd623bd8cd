// A library that keeps two functions to itself, which `asker.cpp` calls, and gives one function two
// names.

extern "C" {

__attribute__((visibility("hidden"))) int kept_by_visibility(int x) { return x + 1; }
// Left out of keeper.map.
int kept_by_script(int x) { return x + 2; }

// Of its file, and by chance of the name of a function that somebody else is to bring.
__attribute__((noinline)) static int of_its_file(int x) { return x * 7; }

int offered(int x) { return kept_by_visibility(x) * kept_by_script(x) * of_its_file(x); }
int offered_alias(int x) __attribute__((alias("offered")));
int other(int x) { return x * 5; }
}

// Calls what its library keeps to itself.

extern "C" {

int kept_by_visibility(int);
int kept_by_script(int);
int of_its_file(int);
int offered(int);

int ask(int x) { return kept_by_visibility(x) + kept_by_script(x) + of_its_file(x) + offered(x); }
}

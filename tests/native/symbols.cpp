// A library with one of each kind of symbol that a reader must tell apart.

#include <stdio.h>

extern "C" {

__attribute__((visibility("protected"))) int protected_function() { return 1; }
__attribute__((visibility("hidden"))) int hidden_function() { return 2; }
__attribute__((weak)) int weak_function() { return 3; }
int plain_object = 4;
__thread int thread_object = 5;
int local_to_the_file() { return hidden_function(); }

int first_add(int a) { return a; }
int second_add(int a) { return a + thread_object; }
__asm__(".symver first_add, add@V_1");
__asm__(".symver second_add, add@@V_2");

__attribute__((visibility("hidden"))) int chosen() { return 6; }
__attribute__((visibility("hidden"))) int (*choose())() { return chosen; }
int indirect_function() __attribute__((ifunc("choose")));

int say(const char* text) { return puts(text) + weak_function(); }

extern int nowhere_defined() __attribute__((weak));
int ask() { return nowhere_defined ? nowhere_defined() : 0; }

// Pointers that the loader fills in: to a function and a text of this file, and to one elsewhere.
extern const void* const pointers[];
const void* const pointers[] = {reinterpret_cast<const void*>(&chosen), "a text",
                                reinterpret_cast<const void*>(&puts)};
}

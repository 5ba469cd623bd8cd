// What a manifest says of caches, as `formats.md` (docs/formats.md) fixes it.

#include "analyzers/forms.h"

namespace opseal::forms {
namespace {

constexpr std::string_view cache_kinds[] = {"disk", "memory"};
constexpr Form cache_kind{.text = true, .words = cache_kinds};
constexpr std::string_view input_words[] = {"source",
                                            "specs",
                                            "headers",
                                            "architecture",
                                            "compiler",
                                            "compiler_version",
                                            "flags",
                                            "link_flags",
                                            "include_paths",
                                            "package_version",
                                            "framework_version",
                                            "runtime_version",
                                            "environment",
                                            "dtypes",
                                            "attributes",
                                            "operator_schema",
                                            "driver",
                                            "python_abi",
                                            "options"};
constexpr Form input_word{.text = true, .words = input_words};
constexpr Form input_list{.item = &input_word};
constexpr std::string_view method_words[] = {"content", "mtime", "none"};
constexpr Form method_form{.text = true, .words = method_words};
constexpr std::string_view covered_words[] = {"injected", "extra_include_paths", "transitive",
                                              "system"};
constexpr Form covered_word{.text = true, .words = covered_words};
constexpr Form covered_form{.item = &covered_word};
constexpr Field headers_fields[] = {
    {method, &method_form, false, "how a header's change is noticed"},
    {directories, &texts_form, false, ""},
    {covered, &covered_form, false, "which headers the key covers"},
    {included, &texts_form, false, "headers that builds read, but those of the system"},
};
constexpr Form headers_form{.name = "Headers", .fields = headers_fields};
constexpr std::string_view freshness_words[] = {"content", "mtime", "size", "none"};
constexpr Form freshness_word{.text = true, .words = freshness_words};
constexpr Form freshness_form{.item = &freshness_word};
constexpr std::string_view part_forms[] = {"content", "value",    "name",     "path", "mtime",
                                           "address", "identity", "presence", "major"};
constexpr Form part_form{.text = true, .words = part_forms};
constexpr Field key_part_fields[] = {
    {name, &text_form, false, "in the code"},
    {input, &input_word, false, "what it stands for"},
    {form, &part_form, false, "what of it is in the key: see docs/formats.md"},
    {value, &text_form, false, "what stood in the key on the machine of the walk"},
    {values, &text_map, false, "what it stands for -> what the key holds for that"},
};
constexpr Form key_part_form{.name = "KeyPart", .fields = key_part_fields};
constexpr Form key_parts_form{.item = &key_part_form};
constexpr Field build_input_fields[] = {
    {name, &text_form, false, "in the code, or of the variable of the environment"},
    {input, &input_word, false, "what it stands for"},
    {form, &part_form, false, ""},
};
constexpr Form build_input_form{.name = "BuildInput", .fields = build_input_fields};
constexpr Form build_inputs_form{.item = &build_input_form};
constexpr std::string_view suffix_words[] = {"literal", "platform"};
constexpr Form suffix_form{.text = true, .words = suffix_words};
constexpr std::string_view match_words[] = {"exact", "prefix"};
constexpr Form match_form{.text = true, .words = match_words};
constexpr Field cache_entry_fields[] = {
    {directory, &text_form, false, "of the entry, or its file"},
    {name, &text_form, false, ""},
    {key, &text_form, false, ""},
    {recomputed_key, &text_form, false, "made again from what the entry was built from"},
    {library, &text_form, false, ""},
    {functions, &texts_form, false, ""},
    {architectures, &texts_form, false, "GPU architectures that it was built for"},
    {source_files, &texts_form, false, "what it was built from"},
    {missing, &texts_form, false, "files that a look-up asks for and that are not there"},
    {damaged, &texts_form, false, "files that are empty, cut off or not what they should be"},
    {elsewhere, &texts_form, false, "paths outside of the entry, where nothing is"},
    {temporary, &texts_form, false, "what builds that ended early left behind"},
    {lock, &text_form, false, "lock file of no running build, which makes others wait"},
};
constexpr Form cache_entry_form{.name = "CacheEntry", .fields = cache_entry_fields};
constexpr Form cache_entries_form{.item = &cache_entry_form};
constexpr std::string_view comparisons[] = {"equality", "hash", "order", "key"};
constexpr Form comparison{.text = true, .words = comparisons};
constexpr Field key_function_fields[] = {
    {name, &text_form, false, ""},
    {kind, &comparison, false, ""},
    {uses, &texts_form, false, "of `fields`"},
};
constexpr Form key_function_form{.name = "KeyFunction", .fields = key_function_fields};
constexpr Form key_functions_form{.item = &key_function_form};
constexpr Field cache_fields[] = {
    {name, &text_form, true, ""},
    {kind, &cache_kind, false, ""},
    {backs, &text_form, false, "name of the cache in front of which this one stands"},
    {location, &location_form, false, ""},
    {schema, &text_or_null, false, "version constant of the key; null: it has none"},
    {separated, &truth_form, false, "fields are tagged or length-prefixed"},
    {hash, &text_form, false, ""},
    {parameters, &texts_form, false, "names in the code"},
    {inputs, &input_list, false, "what the key is made of"},
    {required_inputs, &input_list, false, "what it must be made of"},
    {key_parts, &key_parts_form, false, "the parts of the key one by one"},
    {reads, &build_inputs_form, false, "handed to the build; named as in `key_parts`"},
    {arguments, &texts_form, false, "of the function that is built for each key"},
    {uses, &texts_form, false, "arguments that its settings name beside the key"},
    {tested, &count_form, false, "settings that are tried on the arguments of a call"},
    {in_place, &texts_form, false, "arguments whose memory each trial changes again"},
    {fields, &texts_form, false, "of the type of the key, or what its entries depend on"},
    {exempt, &texts_form, false, "of `fields`: those that tell no entries apart"},
    {functions, &key_functions_form, false, "that compare and hash keys"},
    {tier, &tier_form, false, "`typed`: libclang told some of the fields"},
    {required, &truth_form, false, "each of the functions must use every field"},
    {binds, &texts_form, false, "state that an entry holds on to, as in `key_parts`"},
    {freshness, &freshness_form, false, "by what an entry is judged out of date"},
    {headers, &headers_form, false, ""},
    {environment, &texts_form, false, "variables that reach the build"},
    {temporary_name, &texts_form, false, "what makes a temporary name unique"},
    {suffix, &suffix_form, false, "of its libraries: one, or that of the system"},
    {names, &texts_form, false, "suffixes by which code looks its libraries up"},
    {match, &match_form, false, "how look-up and clear find an entry"},
    {directory, &text_form, false, ""},
    {temporary, &texts_form, false, "what builds that ended early left beside the entries"},
    {entries, &cache_entries_form, false, ""},
};

}  // namespace

constinit const Form cache_form{.name = "Cache", .fields = cache_fields};

}  // namespace opseal::forms

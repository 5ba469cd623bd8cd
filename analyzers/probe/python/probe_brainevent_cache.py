"""Checks of brainevent's cache of compiled libraries, without compiling any."""

import os
import threading

from _opseal_probe_rows import Skip, error_text, member, scratch


def empty_cache():
    try:
        from brainevent._op import kernix_cache
    except ImportError as error:
        raise Skip(str(error))
    return member(kernix_cache, "CompilationCache")(scratch("cache"))


def cache_temp_name(rows):
    """Two threads store one key. Each is held where it puts its temporary file in place until the
    other one is there, too, so that they overlap on any machine; if only one comes, there is a lock,
    which is right as well."""
    cache = empty_cache()
    names, errors = [], []
    both = threading.Barrier(2)
    replace = os.replace

    def held_replace(source, *more, **named):
        names.append(os.path.basename(str(source)))
        try:
            both.wait(5)
        except threading.BrokenBarrierError:
            names.append("")
        return replace(source, *more, **named)

    def store(number):
        path = os.path.join(scratch("built{}".format(number)), "library.so")
        with open(path, "wb") as library:
            library.write(b"x" * 4096)
        try:
            cache.store("opseal", "0123456789abcdef", path, source_is_user_dir=True)
        except Exception as error:
            errors.append(error_text(error))

    os.replace = held_replace
    try:
        threads = [threading.Thread(target=store, args=(number,)) for number in (1, 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        os.replace = replace
    if not names:
        raise Skip("`store` puts no file in place with `os.replace`")
    same = len(names) == 2 and names[0] == names[1]
    # A name of the cache's own, of two writers, that is no longer there.
    seen = "one name for both" if same else "names of their own"
    if errors:
        seen += ", and " + errors[0].split(":")[0]
    rows.judge("cache-temp-name", not same and not errors,
               "names of their own for two threads that store one key", seen)


def cache_prefix(rows):
    cache = empty_cache()
    folder = str(member(cache, "base_dir"))
    for name in ("add_0123456789abcdef", "add_fast_0123456789abcdef"):
        os.makedirs(os.path.join(folder, name))
    cache.clear("add")
    left = sorted(os.listdir(folder))
    rows.judge("cache-prefix", left == ["add_fast_0123456789abcdef"],
               "`clear('add')` leaves the entry of `add_fast`",
               "it leaves " + (", ".join(left) if left else "nothing"))


def cache_key_separation(rows):
    cache = empty_cache()
    one = cache.cache_key(source="ab", arch="c", cxx_version="", header_paths=[])
    other = cache.cache_key(source="a", arch="bc", cxx_version="", header_paths=[])
    rows.judge("cache-key-separation", one != other,
               "two keys for the source `ab` with the architecture `c` and `a` with `bc`",
               "one key" if one == other else "two keys")


CHECKS = {
    "cache-temp-name": cache_temp_name,
    "cache-prefix": cache_prefix,
    "cache-key-separation": cache_key_separation,
}

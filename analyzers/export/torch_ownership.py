"""Which operators are the business of an export."""


def chosen(request, entries, before, sites, tables):
    """(name, entry) of: the namespaces asked for, else what the modules asked for registered, else
    everything. `before`: the entries before those modules were imported."""
    if request.namespaces:
        wanted = set(request.namespaces)
        return [item for item in sorted(entries.items()) if namespace_of(item[0]) in wanted]
    if not request.modules:
        return sorted(entries.items())
    taken = {namespace_of(name) for name in before}
    return [
        (name, entry)
        for name, entry in sorted(entries.items())
        if is_theirs(name, entry, before.get(name), taken, sites, tables)
    ]


def is_theirs(name, entry, earlier, taken, sites, tables):
    """Whether somebody else than torch had a hand in an operator. That it is new proves nothing:
    torch loads more of itself on demand."""
    if earlier is not None:
        added = set(entry.text.splitlines()) - set(earlier.text.splitlines())
        rows = [row for row in entry.rows if row.line in added]
        return any(sites.is_torch(row.site) is False for row in rows if row.site)
    told = [sites.is_torch(site) for site in entry.sites()]
    told = [answer for answer in told if answer is not None]
    if not told:
        told = [answer for answer in python_sites(name, sites, tables) if answer is not None]
    if told:
        return not all(told)
    # Only torch's wrappers are named. Nobody else defines operators in torch's own namespaces.
    return namespace_of(name) not in taken


def python_sites(name, sites, tables):
    functions = [tables.fake_function(name), *tables.kernel_functions(name).values()]
    return [sites.is_torch(site) for site in map(site_of, functions) if site]


def site_of(function):
    code = getattr(function, "__code__", None)
    return "{}:{}".format(code.co_filename, code.co_firstlineno) if code is not None else None


def namespace_of(name):
    return name.partition("::")[0]

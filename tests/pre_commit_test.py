"""Commits through pre-commit with the hook that this repository offers: a good manifest, a bad one, other JSON.

The hook file is taken from the working tree, through a scratch repository that holds nothing else, so that what is
tested is not only what was committed. Prints `skipped: REASON` where pre-commit is not installed.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HOOK_FILE = ".pre-commit-hooks.yaml"
REPOSITORY = pathlib.Path(__file__).resolve().parent.parent


def manifest(inputs, rules):
    """A manifest with one operator; each of its rules says that there is no gradient for that input."""
    operator = {
        "name": "add",
        "inputs": inputs,
        "jvp": {"kind": "per_input", "rules": [None] * rules},
    }
    return {"opseal_manifest": 1, "system": "engine", "operators": [operator]}


def isolated_environment(scratch, opseal):
    """The environment without settings of the user, of an outer git hook or of an outer pre-commit."""
    environment = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("GIT_", "PRE_COMMIT", "VIRTUAL_ENV"))
    }
    environment.update(
        HOME=str(scratch),
        XDG_CONFIG_HOME=str(scratch / "config"),
        PRE_COMMIT_HOME=str(scratch / "pre-commit"),
        GIT_CONFIG_NOSYSTEM="1",
        GIT_AUTHOR_NAME="test",
        GIT_AUTHOR_EMAIL="test@example.invalid",
        GIT_COMMITTER_NAME="test",
        GIT_COMMITTER_EMAIL="test@example.invalid",
        PATH=f"{opseal.parent}{os.pathsep}{os.environ['PATH']}",
    )
    return environment


class Git:
    """git and pre-commit in one scratch repository."""

    def __init__(self, folder, environment):
        self.folder = folder
        self.environment = environment
        folder.mkdir()
        self.must("git", "init", "--quiet")

    def run(self, *command):
        """Exit code and everything printed."""
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=120,
            check=False,
        )
        return done.returncode, done.stdout

    def must(self, *command):
        """What the command printed; it has to succeed."""
        code, output = self.run(*command)
        if code != 0:
            raise RuntimeError(f"{' '.join(map(str, command))} ended with {code}:\n{output}")
        return output

    def commit(self, name, content):
        """Exit code and output of committing one new file; a blocked one is taken out of the index again."""
        text = content if isinstance(content, str) else json.dumps(content, indent=2) + "\n"
        (self.folder / name).write_text(text, encoding="utf-8")
        self.must("git", "add", name)
        code, output = self.run("git", "commit", "--quiet", "--message", f"add {name}")
        if code != 0:
            self.must("git", "rm", "--quiet", "--force", name)
        return code, output

    def commits(self):
        return int(self.must("git", "rev-list", "--count", "HEAD"))


# The schema passes two arguments, the kernel takes one.
KERNELS = """Tensor scale(const Tensor& x) { return x; }
TORCH_LIBRARY(demo, m) {
  m.def("scale(Tensor x, float by) -> Tensor");
  m.impl("scale", torch::kCPU, &scale);
}
"""


def offer_hook(folder, environment):
    """A repository that offers the working tree's hook file; its commit."""
    hooks = Git(folder, environment)
    shutil.copy(REPOSITORY / HOOK_FILE, folder)
    hooks.must("git", "add", HOOK_FILE)
    hooks.must("git", "commit", "--quiet", "--message", "offer the hook")
    return hooks.must("git", "rev-parse", "HEAD").strip()


def failures(scratch, opseal, pre_commit):
    """What went otherwise than it should, as sentences."""
    environment = isolated_environment(scratch, opseal)
    revision = offer_hook(scratch / "hooks", environment)

    user = Git(scratch / "user", environment)
    configuration = {
        "repos": [
            {"repo": str(scratch / "hooks"), "rev": revision, "hooks": [{"id": "opseal"}]}
        ]
    }
    # JSON is YAML too.
    (user.folder / ".pre-commit-config.yaml").write_text(json.dumps(configuration), encoding="utf-8")
    user.must("git", "add", ".pre-commit-config.yaml")
    user.must("git", "commit", "--quiet", "--message", "use the hook")
    user.must(pre_commit, "install")

    wrong = []

    def expect(condition, sentence, output):
        if not condition:
            wrong.append(f"{sentence}:\n{output}")

    code, output = user.commit("good.json", manifest(inputs=2, rules=2))
    expect(code == 0, "a good manifest was blocked", output)
    expect("Passed" in output, "the hook did not look at a good manifest", output)

    code, output = user.commit("bad.json", manifest(inputs=3, rules=4))
    expect(code != 0, "a manifest with 4 rules for 3 inputs was committed", output)
    expect("jvp-arity" in output, "the finding's rule was not shown", output)
    expect("4 JVP rules for 3 inputs" in output, "the finding's message was not shown", output)
    expect("bad.json" in output, "the finding's file was not shown", output)

    code, output = user.commit("package.json", {"name": "no manifest"})
    expect(code == 0, "JSON that is no manifest was blocked", output)

    code, output = user.commit("kernels.cpp", KERNELS)
    expect(code != 0, "a kernel with too few parameters was committed", output)
    expect("schema-arity" in output, "the rule of the finding in a source was not shown", output)

    code, output = user.commit("kernels.cpp", "int answer() { return 42; }\n")
    expect(code == 0, "a source whose only registration is gone was blocked", output)

    code, output = user.commit("plain.py", "print(42)\n")
    expect(code == 0, "a source that registers nothing was blocked", output)

    expect(user.commits() == 5, "what is good or registers nothing should be in the history", "")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--opseal", required=True, type=pathlib.Path, help="the program")
    parser.add_argument("--tools", required=True, type=pathlib.Path, help="virtual environment with pre-commit")
    options = parser.parse_args()

    pre_commit = options.tools.resolve() / "bin" / "pre-commit"
    if not pre_commit.is_file():
        print(f"skipped: pre-commit is not installed in {options.tools}")
        return 0
    with tempfile.TemporaryDirectory(prefix="opseal-pre-commit-") as scratch:
        wrong = failures(pathlib.Path(scratch).resolve(), options.opseal.resolve(), pre_commit)
    for sentence in wrong:
        print(sentence)
    if not wrong:
        print("commits were let through and blocked as they should be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""Every regular expression that may meet people's text takes time in proportion to its length."""

import ast
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PLACES = ("annotation", "config", "mtl_engine")
CALLS = {"compile", "match", "fullmatch", "search", "sub", "split", "findall", "finditer"}
LENGTH = 20_000  # of an attack: what is linear needs a millisecond for it, else seconds
MOST_SECONDS = 0.5  # of computing; what others do on this machine does not count
CPU_SECONDS = 120  # of all patterns: one that is exponential ends the child
QUADRATIC = r"search \w+:"  # a pattern that must not pass


def patterns():
    """Return every literal pattern of the product, and whether it is looked for anywhere in a text.

    One that is only matched from the beginning is spared the attempts at every other place.
    """
    trees = [
        ast.parse(path.read_text(encoding="utf-8"))
        for place in PLACES
        for path in (ROOT / place).rglob("*.py")
    ]
    calls = [
        node
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    ]
    names = {}  # of compiled patterns
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                names[id(node.value)] = node.targets[0].id
    used = {(node.func.value.id, node.func.attr) for node in calls if _is_name(node.func.value)}
    found = set()
    for node in calls:
        is_re = _is_name(node.func.value) and node.func.value.id == "re"
        first = node.args[0] if node.args else None
        is_text = isinstance(first, ast.Constant) and isinstance(first.value, str)
        if not is_re or not is_text or node.func.attr not in CALLS:
            continue
        verbs = {node.func.attr}
        if node.func.attr == "compile":
            name = names.get(id(node), "")
            verbs = {verb for owner, verb in used if owner == name} or {"search"}
        is_searched = not verbs <= {"match", "fullmatch"}
        found.add(f"{'search' if is_searched else 'match'} {first.value}")
    return sorted(found)


def _is_name(node):
    return isinstance(node, ast.Name)


def attacks(pattern):
    """Return long texts made of what a pattern asks for, none of which it can take whole."""
    literal = re.sub(r"\\[wdsSWDbB]|[\\^$*+?(){}\[\]|]", "", pattern)[:12]
    pieces = {"a", " ", "1", "-", "\t", "_a", "a:", "0 1;", "é", ". ", "http://", "<a ", '"', "\\"}
    pieces |= set(literal) | ({literal} if literal else set())
    for piece in sorted(pieces):
        text = piece * (LENGTH // len(piece))
        yield text + "\x00"
        yield "a" + text + "\n!"


def try_patterns(chosen):
    """Run every attack on every pattern."""
    for one in chosen:
        verb, _, pattern = one.partition(" ")
        compiled = re.compile(pattern)
        look = compiled.search if verb == "search" else compiled.match
        for text in attacks(pattern):
            started = time.process_time()
            look(text)
            compiled.fullmatch(text)
            if time.process_time() - started > MOST_SECONDS:
                print(repr(pattern), repr(text[:20]), flush=True)
                break


def slow_ones(chosen):
    """Return the patterns that take long, each with the beginning of the text that shows it."""
    limit = (CPU_SECONDS, CPU_SECONDS)
    done = subprocess.run(
        [sys.executable, "-m", "tests.annotation.formats.test_regexes", *chosen],
        cwd=ROOT, capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, limit),
    )  # fmt: skip
    assert done.returncode == 0, (done.stdout, done.stderr)
    return done.stdout.splitlines()


def test_no_pattern_takes_longer_than_its_text():
    wanted = patterns()
    assert len(wanted) > 20
    assert slow_ones(wanted) == []


def test_the_attacks_find_a_pattern_that_is_quadratic():
    assert len(slow_ones([QUADRATIC])) == 1


if __name__ == "__main__":
    try_patterns(sys.argv[1:])

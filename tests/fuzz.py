"""Feeds damaged input to everything that reads what others wrote: ``make fuzz``, or ``python -m tests.fuzz SECONDS``.

An input is made from the name of its kind and a seed, so that a failure can be made again. Each must give a value or
the sentence that its reader promises, within a few seconds. A seed that failed is printed and belongs into
`tests/fuzz_seeds.json`, whose seeds `tests/project/test_fuzz.py` tries in every `make test`.
"""

import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from holonomy.scene import SceneError, loads
from holonomy.scene.expression import compute, parse
from holonomy.scene.functions import FUNCTIONS
from holonomy.viewer.protocol import messages
from holonomy.viewer.protocol.codec import MessageError, decode, encode

ROOT = Path(__file__).resolve().parents[1]
SEEDS = Path(__file__).with_name("fuzz_seeds.json")
SLOW = 5.0
"""Seconds for one input."""
RUN_FILES = 2000
"""Mutated run files in one call of their own program."""
SIGNS = ("+", "-", "*", "/", "^", "**", "(", ")", ",", "<", ">=", ".", "__", "\0", "θ", "1e999", "e", "pi", " ")
EXAMPLES = [path.read_text() for path in sorted((ROOT / "examples").glob("*.toml"))]
VALUES = ("nan", "inf", "-1", "0", "1e308", "true", "[]", "{}", '""', '"x"', "[[]]", "9" * 400, "2020-01-01", "'''")
COMMANDS = [
    encode(command)
    for command in (
        messages.Step(3, False), messages.Seek(0.5, False), messages.DragMove(0.3, -1.0, 0.0), messages.Play(),
        messages.SetParameter("gravity", 0.0, False), messages.Export("csv"), messages.Seen(4),
    )
]  # fmt: skip


def damaged(text: str, chance: random.Random, words: tuple[str, ...]) -> str:
    """The text with a few pieces removed, doubled, replaced or moved."""
    for _ in range(chance.randint(1, 6)):
        at, end = sorted(chance.randrange(len(text) + 1) for _ in range(2))
        end = min(end, at + chance.choice((1, 1, 3, 20)))
        piece = chance.choice(("", chance.choice(words), text[at:end] * 2, chr(chance.randrange(0x11000))))
        text = text[:at] + piece + text[end:]
    return text


def formula(chance: random.Random, depth: int = 5) -> str:
    """A formula by the grammar."""
    if depth == 0 or chance.random() < 0.2:
        return chance.choice(("x", "y_dot", "pi", "2", "0.5", "1e-3", "9"))
    kind = chance.randrange(4)
    inner = formula(chance, depth - 1)
    if kind == 0:
        return f"{inner}{chance.choice('+-*/^')}{formula(chance, depth - 1)}"
    if kind == 1:
        return f"-({inner})"
    name = chance.choice(list(FUNCTIONS))
    return f"{name}({', '.join([inner] * chance.randint(1, 3))})"


def try_formula(chance: random.Random) -> str:
    text = formula(chance)
    text = damaged(text, chance, SIGNS) if chance.random() < 0.7 else text
    try:
        found = parse(text)
    except SceneError as error:
        return _sentence(error)
    try:
        compute(found.tree, dict.fromkeys(found.names, chance.uniform(-2, 2)))
    except (ArithmeticError, ValueError):
        return "no value"
    return "value"


def try_scene(chance: random.Random) -> str:
    text = chance.choice(EXAMPLES)
    if chance.random() < 0.5:
        lines = text.splitlines()
        at = chance.randrange(len(lines))
        head = lines[at].partition("=")[0]
        lines[at] = chance.choice((f"{head}= {chance.choice(VALUES)}", "", lines[chance.randrange(len(lines))]))
        text = "\n".join(lines)
    else:
        text = damaged(text, chance, (*VALUES, *SIGNS, "[", "]", "=", '"', "\n"))
    try:
        loads(text)
    except SceneError as error:
        return _sentence(error)
    return "scene"


def try_message(chance: random.Random) -> str:
    text = damaged(chance.choice(COMMANDS), chance, (*VALUES, "{", "}", '":', "null", "NaN", "\\ud800", "[" * 50))
    try:
        decode(text)
    except MessageError as error:
        return _sentence(error)
    return "command"


def _sentence(error: ValueError) -> str:
    said = str(error)
    if "\n" in said or len(said) > 2000 or not said.isprintable():
        raise AssertionError(f"This is no sentence: {said[:300]!r}")
    return "sentence"


KINDS: dict[str, Callable[[random.Random], str]] = {
    "formula": try_formula,
    "scene": try_scene,
    "message": try_message,
}


def tried(kind: str, seed: int) -> str:
    """What came of one input. Raises whatever its reader should not have raised, and `TimeoutError`."""
    begun = time.perf_counter()
    said = KINDS[kind](random.Random(f"{kind} {seed}"))
    if time.perf_counter() - begun > SLOW:
        raise TimeoutError(f"{kind} {seed} took {time.perf_counter() - begun:.1f} s.")
    return said


def many(kind: str, first: int, seconds: float) -> tuple[Counter[str], list[list[Any]]]:
    """Inputs from a first seed on for some seconds: the number of each outcome, and failures with their seeds."""
    outcomes: Counter[str] = Counter()
    failures: list[list[Any]] = []
    end, seed = time.monotonic() + seconds, first
    while time.monotonic() < end and len(failures) < 10:
        try:
            outcomes[tried(kind, seed)] += 1
        except Exception as error:  # noqa: BLE001 - reported with its seed
            failures.append([kind, seed, f"{type(error).__name__}: {error}"[:300]])
        seed += 1
    return outcomes, failures


def run_files(first: int, seconds: float) -> tuple[Counter[str], list[list[Any]]]:
    """The same for saved runs, by the program that has processes to spare."""
    outcomes: Counter[str] = Counter()
    failures: list[list[Any]] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end and not failures:
        with tempfile.TemporaryDirectory() as folder:
            command = [
                sys.executable,
                "-W",
                "ignore",
                "-m",
                "tests.motion.run.fuzz_run_files",
                str(first),
                str(RUN_FILES),
            ]
            done = subprocess.run([*command, folder], cwd=ROOT, capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        outcomes.update(found["outcomes"])
        failures += [["run file", row[0], row[2]] for row in found["wrong"]]
        first += RUN_FILES
    return outcomes, failures


def main(seconds: float, first: int | None = None) -> int:
    """Try each kind for so many seconds; 1 where something failed."""
    first = random.randrange(2**40) if first is None else first
    print(f"The first seed is {first}.")
    failures: list[list[Any]] = []
    for kind in (*KINDS, "run file"):
        found, wrong = run_files(first, seconds) if kind == "run file" else many(kind, first, seconds)
        failures += wrong
        print(f"{kind}: {sum(found.values())} inputs, {len(wrong)} failures; {dict(found)}", flush=True)
    for failure in failures:
        print(json.dumps(failure))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else None))

"""Runs native code between pages that may not be touched: ``python -m tests.trace.native.guarded_memory [shorter]``.

Every array that machine code is given lies in memory of its own, between two pages without access: once at the end of
it, so that an access behind its last byte ends the process (SIGSEGV), once at its beginning, so that one before the
first byte does. Arguments are read-only, results and scratch memory hold NaN before. The results must be those of
ordinary memory, bit for bit. `shorter` gives the first result one number less than the code writes, which must end the
process: so is shown that such a mistake would be seen.
"""

import ctypes
import mmap
import sys
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from tests.motion.test_travel import SYSTEMS

import holonomy as hl
from holonomy.trace.native import compiler

PAGE = mmap.PAGESIZE
NONE, READ = 0, 1  # PROT_NONE and PROT_READ of mprotect
_libc = ctypes.CDLL(None, use_errno=True)


class Guard:
    """Allocates arrays between forbidden pages, at one end of their own."""

    def __init__(self, at_end: bool):
        self._at_end = at_end
        self.arrays = 0

    def empty(self, shape: Sequence[int], dtype: Any) -> np.ndarray:
        """An array full of NaN, or of ones where numbers are no floats."""
        count = int(np.prod(shape, dtype=int))
        size = count * np.dtype(dtype).itemsize
        pages = -(-size // PAGE)
        memory = mmap.mmap(-1, (pages + 2) * PAGE)
        base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        start = (pages + 1) * PAGE - size if self._at_end else PAGE
        memory[PAGE : (pages + 1) * PAGE] = b"\xff" * (pages * PAGE)
        _protect(base, PAGE, NONE)
        _protect(base + (pages + 1) * PAGE, PAGE, NONE)
        self.arrays += 1
        return np.frombuffer(memory, dtype, count, start).reshape(shape)

    def copy(self, array: np.ndarray) -> np.ndarray:
        """The same numbers, read-only."""
        made = self.empty(array.shape, array.dtype)
        made[...] = array
        if made.size:
            first = made.ctypes.data // PAGE * PAGE
            _protect(first, -(-(made.ctypes.data + made.nbytes - first) // PAGE) * PAGE, READ)
        return made


def _protect(address: int, size: int, rights: int) -> None:
    if _libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size), rights):
        raise OSError(ctypes.get_errno(), "mprotect")


def guard_code(guard: Guard, shorter: bool) -> None:
    """Have all native code of this process use guarded memory."""

    def results(code: compiler.Code, *members: int) -> list[np.ndarray]:
        made = [guard.empty((*members, *shape), dtype) for shape, dtype in code.outputs]
        if shorter and made and made[0].size:
            made[0] = guard.empty((made[0].size - 1,), made[0].dtype)
        return made

    def run(self: compiler.Code, leaves: Sequence[np.ndarray], steps: int = 0) -> list[np.ndarray]:
        del steps
        inputs, outputs = [guard.copy(leaf) for leaf in leaves], results(self)
        scratch = guard.empty((self.scratch,), np.uint8)
        self.loaded.kernel(compiler._table([*inputs, *outputs]), scratch.ctypes.data)
        return [np.array(one) for one in outputs]

    def run_many(
        self: compiler.Code,
        leaves: Sequence[np.ndarray],
        mapped: Sequence[bool],
        count: int,
        steps: int | None = None,
    ) -> list[np.ndarray]:
        del steps
        inputs, outputs = [guard.copy(leaf) for leaf in leaves], results(self, count)
        apart = [a.strides[0] if m else 0 for a, m in zip(inputs, mapped, strict=True)]
        strides = guard.copy(np.array([*apart, *(one.strides[0] for one in outputs)], np.int64))
        scratch = guard.empty((self.scratch,), np.uint8)
        table = compiler._table([*inputs, *outputs])
        self.loaded.many(table, strides.ctypes.data, 0, count, scratch.ctypes.data)
        return [np.array(one) for one in outputs]

    compiler.Code.run = run
    compiler.Code.run_many = run_many


def moved() -> dict[str, list[np.ndarray]]:
    """What native code computes: single runs of many kinds, and an ensemble in vector lanes and beside them."""
    found = {}
    for name, (system, arguments, options) in SYSTEMS.items():
        if name in ("double_pendulum", "rod", "wall", "friction", "event", "loops", "sphere", "linkage rods"):
            run = hl.simulate(system, *arguments, **options)
            found[name] = [run.t, run.q, run.v, run.energy, run.events.t]
    starts = np.linspace(0.1, 1.0, 22).reshape(11, 2)
    many = hl.ensemble(hl.Pendulum([1.0, 0.7], [1.0, 0.5]), starts, np.zeros(2), 0.1, dt=0.01, engine="native")
    found["ensemble"] = [many.q, many.v, many.energy]
    large = compiler.compile(lambda x: (jnp.cumsum(x @ x.T, axis=0), jnp.linalg.solve(x @ x.T, x)), [np.eye(12)])
    found["arrays"] = large(np.eye(12) + 0.01 * np.arange(144.0).reshape(12, 12))
    for m in (7, 13):  # loops over arrays, whose ends are no multiples of what is taken at once
        found[f"lattice {m}"] = lattice(m)
    chain = hl.simulate(hl.Pendulum(np.ones(45), np.ones(45)), np.linspace(0, 1, 45), np.zeros(45), 0.1, dt=0.01)
    found["chain"] = [chain.q, chain.v, chain.energy]
    return {name: [np.asarray(one) for one in arrays] for name, arrays in found.items()}


def lattice(m: int) -> list[np.ndarray]:
    """Runs of m × m masses with springs between neighbours."""
    system = hl.System.from_lagrangian(
        lambda t, x, v: 0.5 * jnp.sum(v * v) - 0.5 * jnp.sum((x[1:] - x[:-1]) ** 2) - 0.25 * jnp.sum(x[:, 1:] ** 4),
        coordinates={"x": (m, m)},
    )
    start = np.sin(np.arange(m * m)).reshape(m, m)
    runs = [hl.simulate(system, start, 0 * start, 0.1, dt=0.01, method=method) for method in (hl.RK4(), hl.Gauss(2))]
    return [np.asarray(array) for run in runs for array in (run.q, run.v, run.energy)]


def main() -> None:
    """Compare guarded with ordinary memory, and print how many arrays were guarded."""
    shorter = sys.argv[1:] == ["shorter"]
    run, run_many = compiler.Code.run, compiler.Code.run_many
    ordinary = {} if shorter else moved()
    total = 0
    for at_end in (True, False):
        compiler.Code.run, compiler.Code.run_many = run, run_many
        guard = Guard(at_end)
        guard_code(guard, shorter)
        there = moved()
        for name, arrays in ordinary.items():
            for mine, other in zip(arrays, there[name], strict=True):
                np.testing.assert_array_equal(mine, other, err_msg=name)
        total += guard.arrays
    print(total)


if __name__ == "__main__":
    main()

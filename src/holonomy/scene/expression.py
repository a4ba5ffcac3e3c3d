r"""Formulas typed by a user, read into a tree of seven kinds of node and never executed as Python.

    comparison := sum [("<" | "<=" | ">" | ">=") sum]          only as the first argument of where
    sum        := product (("+" | "-") product)*
    product    := signed (("*" | "/") signed)*
    signed     := ("+" | "-") signed | power
    power      := atom [("^" | "**") signed]                   so -x^2 = -(x^2) and a^b^c = a^(b^c)
    atom       := number | name | function "(" comparison ("," comparison)* ")" | "(" sum ")"

A part without names is computed at once, in floating point: `9**9**9` overflows at no cost and is refused.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from holonomy.scene.errors import SceneError, clipped, suggestion
from holonomy.scene.functions import CONSTANTS, FUNCTIONS
from holonomy.scene.tokens import Token, excerpt, tokens

DEEPEST = 50
"""Levels of parentheses, signs and powers inside each other in one formula."""

LARGEST = 2_000
"""Numbers, names and signs in one formula."""


@dataclass(frozen=True)
class Number:
    """A finite constant."""

    value: float


@dataclass(frozen=True)
class Name:
    """A coordinate, a rate, a parameter, a definition or time."""

    name: str


@dataclass(frozen=True)
class Negate:
    """Minus a part."""

    part: Node


@dataclass(frozen=True)
class Chain:
    """A sum or a product, from left to right: flat, so that long ones are not deep."""

    first: Node
    rest: tuple[tuple[str, Node], ...]


@dataclass(frozen=True)
class Power:
    """A base to an exponent."""

    base: Node
    exponent: Node


@dataclass(frozen=True)
class Call:
    """A function of `FUNCTIONS` at its arguments."""

    function: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True)
class Compare:
    """A comparison: the condition of `where`."""

    sign: str
    left: Node
    right: Node


Node = Number | Name | Negate | Chain | Power | Call | Compare

OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
"""What each sign means, on floats and on arrays."""


@dataclass(frozen=True)
class Expression:
    """A formula: its text as typed, and its tree."""

    text: str
    tree: Node = field(compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The names the formula uses, in the order of their first appearance."""
        return tuple(dict.fromkeys(node.name for node in _walk(self.tree) if isinstance(node, Name)))

    def span_of(self, name: str) -> tuple[int, int] | None:
        """Where a name stands first in the text: its first character and the one after its last."""
        return next((word.span for word in tokens(self.text) if word.kind == "name" and word.text == name), None)


def number(value: float) -> Expression:
    """The formula that is one number."""
    return Expression(repr(float(value)), Number(float(value)))


def parse(text: str) -> Expression:
    """The formula that `text` spells.

    **Raises** `SceneError`, with the place and the reason, for anything outside the grammar above, for text longer,
    deeper or larger than the limits of this module, and for constants that are not finite.
    """
    words = tokens(text)
    if len(words) > LARGEST:
        raise SceneError(
            f"this formula has {len(words) - 1} parts; at most {LARGEST} are allowed; use [let] to split it."
        )
    if len(words) == 1:
        raise SceneError("this formula is empty.")
    return Expression(text, _Parser(text, words).whole())


def children(node: Node) -> tuple[Node, ...]:
    """The parts a node is made of."""
    match node:
        case Number() | Name():
            return ()
        case Negate(part):
            return (part,)
        case Chain(first, rest):
            return (first, *(part for _, part in rest))
        case Power(base, exponent):
            return (base, exponent)
        case Call(_, arguments):
            return arguments
        case Compare(_, left, right):
            return (left, right)


def _walk(tree: Node) -> Iterator[Node]:
    yield tree
    for child in children(tree):
        yield from _walk(child)


def compute(node: Node, values: Mapping[str, float] = MappingProxyType({})) -> float:
    """The value of a tree in Python floats, its names taken from `values`.

    **Raises** `ArithmeticError` or `ValueError` where there is no finite value.
    """
    match node:
        case Number(value):
            return value
        case Name(name):
            return values[name]
        case Negate(part):
            return -compute(part, values)
        case Chain(first, rest):
            value = compute(first, values)
            for sign, part in rest:
                value = OPERATORS[sign](value, compute(part, values))
        case Power(base, exponent):
            value = math.pow(compute(base, values), compute(exponent, values))
        case Call(function, arguments):
            value = FUNCTIONS[function].number(*(compute(argument, values) for argument in arguments))
        case Compare(sign, left, right):
            return float(OPERATORS[sign](compute(left, values), compute(right, values)))
    if not math.isfinite(value):
        raise OverflowError
    return value


class _Parser:
    """Recursive descent over the tokens, with the depth counted and every node checked as it is made."""

    def __init__(self, text: str, words: list[Token]):
        self.text = text
        self.words = words
        self.place = 0
        self.depth = 0

    def whole(self) -> Node:
        node = self.sum()
        if self.here.text in ("<", "<=", ">", ">="):
            raise self.error("a comparison is only for the first argument of where(…)")
        if self.here.kind != "end":
            raise self.error(self.unexpected())
        return node

    @property
    def here(self) -> Token:
        return self.words[self.place]

    def take(self, *texts: str) -> str | None:
        """The present sign, passed over, when it is one of these."""
        if self.here.kind == "sign" and self.here.text in texts:
            self.place += 1
            return self.words[self.place - 1].text
        return None

    def error(self, problem: str) -> SceneError:
        return SceneError(f'{problem}, at "{excerpt(self.text, self.here.at)}".', span=self.here.span)

    def unexpected(self) -> str:
        if self.here.kind in ("number", "name") or self.here.text == "(":
            return f'there is no operator before "{clipped(self.here.text)}" (a product is written with *)'
        return f'"{self.here.text}" is not expected here'

    def comparison(self) -> Node:
        left = self.sum()
        sign = self.take("<", "<=", ">", ">=")
        return left if sign is None else self.made(Compare(sign, left, self.sum()))

    def sum(self) -> Node:
        return self.chain(self.product, "+", "-")

    def product(self) -> Node:
        return self.chain(self.signed, "*", "/")

    def chain(self, part: Callable[[], Node], *signs: str) -> Node:
        first = part()
        rest: list[tuple[str, Node]] = []
        while (sign := self.take(*signs)) is not None:
            rest.append((sign, part()))
        return self.made(Chain(first, tuple(rest))) if rest else first

    def signed(self) -> Node:
        self.depth += 1
        if self.depth > DEEPEST:
            raise SceneError(
                f"this formula nests more than {DEEPEST} signs, powers and parentheses; use [let] to split it.",
                span=self.here.span,
            )
        sign = self.take("+", "-")
        if sign is None:
            node = self.power()
        else:
            part = self.signed()
            node = self.made(Negate(part)) if sign == "-" else part
        self.depth -= 1
        return node

    def power(self) -> Node:
        base = self.atom()
        return base if self.take("^", "**") is None else self.made(Power(base, self.signed()))

    def atom(self) -> Node:
        word = self.here
        if self.take("("):
            node = self.sum()
            self.close()
            return node
        if word.kind == "number":
            self.place += 1
            value = float(word.text)
            if not math.isfinite(value):
                raise SceneError(
                    f"the number {clipped(word.text)} is too large for a floating-point number.", span=word.span
                )
            return Number(value)
        if word.kind == "name":
            self.place += 1
            if self.take("("):
                return self.call(word)
            if word.text in FUNCTIONS:
                raise self.error(f"the function {word.text} needs its arguments in parentheses")
            return Number(CONSTANTS[word.text][0]) if word.text in CONSTANTS else Name(word.text)
        if word.kind == "end":
            problem = f'the formula "{excerpt(self.text, len(self.text))}" ends where a value is expected.'
            raise SceneError(problem, span=word.span)
        raise self.error(f'a value is expected where "{word.text}" stands')

    def call(self, word: Token) -> Node:
        function = FUNCTIONS.get(word.text)
        if function is None:
            problem = f'there is no function "{clipped(word.text)}"{suggestion(word.text, FUNCTIONS)}'
            raise SceneError(problem, span=word.span)
        arguments = [] if self.here.text == ")" else [self.comparison()]
        while self.take(","):
            arguments.append(self.comparison())
        self.close()
        span = (word.at, self.words[self.place - 1].span[1])
        if not function.least <= len(arguments) <= function.most:
            raise SceneError(f"{word.text} takes {function.arguments()}, here it has {len(arguments)}.", span=span)
        for place, argument in enumerate(arguments):
            condition = word.text == "where" and place == 0
            if condition and not isinstance(argument, Compare):
                raise SceneError("the first argument of where is a comparison, such as where(x < 0, a, b).", span=span)
            if isinstance(argument, Compare) and not condition:
                problem = f"{word.text} is given a comparison; only the first argument of where is one."
                raise SceneError(problem, span=span)
        return self.made(Call(word.text, tuple(arguments)))

    def close(self) -> None:
        if self.take(")") is None:
            raise self.error('a closing parenthesis ")" is missing' if self.here.kind == "end" else self.unexpected())

    def made(self, node: Node) -> Node:
        """`node`, computed when it has no names in it."""
        if isinstance(node, Compare) or not all(isinstance(child, Number) for child in children(node)):
            return node
        try:
            return Number(compute(node))
        except (ArithmeticError, ValueError):
            raise self.error("a part of this formula has no finite value") from None

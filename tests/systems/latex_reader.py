"""Reads formulas back from LaTeX and gives their value: just enough to check what is printed by means of its own."""

import math
import re

TOKEN = re.compile(r"\\(?:left|right)(?=[^a-zA-Z])|\\[a-zA-Z]+|\d+(?:\.\d+)?|[a-zA-Z]|\S")
FUNCTIONS = {"\\" + name: getattr(math, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")}
FUNCTIONS |= {r"\log": math.log, r"\operatorname{asinh}": math.asinh}


def lines(latex: str) -> list[tuple[str, str]]:
    """The two sides of each equation of an `aligned` environment."""
    body = latex.removeprefix("\\begin{aligned}\n").removesuffix("\n\\end{aligned}")
    sides = [line.split(" &= ") for line in body.split(" \\\\\n")]
    return [(left, right) for left, right in sides]


def value(latex: str, names: dict[str, float]) -> float:
    """The number that a formula stands for, where the names it uses have these values."""
    reader = Reader(latex, names)
    result = reader.sum()
    assert reader.at == len(reader.tokens), reader.tokens[reader.at :]
    return result


class Reader:
    def __init__(self, latex: str, names: dict[str, float]):
        self.tokens = [t for t in TOKEN.findall(latex) if t not in (r"\left", r"\right")]
        self.names = names
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, wanted: str | None = None) -> str:
        token = self.tokens[self.at]
        assert wanted in (None, token), f"{wanted} expected before {self.tokens[self.at :]}"
        self.at += 1
        return token

    def sum(self) -> float:
        total = 0.0
        while True:
            sign = 1.0
            if self.peek() in ("+", "-"):
                sign = -1.0 if self.take() == "-" else 1.0
            total += sign * self.product()
            if self.peek() not in ("+", "-"):
                return total

    def product(self) -> float:
        result = self.power()
        while self.peek() not in ("+", "-", "}", ")", "", "="):
            if self.peek() == r"\cdot":
                self.take()
            result *= self.power()
        return result

    def power(self) -> float:
        base = self.atom()
        return base ** self.exponent() if self.peek() == "^" else base

    def exponent(self) -> float:
        self.take("^")
        return self.group()

    def group(self) -> float:
        self.take("{")
        result = self.sum()
        self.take("}")
        return result

    def raw(self) -> str:
        """A group as it stands, without its outer braces."""
        self.take("{")
        depth, text = 1, ""
        while True:
            token = self.take()
            depth += {"{": 1, "}": -1}.get(token, 0)
            if depth == 0:
                return text
            text += token

    def atom(self) -> float:
        token = self.take()
        if token == "(":
            result = self.sum()
            self.take(")")
            return result
        if token == r"\frac":
            return self.group() / self.group()
        if token == r"\sqrt":
            return math.sqrt(self.group())
        if token == "e" and self.peek() == "^":
            return math.exp(self.exponent())
        if token in FUNCTIONS:
            power = self.exponent() if self.peek() == "^" else 1.0
            return FUNCTIONS[token](self.group()) ** power
        if re.fullmatch(r"\d+(\.\d+)?", token):
            return float(token)
        name = token
        if token in (r"\dot", r"\ddot", r"\mathrm"):
            name += "{" + self.raw() + "}"
        if self.peek() == "_":
            name += self.take() + "{" + self.raw() + "}"
        return self.names[name]

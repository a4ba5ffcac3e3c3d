"""What a method preserves, as flags; the words that certificates print are made from these."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Properties:
    r"""What a method preserves and how it judges its own steps.

    **Fields:** `symplectic`, a step keeps \(dp \wedge dq\); `reversible`, a step of \(-h\) undoes a step of h;
    `stiffly_accurate`, the end of a step is its last stage; `error_control`, the length of inner steps follows from a
    tolerance, `to_round_off` where that tolerance is the precision of the numbers.
    """

    symplectic: bool = False
    reversible: bool = False
    stiffly_accurate: bool = False
    error_control: bool = False
    to_round_off: bool = False

    def __post_init__(self) -> None:
        if self.to_round_off and not self.error_control:
            raise ValueError("A method whose errors are controlled to_round_off has error_control too; pass both.")

    @property
    def words(self) -> str:
        """The properties as a person reads them, such as ``"symplectic, reversible"``; empty for none."""
        said = [word for name, word in _WORDS.items() if getattr(self, name)]
        return ", ".join(said) + (" to round-off" if self.to_round_off else "")

    @staticmethod
    def from_words(words: str) -> Properties:
        """The flags of such a text; the inverse of `words`."""
        said = words.split(", ")
        to_round_off = _WORDS["error_control"] + " to round-off" in said
        flags = {name: word in said for name, word in _WORDS.items()}
        flags["error_control"] |= to_round_off
        return Properties(**flags, to_round_off=to_round_off)


# in the order in which they are said; error control comes last, because "to round-off" belongs to it
_WORDS = {
    "symplectic": "symplectic",
    "reversible": "reversible",
    "stiffly_accurate": "stiffly accurate",
    "error_control": "error control",
}

"""What the checks of methods and systems raise."""

from __future__ import annotations


class CheckFailed(AssertionError):
    """A check does not hold: `check` names it, `residual` is by how much, `allowed` how much would do."""

    def __init__(self, subject: str, check: str, meaning: str, residual: float, allowed: float):
        self.check, self.residual, self.allowed = check, residual, allowed
        super().__init__(
            f"{subject} fails the check {check!r} ({meaning}): the residual is {residual:.3g}, at most "
            f"{allowed:.3g} is allowed."
        )


def judge(subject: str, meanings: dict[str, str], found: dict[str, tuple[float, float]]) -> dict[str, float]:
    """The residuals by name; raises for the first above what is allowed (NaN is above everything)."""
    for name, (residual, allowed) in found.items():
        if not residual <= allowed:
            raise CheckFailed(subject, name, meanings[name], residual, allowed)
    return {name: residual for name, (residual, _) in found.items()}

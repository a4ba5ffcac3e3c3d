"""The widgets of a notebook: the studio's viewer over anywidget."""

from __future__ import annotations

import json
from typing import Any

import anywidget
import traitlets

from holonomy.show.notebook_session import Live, Refusal
from holonomy.viewer.bundle import bundle
from holonomy.viewer.recording import Recording

_BUNDLE = bundle()


class AbstractView(anywidget.AnyWidget):
    """What the viewer is told when it opens: a recording's head and numbers, and what may be asked of the kernel."""

    _esm = _BUNDLE.script
    _css = _BUNDLE.style
    head = traitlets.Dict().tag(sync=True)
    numbers = traitlets.Bytes().tag(sync=True)
    height = traitlets.Int(620).tag(sync=True)
    autoplay = traitlets.Bool(True).tag(sync=True)
    commands = traitlets.List(traitlets.Unicode()).tag(sync=True)


class RunView(AbstractView):
    """A recorded run in the viewer. The recording goes to the page as a whole, so it replays without a kernel."""

    def __init__(self, recording: Recording, *, height: int, autoplay: bool):
        super().__init__(head=recording.head(), numbers=recording.numbers(), height=height, autoplay=autoplay)

    def __repr__(self) -> str:
        lab = self.head["welcome"]["lab"]
        return f"RunView({lab['title']!r}: {self.head['rows']} states, {len(lab['bodies'])} bodies)"


class StudioView(AbstractView):
    """A system in motion in the viewer, computed by the notebook's own Python a little ahead of what is shown."""

    def __init__(self, live: Live, *, height: int, autoplay: bool):
        recording = live.recording
        super().__init__(
            head=recording.head(), numbers=recording.numbers(), commands=list(live.commands), height=height,
            autoplay=autoplay,
        )  # fmt: skip
        self.live = live
        self.on_msg(self._hear)

    def __repr__(self) -> str:
        lab = self.head["welcome"]["lab"]
        return f"StudioView({lab['title']!r}: {', '.join(self.live.system.names)}; {len(lab['bodies'])} bodies)"

    def answer(self, content: Any) -> tuple[dict[str, Any], bytes | None]:
        """What to say to a message of the page, with the numbers that go with it."""
        from holonomy.viewer.protocol.codec import MessageError, decode

        try:
            match content:
                case {"type": "more", "epoch": int(epoch), "first": int(first), "rows": int(rows)}:
                    return self._more(epoch, first, rows)
                case {"type": "change", "row": int(row), "command": dict(command)}:
                    at, numbers, controls = self.live.turn(decode(json.dumps(command)), row)
                    told = {"type": "turn", "epoch": self.live.epoch, "row": at, "controls": controls}
                    return told, numbers
                case _:
                    return {"type": "refused", "message": "The page asked for something unknown.", "command": ""}, None
        except (Refusal, MessageError) as error:
            return {"type": "refused", "message": str(error), "command": ""}, None

    def _more(self, epoch: int, first: int, rows: int) -> tuple[dict[str, Any], bytes]:
        if epoch != self.live.epoch:
            return {"type": "rows", "epoch": epoch, "first": first, "rows": 0, "message": ""}, b""
        count, numbers = self.live.rows(max(0, first), rows)
        message = self.live.message if count == 0 else ""
        return {"type": "rows", "epoch": epoch, "first": first, "rows": count, "message": message}, numbers

    def _hear(self, _: Any, content: Any, __: Any) -> None:
        told, numbers = self.answer(content)
        self.send(told, None if numbers is None else [numbers])

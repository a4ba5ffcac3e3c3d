"""Messages are strict: exactly a known command, or a sentence that says what is wrong."""

import dataclasses
import json
import typing

import hypothesis
import pytest
from hypothesis import strategies as st

from holonomy.viewer.protocol import messages
from holonomy.viewer.protocol.codec import LONGEST_MESSAGE, MessageError, decode, encode

EXAMPLES = [
    messages.Play(),
    messages.Pause(),
    messages.Step(-3, True),
    messages.Seek(1.5, False),
    messages.DragBegin(1),
    messages.DragMove(0.1, -2.0, 0.0),
    messages.DragEnd(0.0, 0.0, 0.0),
    messages.SetParameter("g", 9.81, False),
    messages.SetChoice("model", "elastic"),
    messages.SetToggle("ghost", True),
    messages.SetText("lagrangian", "m v²/2", True),
    messages.Act("ghost"),
    messages.SetSpeed(2.0),
    messages.Reset(True),
    messages.Undo(),
    messages.Redo(),
    messages.Share(),
    messages.Restore('{"version":1}'),
    messages.Export("netcdf"),
    messages.AskEquations(),
    messages.Cancel(),
    messages.Seen(4),
]


def test_there_is_an_example_of_every_command():
    assert {type(example) for example in EXAMPLES} == set(messages.COMMANDS) == set(typing.get_args(messages.Command))


@pytest.mark.parametrize("command", EXAMPLES, ids=lambda command: messages.tag(type(command)))
def test_commands_come_back_as_they_went(command):
    assert decode(encode(command)) == command


def test_what_a_page_says_for_every_frame_is_read_in_any_spelling():
    for text in ('{"type":"seen","sequence":7}', '{"sequence": 7, "type": "seen"}'):
        assert decode(text) == messages.Seen(7)
    assert decode('{"type":"seen","sequence":4294967295}') == messages.Seen(2**32 - 1)
    for wrong in ("4294967296", "-1", "1.0", "007", "٣"):
        with pytest.raises(MessageError):
            decode(f'{{"type":"seen","sequence":{wrong}}}')


def test_whole_numbers_may_stand_for_reals_but_not_the_other_way():
    assert decode('{"type":"set-speed","value":2}') == messages.SetSpeed(2.0)
    with pytest.raises(MessageError, match=r"step\.frames must be of type int"):
        decode('{"type":"step","frames":1.0,"repeat":false}')


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[" * 3000, "not JSON"),
        ("[]", "a list came"),
        ("null", "a NoneType came"),
        ("{}", "type is None"),
        ('{"type":"open"}', "type is 'open'"),
        ('{"type":["play"]}', "type is"),
        ('{"type":"play","now":1}', "members"),
        ('{"type":"step","frames":1}', "members"),
        ('{"type":"play","type":"pause"}', "once"),
        ('{"type":"step","frames":true,"repeat":false}', "must be of type int"),
        ('{"type":"step","frames":601,"repeat":false}', "between -600 and 600"),
        ('{"type":"step","frames":1,"repeat":0}', "must be of type bool"),
        ('{"type":"drag-begin","body":-1}', "between 0"),
        ('{"type":"drag-move","x":NaN,"y":0,"z":0}', "NaN"),
        ('{"type":"drag-move","x":1e999,"y":0,"z":0}', "finite"),
        ('{"type":"drag-move","x":-Infinity,"y":0,"z":0}', "Infinity"),
        ('{"type":"drag-move","x":1e7,"y":0,"z":0}', "between"),
        ('{"type":"drag-move","x":"1","y":0,"z":0}', "must be of type float"),
        ('{"type":"drag-move","x":1%s,"y":0,"z":0}' % ("0" * 400), "finite"),
        ('{"type":"set-speed","value":0}', "between 0.01 and 10"),
        ('{"type":"set-parameter","name":"%s","value":1,"settled":true}' % ("g" * 65), "64 characters"),
        ('{"type":"export","kind":"exe"}', "one of html, python"),
        ('{"type":"export","kind":["python"]}', "one of html, python"),
        ('{"type":"restore","document":"%s"}' % ("x" * 49153), "at most 49152"),
        (" " * (LONGEST_MESSAGE + 1), "at most"),
    ],
)  # fmt: skip
def test_what_is_not_a_command_is_refused_in_a_sentence(text, sentence):
    with pytest.raises(MessageError, match=sentence) as caught:
        decode(text)
    assert len(str(caught.value)) < 400


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@hypothesis.given(
    kind=st.sampled_from(sorted(map(messages.tag, messages.COMMANDS))),
    members=st.dictionaries(
        st.sampled_from(["frames", "repeat", "body", "x", "y", "name", "value", "settled", "defaults", "sequence"]),
        json_values,
        max_size=3,
    ),
)
def test_any_members_give_a_command_within_limits_or_a_refusal(kind, members):
    try:
        command = decode(json.dumps({"type": kind, **members}))
    except MessageError:
        return
    assert decode(encode(command)) == command
    assert set(dataclasses.asdict(command)) == set(members)


@hypothesis.given(st.text(max_size=200))
def test_any_text_at_all_gives_a_refusal(text):
    with pytest.raises(MessageError):
        decode(text)

"""The vocabulary between Python and the page: in step, and exact to the bit."""

import dataclasses
import re
import typing

import numpy as np
import pytest

from holonomy.viewer.protocol import export_formats, messages, typescript


def frame(**changes):
    rng = np.random.default_rng(7)
    plain = messages.Frame(
        sequence=5,
        flags=messages.FrameFlag.PLAYING | messages.FrameFlag.BEHIND,
        revision=3,
        time=1.25,
        drift=-3e-14,
        rate=0.5,
        oldest=0.25,
        newest=7.5,
        steps=960,
        q=rng.normal(size=2),
        v=rng.normal(size=2),
        energy=rng.normal(size=3),
        channel=rng.normal(size=7),
        position=rng.normal(size=(3, 2)),
        strain=rng.normal(size=2),
        sample=rng.normal(size=(4, 10)),
    )
    return dataclasses.replace(plain, **changes)


def test_every_kind_of_export_has_a_row():
    kinds = {*typing.get_args(export_formats.Kind), *typing.get_args(export_formats.PageKind)}
    assert kinds == set(export_formats.BY_KIND)
    assert len(kinds) == len(export_formats.FORMATS)


def test_the_pages_types_are_in_step_with_python():
    written = typescript.TARGET.read_text(encoding="utf-8")
    assert written == typescript.generate(), "run `python -m holonomy.viewer.protocol.typescript`"


def test_frames_keep_every_bit():
    odd = np.array([-0.0, 5e-324])
    before = frame(q=odd, time=np.nextafter(1.0, 2.0), sample=np.full((1, 10), np.nan))
    after = messages.unpack(messages.pack(before))
    for field in dataclasses.fields(messages.Frame):
        was, now = getattr(before, field.name), getattr(after, field.name)
        assert np.asarray(was).tobytes() == np.asarray(now).tobytes(), field.name
        assert np.shape(was) == np.shape(now), field.name


def test_an_empty_sample_keeps_its_width():
    assert messages.unpack(messages.pack(frame(sample=np.zeros((0, 10))))).sample.shape == (0, 10)


@pytest.mark.parametrize("cut", [0, 20, 55, -1, -8])
def test_a_frame_of_the_wrong_length_is_refused(cut):
    with pytest.raises(ValueError, match="bytes"):
        messages.unpack(messages.pack(frame())[:cut])


def test_arrays_are_aligned_and_the_header_packs_its_fields():
    hints = typing.get_type_hints(messages.FrameHeader, include_extras=True)
    assert messages.HEADER.format == "<" + "".join(hint.__metadata__[0] for hint in hints.values())
    assert messages.HEADER.size % 8 == 0
    data = messages.pack(frame())
    offsets = [int(n) for n in re.findall(r"view\.get\w+\((\d+), true\)", typescript.generate())]
    assert offsets == [4 * i for i in range(12)] + [48 + 8 * i for i in range(6)]
    assert np.frombuffer(data, "<f8", count=1, offset=offsets[messages.HEADER_FIELDS.index("time")])[0] == 1.25
    assert np.frombuffer(data, "<u4", count=1, offset=offsets[messages.HEADER_FIELDS.index("sequence")])[0] == 5


def test_flags_are_distinct_bits():
    values = [flag.value for flag in messages.FrameFlag]
    assert all(value & (value - 1) == 0 for value in values)
    assert len(set(values)) == len(values)

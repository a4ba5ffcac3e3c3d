"""Thumbnails of presets: those that ship belong to the presets as they are now, and begin with the opening pose."""

import base64
import json

import numpy as np
import pytest

from holonomy.studio import thumbnails
from holonomy.studio.labs import all_labs
from holonomy.viewer.protocol.codec import encode
from holonomy.viewer.protocol.messages import Catalogue

LABS = {lab.name: lab for lab in all_labs() if thumbnails.file_of(lab).is_file()}  # a lab may do without
LARGEST_CATALOGUE = 400_000


@pytest.mark.parametrize("name", LABS)
def test_every_preset_has_a_thumbnail_of_its_present_settings(name):
    lab = LABS[name]
    kept = json.loads(thumbnails.file_of(lab).read_text("utf-8"))
    assert list(kept) == [preset.name for preset in lab.descriptor.presets]
    for preset in lab.descriptor.presets:
        wanted = json.loads(json.dumps(thumbnails.made_from(lab, preset)))
        assert kept[preset.name]["made_from"] == wanted, f"python -m holonomy.studio.thumbnails {name}"


@pytest.mark.parametrize("name", LABS)
def test_a_thumbnail_moves_within_its_frame(name):
    for preset, picture in thumbnails.read(LABS[name]).items():
        places = np.frombuffer(base64.b64decode(picture.places), "<i2").reshape(picture.frames, picture.count, 2)
        assert np.abs(places).max() <= 32767
        assert np.ptp(places.astype(int), axis=0).max() > 500, f"{preset} stands still"
        assert all(point < picture.count for line in picture.lines for point in line.points)
        assert all(dot.point < picture.count for dot in picture.dots)


def test_the_opening_pose_of_a_pendulum_is_the_first_frame():
    lab = LABS["pendulum"]
    for preset in lab.descriptor.presets:
        settings = lab.preset(preset.name)
        if settings.choices["model"] != "rigid" or settings.toggles["ghost"]:
            continue
        picture = thumbnails.read(lab)[preset.name]
        places = np.frombuffer(base64.b64decode(picture.places), "<i2").reshape(picture.frames, picture.count, 2)
        angles, _ = lab.start(settings)
        lengths = np.array([settings.parameters[f"length{i + 1}"] for i in range(len(angles))])
        bobs = np.cumsum(lengths[:, None] * np.stack([np.sin(angles), -np.cos(angles)], axis=1), axis=0)
        extent = lab.extents(settings)[0]
        np.testing.assert_allclose(places[0, 1:] / 32767 * extent, bobs, rtol=0, atol=1e-4 * extent)


def test_the_catalogue_is_small_and_says_what_each_lab_is_about():
    cards = tuple(thumbnails.card(lab) for lab in LABS.values())
    assert len(encode(Catalogue(cards))) < LARGEST_CATALOGUE
    assert all(card.sentence.endswith(".") for card in cards)

"""The page about scenes says what the code does."""

import re
from pathlib import Path

from holonomy.scene import loads
from holonomy.scene.expression import DEEPEST, LARGEST
from holonomy.scene.manual import TABLES, renewed
from holonomy.scene.tokens import LONGEST

PAGE = (Path(__file__).parents[2] / "docs" / "scenes.md").read_text(encoding="utf-8")


def test_tables_are_up_to_date() -> None:
    assert renewed(PAGE) == PAGE, "run: python -m holonomy.scene.manual docs/scenes.md"
    assert set(re.findall(r"<!-- table: (\w+) -->", PAGE)) == set(TABLES)


def test_the_table_of_methods_on_the_page_about_motion_is_up_to_date() -> None:
    page = (Path(__file__).parents[2] / "docs" / "motion.md").read_text(encoding="utf-8")
    assert renewed(page) == page, "run: python -m holonomy.scene.manual docs/motion.md"
    assert re.findall(r"<!-- table: (\w+) -->", page) == ["table_of_methods"]


def test_the_table_of_symbols_and_units_is_up_to_date() -> None:
    page = (Path(__file__).parents[2] / "docs" / "notation.md").read_text(encoding="utf-8")
    assert renewed(page) == page, "run: python -m holonomy.scene.manual docs/notation.md"
    assert re.findall(r"<!-- table: (\w+) -->", page) == ["quantities"]


def test_scenes_on_the_page_are_scenes() -> None:
    scenes = [text for text in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL) if not text.startswith("#:schema")]
    assert len(scenes) == 8
    for text in scenes:
        loads(text)


def test_limits_on_the_page_are_the_limits() -> None:
    assert f"at most {LONGEST:_} characters, {LARGEST:_} parts and {DEEPEST} levels".replace("_", " ") in PAGE

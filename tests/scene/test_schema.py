"""The JSON Schema of scenes: in step with the reader, and right about every example."""

import copy
import dataclasses
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from holonomy.scene import SceneError, from_table, schema
from holonomy.scene.forms import form_of
from holonomy.scene.json_schema import FILE, text
from holonomy.scene.spec import METHODS, RECORDS, MethodChoice

EXAMPLES = sorted(Path(__file__).parents[2].glob("examples/*.toml"))
VALIDATOR = Draft202012Validator(schema())


def test_the_shipped_file_is_what_the_dataclasses_say() -> None:
    assert FILE.read_text(encoding="utf-8") == text(), "run: holonomy schema > src/holonomy/scene/scene.schema.json"


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(schema())


def test_every_key_has_a_form_and_a_meaning() -> None:
    for record in RECORDS:
        for field in dataclasses.fields(record):
            assert form_of(field).words()
            assert field.metadata["doc"]


def test_every_option_belongs_to_a_method() -> None:
    options = {field.name for field in dataclasses.fields(MethodChoice)} - {"name"}
    assert options == {option for row in METHODS.values() for option in row.options}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_valid_and_say_where_their_schema_is(path: Path) -> None:
    content = path.read_text(encoding="utf-8")
    assert (path.parent / content.splitlines()[0].removeprefix("#:schema ")).resolve() == FILE.resolve()
    table = tomllib.loads(content)
    assert [error.message for error in VALIDATOR.iter_errors(table)] == []
    from_table(table)


WRONG: list[tuple[str, Any]] = [
    ("title", 3),
    ("lagrangian", 3),
    ("lagrangian", ""),
    ("lagrangian", "x" * 10_001),
    ("unknown", 1),
    ("coordinates", {"theta1": "angel", "theta2": "angle"}),
    ("coordinates", []),
    ("coordinates", {"a b": "angle"}),
    ("parameters", {"m": True}),
    ("parameters", [1]),
    ("let", {"_x": "1"}),
    ("positions", ["x1", "y1"]),
    ("positions", [["1", "2", "3", "4"]]),
    ("masses", [1, 1]),
    ("model", "kepler"),
    ("initial", {"p": [1, 2]}),
    ("initial", {"q": []}),
    ("motion", {"t_end": True}),
    ("motion", {"t_end": 1, "save_every": 0}),
    ("motion", {"t_end": 1, "method": "gaus"}),
    ("motion", {"t_end": 1, "method": {"name": "gauss", "stages": 9}}),
    ("motion", {"t_end": 1, "method": {"stages": 2}}),
    ("outputs", {"netcdf": "../run.nc"}),
    ("outputs", {"netcdf": "run.txt"}),
    ("outputs", {"picture": 1}),
]


@pytest.mark.parametrize(("key", "value"), WRONG, ids=lambda part: str(part)[:40])
def test_schema_and_reader_refuse_the_same(key: str, value: Any) -> None:
    table = tomllib.loads((EXAMPLES[0].parent / "double.toml").read_text(encoding="utf-8"))
    assert VALIDATOR.is_valid(table)
    wrong = copy.deepcopy(table) | {key: value}
    assert not VALIDATOR.is_valid(wrong)
    with pytest.raises(SceneError):
        from_table(wrong)


@pytest.mark.parametrize("missing", ["lagrangian", "coordinates", "initial", "motion"])
def test_schema_and_reader_miss_the_same(missing: str) -> None:
    table = tomllib.loads((EXAMPLES[0].parent / "double.toml").read_text(encoding="utf-8"))
    del table[missing]
    assert not VALIDATOR.is_valid(table)
    with pytest.raises(SceneError):
        from_table(table)

"""Whether a project has tests, and which commands check it, as its files say."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.core.running import checks, tests_exist
from orchestrator.core.running.tests_exist import Detection
from orchestrator.errors import Refused


@pytest.mark.parametrize(
    ("path", "is_source"),
    [
        ("a.py", True), ("src/deep/a.ts", True), ("A.PY", True), ("main.go", True), ("x.rs", True), ("s.sql", True),
        ("README.md", False), ("docs/conf.py", False), ("LICENSE", False), ("a.txt", False), ("data.json", False),
        ("Makefile", False), ("py", False), ("tests/test_a.py", False), ("tests/conftest.py", False),
        ("a/test_b.py", False), ("a.test.ts", False), ("pkg/a_test.go", False), ("README.py", False),
        ("src/tests.py", True),
    ],
)  # fmt: skip
def test_source_is_code_that_is_neither_documentation_nor_a_test(path: str, is_source: bool) -> None:
    assert tests_exist.is_source(path) is is_source


@pytest.mark.parametrize(
    "path",
    [
        "test_a.py", "deep/er/a_test.py", "src/a.test.js", "a.test.tsx", "a.spec.mjs", "x/__tests__/a.js",
        "pkg/a_test.go", "tests/it.rs", "crate/tests/it.rs", "src/test/java/ATest.java", "spec/a_spec.rb",
        "t/basic.t", "lib/a_test.exs", "tests/AppTest.php", "test_x.c", "a.bats",
    ],
)  # fmt: skip
def test_a_test_is_known_by_its_name(path: str) -> None:
    assert tests_exist.own_tests(["src/a.py", path]) == (path,)


@pytest.mark.parametrize(
    "path",
    ["contest.py", "tests/conftest.py", "testing.py", "atest.js", "node/a.test.json", "src/lib.rs", "tests.py",
     ".venv/lib/site-packages/x/test_x.py", "vendor/a/a_test.go", "target/tests/a.rs", "a.testXts"],
)  # fmt: skip
def test_other_names_and_the_tests_of_others_are_none(path: str) -> None:
    assert tests_exist.own_tests([path]) == ()


@pytest.mark.parametrize(
    ("task_type", "touched", "paths"),
    [
        ("IMPLEMENTATION", ["a.py"], ["a.py", "test_a.py"]),
        ("IMPLEMENTATION", ["README.md"], ["a.py"]),
        ("IMPLEMENTATION", ["test_a.py"], ["a.py"]),
        ("IMPLEMENTATION", [], []),
        ("IMPLEMENTATION", None, ["a_test.go"]),
        ("LIGHT_EDIT", ["a.py"], ["a.py"]),
        ("READ_INFO", None, []),
    ],
)
def test_work_may_begin(task_type: str, touched: list[str] | None, paths: list[str]) -> None:
    found = tests_exist.require(task_type, touched, paths)
    assert set(found) <= set(paths)


@pytest.mark.parametrize(
    ("touched", "paths"),
    [(["a.py"], ["a.py"]), (["README.md", "src/b.ts"], ["README.md"]), (None, []), (None, ["a.py", "README.md"])],
)
def test_source_without_tests_is_e211(touched: list[str] | None, paths: list[str]) -> None:
    with pytest.raises(Refused) as caught:
        tests_exist.require("IMPLEMENTATION", touched, paths)
    assert caught.value.code == "E211"


def test_other_signs_of_tests_count_and_detection_can_be_set() -> None:
    assert tests_exist.require("IMPLEMENTATION", ["a.c"], ["a.c"], other_tests=("make test",)) == ("make test",)
    own = Detection(source_extensions=(".foo",), test_files=("checks/**", "*.check.foo", "a?b"))
    assert not tests_exist.is_source("a.py", own)
    assert tests_exist.own_tests(["checks/x/y.foo", "b/a.check.foo", "a?b", "axb", "checks"], own) == (
        "a?b", "b/a.check.foo", "checks/x/y.foo",
    )  # fmt: skip
    assert tests_exist.own_tests(["test_a.py"], Detection(test_files=())) == ()


folders = st.lists(st.sampled_from(["src", "lib", "a b", "é", "x.y"]), max_size=4)


@settings(max_examples=100)
@given(folders, st.sampled_from(["main.py", "lib.rs", "app.ts", "x.go"]), st.booleans())
def test_p11_an_implementation_begins_only_where_a_test_lies_somewhere(
    folder: list[str], source: str, tested: bool
) -> None:
    paths = ["/".join([*folder, source]), "docs/a.md"]
    if tested:
        paths.append("/".join([*reversed(folder), "test_main.py"]))
        assert tests_exist.require("IMPLEMENTATION", paths[:1], paths) == tuple(paths[2:])
    else:
        with pytest.raises(Refused, match="no tests"):
            tests_exist.require("IMPLEMENTATION", paths[:1], paths)


PYTEST, NPM_TEST = ("python3", "-m", "pytest"), ("npm", "run", "test")


@pytest.mark.parametrize(
    ("paths", "texts", "found"),
    [
        pytest.param([], {}, checks.Checks(), id="nothing"),
        pytest.param(["a.py"], {}, checks.Checks(), id="source alone"),
        pytest.param(["tests/test_a.py"], {}, checks.Checks(tests=(PYTEST,)), id="tests of Python"),
        pytest.param(["a.py"], {"pyproject.toml": "[tool.pytest.ini_options]\n[tool.ruff]\n[tool.mypy]\nfiles='a'"},
                     checks.Checks((("python3", "-m", "ruff", "check", "."),), (PYTEST,), (("python3", "-m", "mypy"),)),
                     id="pyproject"),
        pytest.param(["pyrightconfig.json"], {"setup.cfg": "[flake8]\n[tool:pytest]\n"},
                     checks.Checks((("python3", "-m", "flake8"),), (PYTEST,), (("python3", "-m", "pyright"),)),
                     id="setup.cfg"),
        pytest.param(["mypy.ini"], {"pyproject.toml": "[[["},
                     checks.Checks(types=(("python3", "-m", "mypy", "."),)), id="a pyproject that is none"),
        pytest.param([], {"setup.cfg": "[mypy]\nstrict = 1\npackages = a\n"},
                     checks.Checks(types=(("python3", "-m", "mypy"),)), id="mypy with packages"),
        pytest.param([], {"package.json": '{"scripts": {"test": "jest", "lint": "eslint .", "build": "tsc"}}'},
                     checks.Checks((("npm", "run", "lint"),), (NPM_TEST,), (), (("npm", "run", "build"),)), id="npm"),
        pytest.param(["pnpm-lock.yaml"], {"package.json": '{"scripts": {"typecheck": "tsc"}}'},
                     checks.Checks(types=(("pnpm", "run", "typecheck"),)), id="pnpm"),
        pytest.param([], {"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'},
                     checks.Checks(), id="npm without tests"),
        pytest.param([], {"package.json": '{"scripts": {"test": 5, "lint": " "}}'}, checks.Checks(), id="npm, numbers"),
        pytest.param([], {"package.json": "[]"}, checks.Checks(), id="package.json, a list"),
        pytest.param([], {"package.json": "{bad"}, checks.Checks(), id="package.json, no JSON"),
        pytest.param([], {"package.json": '{"scripts": []}'}, checks.Checks(), id="scripts, a list"),
        pytest.param(["go.mod"], {}, checks.Checks(
            (("go", "vet", "./..."),), (("go", "test", "./..."),), (), (("go", "build", "./..."),)), id="Go"),
        pytest.param(["Cargo.toml"], {}, checks.Checks((), (("cargo", "test"),), (("cargo", "check", "--all-targets"),),
                     (("cargo", "build"),)), id="Cargo"),
        pytest.param([], {"Makefile": ".PHONY: test\nCC := cc\nX=1\ntest lint: a\n\tcc\nbuild::\n"},
                     checks.Checks((("make", "lint"),), (("make", "test"),), (), (("make", "build"),)), id="make"),
        pytest.param(["test_a.py"], {"Makefile": "test:\n\tpytest\nlint:\n"},
                     checks.Checks((("make", "lint"),), (PYTEST,)), id="make only where there is nothing else"),
        pytest.param(["go.mod", "test_a.py"], {}, checks.Checks(
            (("go", "vet", "./..."),), (PYTEST, ("go", "test", "./...")), (), (("go", "build", "./..."),)), id="two"),
    ],
)  # fmt: skip
def test_a_project_has_the_checks_that_it_declares(
    paths: list[str], texts: dict[str, str], found: checks.Checks
) -> None:
    assert checks.detect(paths, texts) == found


def test_a_tool_table_that_is_none_declares_nothing() -> None:
    assert checks.detect([], {"pyproject.toml": "tool = 1"}) == checks.Checks()


def test_what_the_settings_name_goes_before_what_is_found() -> None:
    own = Detection(checks=(("tests", (("./check",),)), ("lint", ())))
    texts = {"pyproject.toml": "[tool.ruff]\n[tool.pytest]"}
    assert checks.detect(["a.py"], texts, detection=own) == checks.Checks(tests=(("./check",),))


def test_a_target_that_runs_tests_is_a_sign_of_them() -> None:
    assert checks.make_tests({"GNUmakefile": "tests:\n"}) == ("make tests",)
    assert checks.make_tests({"Makefile": "all:\n"}) == ()

"""The mutants: all of them are found, a noticed one is killed, an unnoticed one is told of."""

from __future__ import annotations

import argparse
import ast
import builtins
import contextlib
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence

import pytest

from orchestrator.core.routing import rules
from orchestrator.core.validation import checks
from orchestrator.core.workflow import problems
from orchestrator.store import declared_schema, gaps, guards, migrate, path_history, settings_rules
from tests import conftest
from tools.mutants import __main__ as mutants
from tools.mutants import altering, catalogue, hosting, probing, reach, redundant, relations, sqltext, table
from tools.mutants.catalogue import Mutant
from tools.mutants.hosting import Outcome, Trial
from tools.mutants.journal import Journal
from tools.mutants.table import Verdict

RAISED = re.compile(r"^ +raise (?:errors\.)?(?:Refused|InvalidInput|UsageError)\(", re.MULTILINE)
TRIALS = """
import json, sys
from tools.mutants import hosting
found = {}
trials = [hosting.Trial("", tests.split()) for tests in sys.argv[1:]]
hosting.run(trials, lambda place, outcome: found.update({place: outcome}), jobs=2, timeout=8)
print(json.dumps([found[place] for place in sorted(found)]))
"""
FAKES = """
import os, time
def test_passes(tmp_path):
    assert tmp_path.exists()
def test_fails():
    assert 1 == 2
def test_hangs():
    time.sleep(600)
def test_takes_a_while():
    time.sleep(3)
def test_takes_a_while_too():
    time.sleep(3)
def test_takes_its_time():
    time.sleep(3)
def test_dies():
    os._exit(1)
"""
SHORT = {
    "rule": "redirect rule escalation",
    "admission": "refuse merge",
    "check": "Every deferred group is acknowledged",
    "workflow": "An action that starts no agent names none.",
    "guard": "SESSION_CLOSED in refuse_state",
    "branch": "origin is not None is True in require_own_page",
    "relation": "r.role = 'project_manager' is 1 in plans",
    "trigger": "UPDATE OF kind on task_groups",
    "part": "handoff_agent IS NOT NULL is 0",
}
ASKED = (
    "tests/unit/routing/test_redirect_rules.py",
    "tests/unit/routing/test_admission.py",
    "tests/unit/validation/test_checks.py",
    "tests/unit/workflow/test_checks_table.py",
    "tests/integration/store/test_guards_rows.py",
    "tests/integration/store/test_guards.py",
    "tests/integration/app/test_forged_plans.py",
    "tests/unit/doors/test_web_access.py",
)


@pytest.fixture(scope="module")
def found() -> dict[str, Mutant]:
    """Every mutant by its name."""
    return {mutant.name: mutant for mutant in catalogue.everything()}


def of(found: dict[str, Mutant], kind: str) -> list[str]:
    return [name.partition(":")[2] for name, mutant in found.items() if mutant.kind == kind]


def run(*arguments: str, cwd: pathlib.Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(catalogue.ROOT)}
    argv = [sys.executable, *arguments]
    return subprocess.run(
        argv, cwd=cwd or catalogue.ROOT, env=environment, capture_output=True, text=True, timeout=600, check=False
    )


# --- what noticed them


def test_every_test_that_noticed_a_mutant_is_there() -> None:
    # Their names are read from the results, where a test that was renamed would be forgotten by `--fast` in silence.
    missing = []
    assert conftest.GUARDED
    for file, names in conftest.GUARDED.items():
        path = catalogue.ROOT / file
        present = set(_functions(ast.parse(path.read_text("utf-8")))) if path.exists() else set()
        missing += [f"{file}::{name}" for name in names if name.partition("[")[0] not in present]
    assert missing == []


def test_a_fast_run_leaves_no_guard_out_where_a_case_was_renamed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conftest, "GUARDED", {"tests/a.py": {"test_plain", "test_cases[old]", "test_more[kept]"}})
    present = ["tests/a.py::test_plain", "tests/a.py::test_cases[new]", "tests/a.py::test_cases[other]"]
    present += ["tests/a.py::test_more[kept]", "tests/a.py::test_more[not named]", "tests/b.py::test_plain"]
    assert conftest.guarding(present) == set(present[:4])


def _functions(node: ast.Module | ast.ClassDef, prefix: str = "") -> Iterator[str]:
    """The functions of a module and its classes, as pytest writes them."""
    for child in node.body:
        if isinstance(child, ast.FunctionDef):
            yield f"{prefix}{child.name}"
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{prefix}{child.name}::")


# --- finding them


def test_every_trigger_is_a_mutant(found: dict[str, Mutant]) -> None:
    whole = [name for name in of(found, "trigger") if ":" not in name]
    assert whole == [name for name, _ in (*guards.TRIGGERS, *guards.VERSION_TRIGGERS)]


def test_every_case_of_a_trigger_that_refuses_several_is_a_mutant(found: dict[str, Mutant]) -> None:
    for name, sql in guards.TRIGGERS:
        # A CASE that compares one value with words refuses every other word after ELSE.
        cases = sql.count("THEN RAISE(") + (sql.count("ELSE RAISE(") if "SELECT CASE (" in sql else 0)
        mutants_of_it = [each for each in of(found, "trigger") if each.startswith(f"{name}:")]
        assert len(mutants_of_it) == (cases if cases > 1 else 0)


def test_every_rule_check_and_problem_is_a_mutant(found: dict[str, Mutant]) -> None:
    assert of(found, "rule") == [f"{place}:{name}" for place, (_, name, _) in enumerate(rules.RULES)]
    assert of(found, "check") == sorted(checks.CHECKS)
    assert of(found, "workflow") == list(problems.CATALOGUE)


def test_every_step_of_admission_is_a_mutant(found: dict[str, Mutant]) -> None:
    assert {"refuse_state", "refuse_turn", "refuse_status", "refuse_content"} <= set(of(found, "admission"))


def test_every_error_that_a_use_case_raises_is_a_mutant(found: dict[str, Mutant]) -> None:
    raised = set()
    for file in (catalogue.ROOT / "orchestrator/app").rglob("*.py"):
        text = file.read_text("utf-8")
        module = ".".join(file.relative_to(catalogue.ROOT / "orchestrator").with_suffix("").parts)
        raised |= {f"{module}:{text[: each.start()].count(chr(10)) + 1}" for each in RAISED.finditer(text)}
    assert raised - set(of(found, "guard")) == set()
    assert len(raised) > 50


def test_every_view_that_decides_has_terms(found: dict[str, Mutant]) -> None:
    assert {part.partition(":")[0] for part in of(found, "part")} == {name for name, _ in guards.VIEWS}


def test_every_statement_between_rows_has_terms_and_is_swapped_wherever_it_is_kept(found: dict[str, Mutant]) -> None:
    said = relations.statements()
    assert set(gaps.STATEMENTS.values()) | {settings_rules.PEOPLE} <= set(said.values())
    without_terms = {name for name, sql in said.items() if not sqltext.terms(sql)}
    assert {each.rpartition(":")[0] for each in of(found, "relation")} == said.keys() - without_terms
    rule = gaps._OTHERS[0]
    relations.swap(rule.sql, "SELECT 1")
    try:
        assert [each.sql for each in (gaps._OTHERS[0], gaps._OTHERS[1])] == ["SELECT 1", gaps._OTHERS[1].sql]
        assert gaps.STATEMENTS[f"{rule.kind} {rule.table}"] == "SELECT 1"
    finally:
        relations.swap("SELECT 1", rule.sql)


def test_a_branch_lacks_the_term_at_its_place_alone_and_keeps_what_is_named_in_it() -> None:
    source = "if a and (found := b) and not c:\n    pass\nif d[0]:\n    pass"
    places = [(1, 3), (1, 10), (1, 26), (3, 3)]
    changed = [
        ast.unparse(altering._Lacking(line, column, instead=column > 3 or line == 1).visit(ast.parse(source)))
        for line, column in places
    ]
    assert [text.splitlines()[0 if place[0] == 1 else 2] for text, place in zip(changed, places, strict=True)] == [
        "if True and (found := b) and (not c):", "if a and ((found := b), True)[1] and (not c):",
        "if a and (found := b) and True:", "if False:",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("take", "rest"),
    [(altering._trigger, "task_groups_completed_needs_path:8"), (altering._part, "group_marks:128")],
)
def test_an_earlier_form_of_a_statement_stays_as_its_migration_made_it(
    take: Callable[[str], None], rest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TRIGGERS", "VIEWS", "VERSION_TRIGGERS"):
        monkeypatch.setattr(guards, name, getattr(guards, name))
    monkeypatch.setattr(migrate, "statements", migrate.statements)
    files = sorted((catalogue.ROOT / "migrations/versions").glob("*.sql"))
    before = [sql for file in files for sql in migrate.statements(file)]
    statements = dict(guards.TRIGGERS) | dict(guards.VIEWS)
    take(rest)
    after = [sql for file in files for sql in migrate.statements(file)]
    name = rest.partition(":")[0]
    altered = (dict(guards.TRIGGERS) | dict(guards.VIEWS))[name]
    assert [*filter(lambda pair: pair[0] != pair[1], zip(before, after, strict=True))] == [
        (sql, altered)
        for sql in before
        if declared_schema.normalised(sql) == declared_schema.normalised(f"{statements[name]};")
    ]
    assert altered in after


def test_what_is_imported_only_after_the_functions_were_looked_for_is_altered_too(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "imported_late.py").write_text("def refuse():\n    raise ValueError\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    altering.prepare()
    altering.rewrite("imported_late", altering._Passing(2))
    assert sys.modules["imported_late"].refuse() is None


PROBED = """
def outer(word):
    def inner():
        return word
    if word == "a":
        raise ValueError
    elif (word ==
            "b"):
        return inner()
    try:
        for each in word:
            yield_ = each
    finally:
        word = (
            word)
    return word
"""


@pytest.mark.parametrize(
    ("word", "reached"),
    [("a", [3, 5, 6]), ("b", [3, 4, 5, 7, 8, 9]), ("c", [3, 5, 7, 8, 10, 11, 12, 14, 15, 16])],
)
def test_each_line_that_is_asked_about_is_told_when_it_is_reached(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, word: str, reached: list[int]
) -> None:
    name = f"probed_{word}"
    (tmp_path / f"{name}.py").write_text(PROBED, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    told: list[str] = []
    monkeypatch.setattr(builtins, probing.CALLED, None, raising=False)
    probing.install([(f"{name}.py", line) for line in range(1, 20)], told.append)
    with contextlib.suppress(ValueError):
        sys.modules[name].outer(word)
    assert sorted(told) == sorted(f"{name}.py:{line}" for line in reached)


@pytest.mark.parametrize("kind", ["rule", "admission", "check", "workflow", "guard", "branch"])
def test_a_mutant_of_the_program_knows_its_lines(found: dict[str, Mutant], kind: str) -> None:
    assert [mutant.name for mutant in found.values() if mutant.kind == kind and not mutant.lines] == []


@pytest.mark.parametrize(
    ("condition", "taken"),
    [
        pytest.param("CASE WHEN a = 1 THEN 2 END", ["CASE WHEN 0 THEN 2 END"], id="one term"),
        pytest.param(
            "CASE WHEN a AND (b OR c) THEN 2 END",
            ["CASE WHEN 1 AND (b OR c) THEN 2 END", "CASE WHEN a AND (0 OR c) THEN 2 END",
             "CASE WHEN a AND (b OR 0) THEN 2 END"],
            id="terms within brackets",
        ),
        pytest.param("CASE WHEN 1 THEN 2 END", [], id="what always holds"),
        pytest.param("CASE x WHEN 'word' THEN 2 END", [], id="the words of a case"),
        pytest.param("SELECT 1 FROM t WHERE 'AND' = a ORDER BY b", ["SELECT 1 FROM t WHERE 0 ORDER BY b"], id="a text"),
        pytest.param("SELECT a AND b FROM t", ["SELECT 1 AND b FROM t", "SELECT a AND 1 FROM t"], id="a selected one"),
    ],
)  # fmt: skip
def test_each_term_of_a_condition_is_taken_away(condition: str, taken: list[str]) -> None:
    assert [sqltext.without(condition, term) for term in sqltext.terms(condition)] == taken


def test_each_case_that_a_trigger_refuses_is_taken_away() -> None:
    made = "CREATE TRIGGER a BEFORE INSERT ON t\nWHEN x\nBEGIN\n  SELECT CASE {} END;\nEND".format
    cases = "WHEN {} THEN RAISE(ABORT, 'a')\n    WHEN {} THEN RAISE(ABORT, 'b')".format
    several = made(cases("f() IS NOT 1", "EXISTS (SELECT 1 FROM u WHERE CASE WHEN y THEN 1 END)"))
    assert [sqltext.without(several, case) for case in sqltext.refusals(several)] == [
        made(cases("0", "EXISTS (SELECT 1 FROM u WHERE CASE WHEN y THEN 1 END)")), made(cases("f() IS NOT 1", "0")),
    ]  # fmt: skip


def test_of_a_case_of_words_the_refusal_of_every_other_word_is_a_case_too() -> None:
    words = "SELECT CASE (SELECT a FROM t) WHEN {} THEN RAISE(ABORT, 'a') WHEN 'b' THEN 1 ELSE {} END".format
    whole = words("'a'", "RAISE(ABORT, 'c')")
    assert [sqltext.without(whole, case) for case in sqltext.refusals(whole)] == [
        words("0", "RAISE(ABORT, 'c')"), words("'a'", "0"),
    ]  # fmt: skip
    assert len(sqltext.refusals("SELECT CASE WHEN a THEN RAISE(ABORT, 'a') ELSE RAISE(ABORT, 'b') END")) == 1


def test_a_silent_trigger_keeps_its_name_and_place() -> None:
    made = "CREATE TRIGGER a BEFORE UPDATE OF x ON t\nWHEN 1\nBEGIN\n  SELECT RAISE(ABORT, 'no');\nEND"
    silent = "CREATE TRIGGER a BEFORE UPDATE OF x ON t\nWHEN 0\nBEGIN\n  SELECT 1;\nEND"
    assert [sqltext.silent(made, name) for name in ("a", "b")] == [silent, made]


def test_a_sample_is_spread_over_all() -> None:
    every = [Mutant(f"rule:{number}", "") for number in range(10)]
    assert [mutant.name for mutant in mutants.spread(every, 3)] == ["rule:0", "rule:3", "rule:6"]
    assert mutants.spread(every, 20) == every


def test_a_mutant_of_a_statement_is_told_of_where_what_is_used_of_the_answer_differs() -> None:
    mutants_of = {
        "SELECT 1 WHERE 1": {"more": "SELECT 1 UNION ALL SELECT 1", "none": "SELECT 1 WHERE 0", "unwanted": "SELECT 2"},
        "SELECT 2 WHERE 1": {"two": "SELECT 2 UNION ALL SELECT 2", "same": "SELECT 2"},
    }
    told: list[str] = []
    connection = sqlite3.connect(":memory:")
    watching = relations._Watching(connection, mutants_of, told.append, lambda name: name != "unwanted")
    for sql in mutants_of:
        watching.execute(sql)
    # Of a statement that asks whether there is a row, their number is not used.
    assert told == ["none", "two"]


def test_whatever_takes_a_connection_is_watched() -> None:
    owners = {(getattr(owner, "__name__", ""), name) for owner, name, _ in relations._reading(path_history)}
    assert {("orchestrator.store.path_history", "unproven"), ("History", "__init__")} <= owners


def test_a_large_record_is_not_watched() -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE audit_events (seq)")
    given: list[object] = []

    def read(connection: object) -> None:
        given.append(connection)

    called = relations._watched(read, {}, given.append, bool)
    for count in (relations.LARGE, 1):
        connection.executemany("INSERT INTO audit_events VALUES (?)", [(seq,) for seq in range(count)])
        called(connection)
    assert [each is connection for each in given] == [False, True]


# --- judging them


def test_what_stands_behind_another_guard_is_told_apart_from_what_no_test_notices() -> None:
    behind = Mutant("trigger:texts_are_never_changed:0", "UPDATE on texts: a stranger")
    lone = Mutant("trigger:agents_update_needs_orchestrator", "UPDATE on agents")
    words = [
        mutants.weighed(Verdict(mutant, Outcome(word))).outcome.word
        for mutant in (behind, lone)
        for word in (hosting.SURVIVED, hosting.KILLED)
    ]
    assert words == [hosting.REDUNDANT, hosting.KILLED, hosting.SURVIVED, hosting.KILLED]


def test_every_reason_for_a_redundant_guard_fits_a_guard(found: dict[str, Mutant]) -> None:
    reasons = {redundant.reason(mutant) for mutant in found.values()}
    assert {why for _, why in redundant.BEHIND} <= reasons


@pytest.mark.slow
def test_each_end_of_a_trial_has_its_word(tmp_path: pathlib.Path) -> None:
    (tmp_path / "test_fakes.py").write_text(FAKES, "utf-8")
    tests = [f"test_fakes.py::test_{name}" for name in ("passes", "fails", "hangs", "dies", "nowhere")]
    tests.append(" ".join(f"test_fakes.py::test_takes_{name}" for name in ("a_while", "a_while_too", "its_time")))
    done = run("-c", TRIALS, *tests, cwd=tmp_path)
    assert [outcome[:2] for outcome in json.loads(done.stdout)] == [
        [hosting.SURVIVED, ""],
        [hosting.KILLED, tests[1]],
        [hosting.HUNG, ""],
        [hosting.BROKEN, ""],
        [hosting.BROKEN, ""],
        [hosting.SURVIVED, ""],
    ]


def test_what_fails_without_a_mutant_as_well_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    both = [Mutant(f"rule:{number}:a", f"rule {number}") for number in range(3)]
    outcomes = [
        Outcome(hosting.KILLED, "t.py::test_a\nt.py::test_b", "no\nno"), Outcome(hosting.KILLED, "t.py::test_b"),
        Outcome(hosting.KILLED, "t.py::test_c"), Outcome(hosting.SURVIVED),
    ]  # fmt: skip

    def run(trials: Sequence[Trial], told: hosting.Told, **_: object) -> None:
        assert [trial.name for trial in trials] == ["", *(mutant.name for mutant in both)]
        for place, outcome in enumerate(outcomes):
            told(place, outcome)

    monkeypatch.setattr(hosting, "run", run)
    assert mutants.again(both, {}) == []
    noticing = {"tests/tools/test_mutants.py::test_x", "tests/gone.py::test_y"}
    before = {("rule", mutant.what): noticing for mutant in both}
    tried = mutants.again(both, before)
    assert tried[0] == Trial("", ["tests/tools/test_mutants.py::test_x"], lenient=True)
    kept: list[Mutant] = []
    options = argparse.Namespace(jobs=1, timeout=1)
    found = mutants.heard(both, tried, options, lambda mutant, _: kept.append(mutant), only_killed=True)
    assert [*found] == kept == [both[1]]


def test_what_is_certain_is_kept_for_a_run_that_goes_on_with_it(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "kept"
    outcomes = [Outcome(word, "t", "no") for word in (hosting.KILLED, hosting.SURVIVED, hosting.HUNG, hosting.BROKEN)]
    of_them = [Mutant(f"guard:app.a:{line}", "A in a") for line in range(len(outcomes))]
    for mutant, outcome in zip(of_them, outcomes, strict=True):
        Journal(file).add(mutant, outcome)
    with file.open("a", encoding="utf-8") as lines:
        lines.write('["guard:app.a:2", "A in')
    kept = Journal(file)
    assert [kept.of(mutant) for mutant in of_them] == [*outcomes[:2], None, None]
    assert kept.of(Mutant("guard:app.a:0", "B in a")) is None


def test_a_verdict_counts_for_the_tests_that_gave_it(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reach, "KEPT", tmp_path)
    mutant, asked = Mutant("rule:0:a", "first"), ["tests/unit/test_blockers.py", "tests/unit/routing"]
    Journal(reach.verdicts(asked)).add(mutant, Outcome(hosting.SURVIVED))
    known = {
        tests: Journal(reach.verdicts(tests)).of(mutant) is not None
        for tests in (tuple(asked), (*reversed(asked), asked[0]), tuple(asked[:1]), ("tests/unit",), ())
    }
    assert list(known.values()) == [True, True, False, False, False]


def test_results_are_counted_by_kind_and_written_section_by_section(tmp_path: pathlib.Path) -> None:
    first = [
        Verdict(Mutant("rule:0:a", "first"), Outcome(hosting.KILLED, "tests/unit/t.py::test_a", "no")),
        Verdict(Mutant("rule:1:b", "second"), Outcome(hosting.SURVIVED)),
        Verdict(Mutant("check:V01", "third"), Outcome(hosting.HUNG)),
    ]
    assert table.counts(first) == [("rule", 2, 1, 0, 0, 1, 0), ("check", 1, 1, 1, 0, 0, 0), ("all", 3, 2, 1, 0, 1, 0)]
    file = tmp_path / "RESULTS.md"
    table.write(file, first)
    table.write(file, [Verdict(Mutant("check:V01", "third"), Outcome(hosting.BROKEN, "", "why"))])
    text = file.read_text("utf-8")
    assert re.findall(r"^## (\w+)", text, re.MULTILINE) == ["check", "rule"]
    assert "| 0:a | first | unit/t.py::test_a |" in text
    assert "| V01 | third | **broken** why |" in text


def test_what_is_known_is_written_without_trying_the_rest(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reach, "verdicts", lambda _: tmp_path / "kept")
    of_them = [Mutant(f"rule:{number}:a", f"rule {number}") for number in range(2)]
    of_them.append(Mutant("trigger:texts_are_never_changed:0", "UPDATE on texts: a stranger"))
    Journal(tmp_path / "kept").add(of_them[0], Outcome(hosting.KILLED, "tests/t.py::test_a", "no"))
    found = mutants.judge(of_them, argparse.Namespace(known=True, tests=None))
    assert [verdict.outcome.word for verdict in found] == [hosting.KILLED, hosting.UNTRIED, hosting.REDUNDANT]
    assert [verdict.is_well for verdict in found] == [True, False, True]
    table.write(tmp_path / "RESULTS.md", found)
    assert "1 killed, 0 redundant, 0 survived, 0 broken, 1 untried." in (tmp_path / "RESULTS.md").read_text("utf-8")


def test_what_noticed_a_mutant_before_is_tried_first(tmp_path: pathlib.Path) -> None:
    file, mutant = tmp_path / "RESULTS.md", Mutant("guard:app.a:1", "A | B in a")
    table.write(file, [Verdict(mutant, Outcome(hosting.KILLED, "tests/t.py::test_c", "no"))])
    tests = ["tests/t.py::test_a", "tests/t.py::test_b", "tests/t.py::test_c"]
    moved = Mutant("guard:app.a:9", "A | B in a")
    assert mutants.ordered(tests, moved, table.noticed(file)) == [tests[2], *tests[:2]]
    assert mutants.ordered(tests, Mutant("guard:app.a:1", "other"), table.noticed(file)) == tests


def test_results_of_some_mutants_are_corrected_among_the_others(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "RESULTS.md"
    survived, killed = Outcome(hosting.SURVIVED), Outcome(hosting.KILLED, "tests/t.py::test_a", "no")
    first, second = Mutant("guard:app.a:1", "A in a"), Mutant("guard:app.a:2", "B in b | c")
    table.write(file, [Verdict(first, survived), Verdict(second, survived), Verdict(Mutant("check:V01", "v"), killed)])
    table.correct(file, [Verdict(second, killed)], [first, second])
    corrected = file.read_text("utf-8")
    table.write(file, [Verdict(first, survived), Verdict(second, killed)])
    assert file.read_text("utf-8") == corrected
    assert "2 mutants: 1 killed, 0 redundant, 1 survived, 0 broken." in corrected


def test_results_of_some_mutants_stand_among_all_that_there_are_now(tmp_path: pathlib.Path) -> None:
    file, killed = tmp_path / "RESULTS.md", Outcome(hosting.KILLED, "tests/t.py::test_a", "no")
    gone, moved = Mutant("guard:app.a:1", "gone in a"), Mutant("guard:app.a:2", "moves in a")
    twice = [Mutant(f"guard:app.a:{line}", "twice in a") for line in (3, 4)]
    table.write(
        file,
        [Verdict(each, killed._replace(test=f"test_{each.name[-1]}")) for each in (gone, moved, *twice)],
    )
    now = {line: Mutant(f"guard:app.a:{line}", what) for line, what in (
        (2, "new in a"), (5, "moves in a"), (6, "twice in a"), (7, "twice in a"), (8, "asked in a"),
    )}  # fmt: skip
    survived = Verdict(now[8], Outcome(hosting.SURVIVED), ("tests/unit", "tests/t.py"))
    table.correct(file, [survived], list(now.values()))
    rows = [line for line in file.read_text("utf-8").splitlines() if line.startswith("| app")]
    assert rows == [
        "| app.a:2 | new in a | **untried** |",
        "| app.a:5 | moves in a | test_2 |",
        "| app.a:6 | twice in a | test_3 |",
        "| app.a:7 | twice in a | test_4 |",
        "| app.a:8 | asked in a | **survived** of tests/unit, tests/t.py |",
    ]
    table.correct(file, [Verdict(now[2], killed)], [now[2], now[6]])
    left = [line for line in file.read_text("utf-8").splitlines() if line.startswith("| app")]
    assert left == ["| app.a:2 | new in a | t.py::test_a |", rows[2]]


@pytest.mark.slow
@conftest.long_form
def test_a_few_mutants_of_every_kind_are_noticed_and_one_that_no_test_reaches_is_told_of(
    found: dict[str, Mutant],
) -> None:
    names = [
        next(mutant.name for mutant in found.values() if mutant.kind == kind and mutant.what.startswith(what))
        for kind, what in SHORT.items()
    ]
    lone = next(name for name in found if name.startswith("guard:app.projects:"))
    done = run("-m", "tools.mutants", "--name", *names, lone, "--tests", *ASKED)
    assert ("| all | 10 | 9 | 0 | 0 | 1 | 0 |" in done.stdout, done.returncode) == (True, 1), done.stdout
    assert re.search(rf"^no test reaches it +{lone}", done.stdout, re.MULTILINE)

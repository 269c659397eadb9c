"""Reports, differences and pictures of workflows."""

from __future__ import annotations

import itertools
import json
import re
from xml.etree import ElementTree

import pytest

from orchestrator.core.workflow import diff, graph, layout, model, picture, report, svg_style
from tests.unit.workflow import build

CLEAN = model.parse(build.CLEAN)
SVG = "{http://www.w3.org/2000/svg}"


def test_text_says_where_what_and_what_to_do() -> None:
    made = build.check(build.with_keys("tech_lead", "APPROVED", next_agent="developr"))
    line = made.problems[0].line
    assert report.to_text(made) == (
        f"small.json:{line}: error W201: There is no role 'developr'. ($.tech_lead.APPROVED.next_agent)\n"
        "    Did you mean 'developer'? Roles: project_manager, tech_lead, developer, senior_software_engineer, "
        "qa_expert, investigator, requirements_engineer, validator.\n"
        "small.json has errors: 1 error, 0 warnings.\n"
    )


def test_text_of_a_clean_file() -> None:
    assert report.to_text(build.check()) == "small.json is valid: 0 errors, 0 warnings.\n"


def test_json_holds_the_problems() -> None:
    made = report.to_json(build.check(build.put("project_manager", "WAIT")))
    assert (made["ok"], made["errors"], made["warnings"], [p["id"] for p in made["problems"]]) == (
        True,
        0,
        1,
        ["W222"],
    )
    assert json.loads(json.dumps(made)) == made


def test_sarif_points_into_the_file() -> None:
    made = build.check(build.put("project_manager", "WAIT"), build.with_keys("tech_lead", "APPROVED", x=1))
    log = report.to_sarif(made._replace(source="my flow.json"))
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert (log["version"], rules) == ("2.1.0", ["W111", "W222"])
    for result, problem in zip(run["results"], made.problems, strict=True):
        (location,) = result["locations"]
        assert (result["ruleId"], rules[result["ruleIndex"]], result["level"]) == (
            problem.id,
            problem.id,
            problem.severity,
        )
        assert location["physicalLocation"] == {
            "artifactLocation": {"uri": "my%20flow.json"},
            "region": {"startLine": problem.line},
        }


def changed(*changes: build.Change) -> list[diff.Change]:
    return diff.diff(diff.Version(CLEAN), diff.Version(model.parse(build.document(*changes))))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            build.with_keys("tech_lead", "APPROVED", next_agent="tech_lead"),
            "~ transition tech_lead.APPROVED\n    next_agent: developer -> tech_lead\n",
        ),
        (
            build.put("project_manager", "BLOCKED"),
            "+ transition project_manager.BLOCKED\n    action: pause_for_user\n    effect: block\n    resolves: none\n",
        ),
        (
            build.without("developer", "MERGE_SUCCESS"),
            "- transition developer.MERGE_SUCCESS\n    action: check_phase\n    effect: merge\n    resolves: none\n",
        ),
        (build.rule("loop_guard", max_visits=3), "~ rule loop_guard\n    max_visits: 6 -> 3\n"),
        (
            build.rule("security_sensitive", force_agent="developer"),
            "+ rule security_sensitive\n    force_agent: developer\n    mandatory_review: False\n",
        ),
        (build.aliases(DONE="BAZINGA"), "+ alias DONE\n    status: BAZINGA\n"),
        (build.with_keys("tech_lead", "APPROVED", effect="approve"), "no difference\n"),
        (build.top("_changelog", {"1": "x"}), "no difference\n"),
    ],
    ids=["changed", "added", "removed", "rule changed", "rule added", "alias", "effect written out", "comment"],
)
def test_differences(change: build.Change, expected: str) -> None:
    assert diff.describe(changed(change)) == expected


def test_a_difference_the_other_way_round_is_its_mirror() -> None:
    other = model.parse(build.document(build.put("project_manager", "BLOCKED"), build.aliases(DONE="BAZINGA")))
    there, back = (diff.diff(*map(diff.Version, pair)) for pair in ((CLEAN, other), (other, CLEAN)))
    mirrored = {"added": "removed", "removed": "added", "changed": "changed"}
    assert {(c.what, c.name, c.kind) for c in there} == {(c.what, c.name, mirrored[c.kind]) for c in back}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (build.with_keys("tech_lead", "APPROVED", description="well done", model_override="opus"), []),
        (build.with_keys("tech_lead", "APPROVED", include_context=["guidance"]), []),
        (
            build.with_keys("tech_lead", "APPROVED", next_agent="tech_lead", description="well done"),
            ["tech_lead.APPROVED: next_agent developer -> tech_lead"],
        ),
        (
            build.put("project_manager", "BLOCKED"),
            ["project_manager.BLOCKED added: action pause_for_user, effect block, resolves none"],
        ),
        (build.without("developer", "MERGE_SUCCESS"), [
            "developer.MERGE_SUCCESS removed: action check_phase, effect merge, resolves none"]),
        (build.rule("loop_guard", max_visits=3), ["rule loop_guard: max_visits 6 -> 3"]),
        (build.rule("security_sensitive", mandatory_review=True), [
            "rule security_sensitive added: mandatory_review True"]),
        (build.aliases(DONE="BAZINGA"), ["alias DONE added: status BAZINGA"]),
    ],
    ids=["text and model", "context", "target with a text", "added", "removed", "rule", "review alone", "alias"],
)  # fmt: skip
def test_changes_of_rules_are_those_that_are_more_than_texts(change: build.Change, expected: list[str]) -> None:
    assert diff.sentences(diff.of_rules(changed(change))) == expected


_QA = diff.AgentFile("qa-expert", "qa_expert", "sonnet", "tech_lead", "0" * 64)


@pytest.mark.parametrize(
    ("after", "all_", "expected"),
    [
        ((_QA._replace(model="opus", hash="1" * 64),), 1, []),
        ((_QA._replace(role="tech_lead"),), 1, ["agent file qa-expert: role qa_expert -> tech_lead"]),
        ((_QA._replace(reports_to="user"),), 1, ["agent file qa-expert: reports_to tech_lead -> user"]),
        ((), 1, ["agent file qa-expert removed: role qa_expert, reports_to tech_lead"]),
    ],
    ids=["model and text", "role", "reports_to", "removed"],
)
def test_agent_files_differ_in_rules_by_role_and_manager(
    after: tuple[diff.AgentFile, ...], all_: int, expected: list[str]
) -> None:
    changes = diff.diff(diff.Version(CLEAN, (_QA,)), diff.Version(CLEAN, after))
    assert (len(changes), diff.sentences(diff.of_rules(changes))) == (all_, expected)


def test_every_transition_is_in_the_picture_once() -> None:
    shown = picture.picture(CLEAN)
    texts = [label.text for link in shown.links for label in link.labels]
    texts += [label.text for node in shown.nodes for label in node.loops]
    assert sorted(text.partition(" ")[0] for text in texts) == sorted(status for _, status in CLEAN.transitions)


@pytest.mark.parametrize("notation", graph.FORMATS)
def test_every_status_is_drawn(notation: str) -> None:
    drawn = graph.draw(CLEAN, notation)
    assert [status for _, status in CLEAN.transitions if status not in drawn] == []


HOSTILE = 'G"1<script>alert(1)</script>&\\'


@pytest.mark.parametrize("notation", graph.FORMATS)
def test_hostile_names_are_escaped(notation: str) -> None:
    drawn = graph.draw(CLEAN._replace(name=HOSTILE), notation, {"developer": [HOSTILE, "a\nb\0c"]})
    unsafe = {
        "svg": "<script>",
        "mermaid": '"1',
        "dot": 'G"1',
        "text": "\0",
    }
    assert unsafe[notation] not in drawn


def test_the_picture_as_text_says_who_leads_where_and_fits_a_terminal() -> None:
    lines = graph.draw(CLEAN, "text", {"developer": ["A", "B"]}).splitlines()
    assert "developer  <== A, B" in lines
    assert "├─> validator: BAZINGA" in lines or "└─> validator: BAZINGA" in lines
    assert max(map(len, lines)) <= graph.WIDTH


def test_the_ladder_has_the_way_gone_from_top_to_bottom() -> None:
    ways = {("developer", "READY_FOR_REVIEW"): 2, ("developer", "MERGE_SUCCESS"): 1, ("tech_lead", "APPROVED"): 1}
    stands = {"developer": list("ABCDEF"), "question": ["S"]}
    _, rungs = graph.way_gone(CLEAN, stands, ways, whole=False)
    told = [(rung["title"], len(rung["marks"]), rung["more"],
             [f"{way['text']} {way['arrow']} {way['target']}" for way in rung["ways"]]) for rung in rungs]  # fmt: skip
    assert told == [
        ("developer", 4, 2, ["READY_FOR_REVIEW ×2 ↓ tech lead", "MERGE_SUCCESS (phase check) ×1 → project manager"]),
        ("tech lead", 0, 0, ["APPROVED ×1 ↑ developer"]),
        ("a person answers", 1, 0, []),
    ]
    _, whole = graph.way_gone(CLEAN, {}, ways, whole=True)
    drawn = [(way["gone"], way["text"].partition(" ")[0]) for rung in whole for way in rung["ways"]]
    assert sorted(text for _, text in drawn) == sorted(status for _, status in CLEAN.transitions)
    assert sum(gone for gone, _ in drawn) == len(ways)


def parsed(positions: picture.Positions | None = None) -> ElementTree.Element:
    # The text is our own, not one from outside.
    return ElementTree.fromstring(graph.svg(CLEAN, positions))  # noqa: S314


def test_the_svg_is_well_formed_and_says_in_words_what_it_shows() -> None:
    root = parsed({"developer": ["AUTH"]})
    title, desc = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert (root.get("role"), root.get("aria-labelledby")) == ("img", "wf-title wf-desc")
    assert title is not None
    assert title.text == "Workflow 1"
    assert desc is not None
    assert "developer to tech lead: READY_FOR_REVIEW" in (desc.text or "")
    assert "At developer: AUTH" in (desc.text or "")


def test_a_position_is_highlighted() -> None:
    def highlighted(root: ElementTree.Element) -> list[str | None]:
        return [g.findtext(f"{SVG}title") for g in root.iter(f"{SVG}g") if "here" in (g.get("class") or "").split()]

    assert (highlighted(parsed()), highlighted(parsed({"developer": ["A", "B"], "question": ["q-1"]}))) == (
        [],
        ["developer: A, B", "a person answers: q-1"],
    )


def test_the_svg_needs_no_script_and_no_inline_style() -> None:
    tags = {element.tag.removeprefix(SVG) for element in parsed().iter()}
    styled = [element for element in parsed().iter() if element.get("style")]
    assert (styled, "script" in tags, "image" in tags) == ([], False, False)


def test_colours_for_light_and_dark_are_the_same_names() -> None:
    assert svg_style.LIGHT.keys() == svg_style.DARK.keys()
    assert "prefers-color-scheme:dark" in svg_style.STYLE


def test_no_text_lies_on_another() -> None:
    root = parsed({"developer": ["AUTH"]})
    tags = [r for r in root.iter(f"{SVG}rect") if r.get("class") in ("tag", "box")]
    areas = [[float(r.get(key) or 0) for key in ("x", "y", "width", "height")] for r in tags]
    overlapping = [
        (a, b)
        for index, a in enumerate(areas)
        for b in areas[index + 1 :]
        if a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]
    ]
    assert overlapping == []


def test_the_same_workflow_gives_the_same_picture() -> None:
    assert graph.svg(CLEAN) == graph.svg(model.parse(build.CLEAN))


def test_cells_of_a_column_keep_their_distance() -> None:
    cells = [layout.Cell(name, 0, 10, 20) for name in "abc"] + [layout.Cell("z", 1, 10, 20)]
    chains = [layout.Chain(index, (name, "z")) for index, name in enumerate("abc")]
    placed = layout.lay_out(cells, chains, (10, 5), 2, 2)
    heights = sorted(placed.centre[name][1] for name in "abc")
    assert [round(b - a, 6) for a, b in itertools.pairwise(heights)] == [25, 25]


def test_mermaid() -> None:
    drawn = graph.mermaid(CLEAN, {"developer": ["AUTH"]})
    assert '  n_developer["developer<br/>AUTH"]' in drawn
    assert '  n_developer -->|"READY_FOR_REVIEW"| n_tech_lead' in drawn
    assert drawn.endswith("  class n_developer here\n")


def test_dot() -> None:
    drawn = graph.dot(CLEAN, {"developer": ["AUTH"]})
    assert '  "developer" -> "tech_lead" [label="READY_FOR_REVIEW"];' in drawn
    assert re.search(r'"developer" \[label="developer\\nAUTH", color=', drawn)

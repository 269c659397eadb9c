"""What is imported inside functions is imported late so that a cold start stays cheap, and for no other reason;
the command's first module also because interrupts are held back before anything else.

The list names every module that is imported so anywhere. Whatever the importing module has loaded at its top by then,
itself or through others, is imported there as well.
"""

from __future__ import annotations

import ast
import functools

import pytest

from tests.architecture import source
from tests.architecture.test_circles import dotted, imports

LATE = frozenset(
    """
    _sha2 _sha256
    base64 binascii datetime difflib fcntl files hashlib hmac importlib json orjson os secrets re shlex signal
    rich.console rich.live rich.text urllib
    traceback unicodedata
    app.answers
    app.engine.measured app.reports.gated_reports
    app.clients.codex app.clients.install app.clients.rules
    app.audit.check_certificate app.audit.pull_request_gate core.certificates
    doors.cli.repl.conversation doors.cli.repl.one_task
    app.audit.export_evidence app.audit.explain_tasks app.audit.export_session app.audit.export_page
    app.audit.import_session app.audit.as_of
    app.audit.replay_comparison app.audit.event_sentences app.demo app.driving.autopilot app.driving.crew
    app.driving.demonstration app.driving.drive app.driving.preflight app.driving.trees app.engine.state_changes
    app.engine.feasible app.engine.scheduler
    app.engine.task_blocks
    app.kernel.agent_checks app.kernel.attached_evidence
    app.kernel.credentials app.kernel.human app.kernel.durations app.kernel.operations
    app.kernel.connection_pool app.kernel.copy_in_memory app.kernel.malformed_calls app.kernel.views app.maintenance
    app.people.answer_question app.people.person_proof app.prover.model_check app.questions.inbox
    app.questions.question_views
    app.reports.limits app.reports.reported_plan app.reports.withheld_reports app.running.run_hooks
    app.running.lock_acquisition app.running.orphaned_runs app.running.run_session app.running.web_run_service
    app.running.work_leases
    app.session.pending_commands
    app.session.stuck app.setup app.task.answer_tasks
    app.task.finish_tasks app.task.answer_next app.task.task_views
    app.verdict.postflight app.workflow.rule_changes app.workflow.workflows
    bootstrap
    core.agents core.blockers core.database_urls core.report_parser core.lifecycle core.masking_hidden core.masking_json
    core.masking_machine core.masking_patterns core.masking_stream core.metadata core.next_words core.running.advice
    core.running.blocked_output
    core.running.simulated_failures core.running.program_variables core.running.providers core.control_characters
    core.json_positions core.workflow.checks core.workflow.graph core.workflow.loader core.workflow.problems
    core.workflow.report
    doors.cli.invoke doors.cli.catalogue doors.cli.drive doors.cli.early_interrupts doors.cli.secret_file_check
    doors.cli.next_steps doors.cli.main doors.cli.fast_parser doors.cli.schema doors.cli.shapes doors.cli.text
    doors.cli.text.layout doors.cli.typer_parser doors.cli.coercion doors.cli.progress_line doors.cli.opening
    doors.cli.text.lanes doors.cli.watch
    resources
    runner.commands runner.executors.catalogue runner.fresh_trees runner.process_tree
    runner.process_identity runner.process runner.process_table runner.project
    runner.snapshot runner.surroundings
    store.alembic_steps store.backup store.row_hashes store.doctor store.file_safety store.findings
    store.sqlite_errors store.maintenance store.migrate store.next_reader store.restore store.run_reader
    store.database_copy store.postgresql store.postgresql_upgrade store.server store.server_checks
    store.shared_commit store.snapshot store.text_damage
    store.verify_chain store.versions
""".split()
)

NAMES = {dotted(module) for module in source.PRODUCT}


def inner(tree: ast.Module) -> list[ast.Import | ast.ImportFrom]:
    """The import statements inside functions."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    found = [node for each in functions for node in ast.walk(each)]
    return [node for node in dict.fromkeys(found) if isinstance(node, ast.Import | ast.ImportFrom)]


def late(module: source.Module) -> set[str]:
    """The modules that a module imports inside functions: those of the product without its name, others in full."""
    found: set[str] = set()
    for node in inner(module.tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        else:
            full = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {each if each in NAMES else str(node.module) for each in full}
    return {each.removeprefix("orchestrator.") for each in found}


@functools.cache
def at_top() -> dict[str, set[str]]:
    """What each module of the product imports at its top, types aside."""
    found = {}
    for module in source.PRODUCT:
        body = [node for node in module.tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        found[dotted(module)] = imports(source.Module(module.name, "\n".join(map(ast.unparse, body))), NAMES)
    return found


def loaded(name: str) -> set[str]:
    """What is loaded once a module is, itself aside."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        new = at_top().get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found - {name}


def test_the_list_names_what_is_imported_late_and_no_more() -> None:
    assert {each for module in source.PRODUCT for each in late(module)} == LATE


def test_nothing_is_imported_late_that_is_there_already() -> None:
    needless = {
        f"{dotted(module)}: {each}"
        for module in source.PRODUCT
        for each in late(module)
        if f"orchestrator.{each}" in loaded(dotted(module))
    }
    assert needless == set()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("import json\n", set(), id="top"),
        pytest.param("def f():\n    import json\n", {"json"}, id="function"),
        pytest.param("class C:\n    async def f(self):\n        from json import loads\n", {"json"}, id="method"),
        pytest.param("def f():\n    from orchestrator.core import names\n", {"core.names"}, id="product"),
    ],
)
def test_a_late_import_is_found(text: str, found: set[str]) -> None:
    assert late(source.Module("package/a.py", text)) == found

"""What proves a person: passphrases, SSH keys, tokens and links; what ends them; and that nothing weaker goes round."""

from __future__ import annotations

import json
import pathlib
import sqlite3
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator import Orchestrator, testing
from orchestrator.app import maintenance
from orchestrator.app.kernel import credentials, human, operations
from orchestrator.app.kernel.context import Circumstances
from orchestrator.app.kernel.human import PAGE, TOKEN, Credential
from orchestrator.app.people import enrolment, person_proof
from orchestrator.core import agent_programs
from orchestrator.doors.cli import text
from orchestrator.doors.cli.schema import json_schema
from orchestrator.errors import EnvironmentProblem, OrchestratorError, UsageError
from orchestrator.store.constants import STORE_CHAIN
from tests import persons
from tests.acceptance.test_replay import assert_told_again
from tests.integration.app.table import Table
from tests.integration.app.test_human import USER, enrolled, planned, with_alice
from tests.integration.cli.test_schema import problems
from tests.persons import Above, Played

SECRET = "correct horse battery"  # noqa: S105 - a passphrase of the test
OTHER = "another horse's battery"
PAUSE = ("session pause", {"id": "S1", **USER})
Make = Callable[[Table], None]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hash that costs nothing; what it costs is no matter of these tests."""
    monkeypatch.setattr(credentials, "COST", 16)


def with_passphrase(table: Table, agent: str = "user", *, by: str = "user", **around: Any) -> dict[str, Any]:
    with persons.seated(table.context, **around) as played:
        played.secrets += [SECRET, SECRET]
        return table.do("human enrol", agent=agent, by=by, passphrase=True)


def with_key(table: Table, key: pathlib.Path, agent: str = "user", **around: Any) -> dict[str, Any]:
    with persons.seated(table.context, **around):
        return table.do("human enrol", agent=agent, by="user", ssh_key=str(key))


def act(table: Table, words: str = PAUSE[0], given: dict[str, Any] = PAUSE[1], **around: Any) -> dict[str, Any]:
    with persons.seated(table.context, **around):
        return table.do(words, **given)


def refused(table: Table, words: str = PAUSE[0], given: dict[str, Any] = PAUSE[1], **around: Any) -> str:
    """The sentence with which an act is refused that somebody at a terminal wants to do."""
    with persons.seated(table.context, **around):
        problem = table.refusal(words, **given)
    assert problem.code == "HUMAN_REQUIRED"
    return problem.message


class TestAPassphrase:
    def test_proves_its_person(self) -> None:
        table = planned()
        found = with_passphrase(table)
        assert (found["enrolment"]["kind"], found["proof"], "token" in found) == ("passphrase", "weak", False)
        done = act(table, secrets=[SECRET])
        assert (done["proof"], table.session("status_changed_by")) == ("strong", ("user",))
        ((channel, kept),) = table.rows("SELECT channel, input FROM audit_events WHERE kind = 'session pause'")
        proof = {"channel": "passphrase", "enrolment": found["enrolment"]["id"], "proof": "strong"}
        assert (channel, json.loads(kept)["person"]) == ("passphrase", proof)
        assert_told_again(table.context)

    def test_is_needed_by_every_act_from_then_on(self) -> None:
        table = with_alice()
        token = enrolled(table)
        with table.person(Credential(TOKEN, token)):
            table.context.surroundings = Played(secrets=[SECRET, SECRET])
            table.do("human enrol", by="user", passphrase=True)
        for weaker in (Credential(TOKEN, token), Credential("terminal"), Credential(PAGE), Credential(PAGE, link="C1")):
            with table.person(weaker):
                for by in ("user", "alice"):
                    problem = table.refusal("session pause", id="S1", by=by, reason="r")
                    assert (problem.code, "no longer counts" in problem.message) == ("HUMAN_REQUIRED", True)
                    assert problem.suggestion == human.PROVEN
        assert table.rows("SELECT status FROM sessions") == [("active",)]
        assert_told_again(table.context)

    @pytest.mark.parametrize("typed", [OTHER, "", SECRET.upper(), f"{SECRET} "])
    def test_that_is_wrong_is_refused_and_recorded_without_it(self, typed: str) -> None:
        table = planned()
        with_passphrase(table)
        assert "the passphrase is wrong" in refused(table, secrets=[typed])
        sql = "SELECT input FROM audit_events WHERE kind = 'refusal' AND session_id = :chain"
        tried = table.rows(sql, chain=STORE_CHAIN)
        assert json.loads(tried[0][0])["input"]["person"] == {
            "channel": "passphrase", "fault": "passphrase", "proof": "nothing",
        }  # fmt: skip
        assert not typed or typed.encode() not in table.context.connection.serialize()
        assert_told_again(table.context)

    def test_is_tried_five_times_in_a_quarter_of_an_hour(self) -> None:
        table = planned()
        with_passphrase(table)
        for _ in range(person_proof.WRONG_MOST):
            refused(table, secrets=[OTHER])
        assert "too many wrong attempts" in refused(table, secrets=[SECRET])
        table.context.clock.seconds += person_proof.WRONG_S
        assert act(table, secrets=[SECRET])["proof"] == "strong"
        assert_told_again(table.context)

    def test_is_kept_as_a_slow_hash_with_a_salt_of_its_own(self) -> None:
        table = with_alice()
        with_passphrase(table)
        with_passphrase(table, "alice", secrets=[SECRET])
        (mine, hers) = (row[0] for row in table.rows("SELECT verifier FROM human_credentials ORDER BY seq"))
        assert mine != hers
        assert [each.split("$")[:4] for each in (mine, hers)] == [["scrypt", "16", "8", "1"]] * 2
        assert SECRET.encode() not in table.context.connection.serialize()

    def test_of_one_person_is_not_another_s(self) -> None:
        table = with_alice()
        with_passphrase(table)
        table.context.surroundings = Played(secrets=[SECRET])
        person_proof.of_call(table.context, "session end", {"id": "S1", "by": "alice"}, None, sits=True)
        problem = table.refusal("session end", id="S1", by="alice", reason="r")
        assert "has no passphrase or SSH key" in problem.message
        with persons.seated(table.context, secrets=[SECRET]):
            problem = table.refusal("session end", id="S1", by="alice", reason="r")
        assert problem.message.endswith("the proof is user's, not alice.")

    @pytest.mark.parametrize(
        ("typed", "words"),
        [(["short7!", "short7!"], "8 characters"), ([SECRET, OTHER], "differ"), ([], "8 characters")],
    )  # fmt: skip
    def test_that_is_short_or_mistyped_is_not_enrolled(self, typed: list[str], words: str) -> None:
        table = planned()
        with persons.seated(table.context, secrets=typed), pytest.raises(UsageError, match=words):
            table.do("human enrol", passphrase=True)
        assert table.count("human_credentials") == 0

    def test_again_needs_the_old_one_and_ends_it(self) -> None:
        table = planned()
        first = with_passphrase(table)["enrolment"]["id"]
        assert "wrong" in refused(table, "human enrol", {"passphrase": True}, secrets=[OTHER, OTHER, OTHER])
        with persons.seated(table.context, secrets=[SECRET]) as played:
            played.secrets += [OTHER, OTHER]
            second = table.do("human enrol", passphrase=True)["enrolment"]["id"]
        assert [each.id for each in credentials.strong(table.context)] == [second]
        assert table.rows("SELECT ends FROM human_credentials WHERE id = :id", id=second) == [(first,)]
        assert "wrong" in refused(table, secrets=[SECRET])
        assert act(table, secrets=[OTHER])["proof"] == "strong"
        assert_told_again(table.context)

    def test_again_needs_no_token_that_counted_before_it(self) -> None:
        table = planned()
        token = enrolled(table)
        with table.person(Credential(TOKEN, token)):
            table.context.surroundings = Played(secrets=[SECRET, SECRET])
            table.do("human enrol", passphrase=True)
        with persons.seated(table.context, secrets=[SECRET]) as played:
            played.secrets += [OTHER, OTHER]
            table.do("human enrol", passphrase=True)
        assert act(table, secrets=[OTHER])["proof"] == "strong"

    def test_is_not_asked_for_where_nobody_can_type_it(self) -> None:
        table = planned()
        token = enrolled(table)
        with table.person(Credential(TOKEN, token)):
            table.context.surroundings = Played(terminal=False, secrets=[SECRET, SECRET])
            with pytest.raises(UsageError, match="typed at a terminal"):
                table.do("human enrol", passphrase=True)


class TestAnSshKey:
    def test_proves_whoever_signs_with_it(self, tmp_path: pathlib.Path) -> None:
        table = planned()
        found = with_key(table, persons.key(tmp_path))
        assert found["enrolment"]["kind"] == "ssh-key"
        assert act(table)["proof"] == "strong"
        assert table.rows("SELECT channel FROM audit_events WHERE kind = 'session pause'") == [("ssh-key",)]
        assert "was not signed" in refused(table, "session resume", {"id": "S1", **USER}, signs=False)
        stored = table.context.connection.serialize()
        assert b"SSH SIGNATURE" not in stored
        assert b"PRIVATE" not in stored
        assert_told_again(table.context)

    def test_signs_each_time_something_else_which_says_for_what(self, tmp_path: pathlib.Path) -> None:
        table = planned()
        with_key(table, persons.key(tmp_path))
        played = [persons.sit(table.context) for _ in range(2)]
        messages = [each.shown[-1] for each in played]
        assert len(set(messages)) == 2
        assert all("a test" in each for each in messages)

    def test_of_another_person_signs_nothing_here(self, tmp_path: pathlib.Path) -> None:
        table = planned()
        mine, other = persons.key(tmp_path), persons.key(tmp_path, "other")
        with_key(table, mine)
        known = credentials.strong(table.context)
        text = person_proof.challenge("an act")
        around = Played()
        table.context.surroundings = around
        signed = [around.sign(each.read_text(), str(each), f"{text}\n", namespace) for each, namespace in (
            (other, person_proof.NAMESPACE), (mine, "file"),
        )]  # fmt: skip
        for each in (*signed, "", "no signature", None):
            assert person_proof.signature(table.context, text, each or "", known).fault in ("signature", "paused")
        good = around.sign(mine.read_text(), str(mine), f"{text}\n", person_proof.NAMESPACE)
        table.context.clock.seconds += person_proof.WRONG_S
        assert person_proof.signature(table.context, "another text", good or "", known).fault == "signature"
        assert person_proof.signature(table.context, text, good or "", known).enrolment == known[0].id

    def test_may_stand_beside_a_passphrase(self, tmp_path: pathlib.Path) -> None:
        table = planned()
        with_passphrase(table)
        with_key(table, persons.key(tmp_path), secrets=[SECRET])
        assert act(table, secrets=[SECRET])["proof"] == "strong"
        assert act(table, "session resume", {"id": "S1", **USER}, secrets=[""])["proof"] == "strong"
        channels = [row[0] for row in table.rows("SELECT channel FROM audit_events WHERE kind LIKE 'session %e'")]
        assert channels[-2:] == ["passphrase", "ssh-key"]

    def test_twice_is_refused(self, tmp_path: pathlib.Path) -> None:
        table = planned()
        key = persons.key(tmp_path)
        with_key(table, key)
        with persons.seated(table.context):
            assert table.refusal("human enrol", by="user", ssh_key=str(key)).code == "ALREADY_EXISTS"

    def test_without_its_private_half_is_not_enrolled(self, tmp_path: pathlib.Path) -> None:
        table = planned()
        key = persons.key(tmp_path)
        key.with_suffix("").unlink()
        with persons.seated(table.context), pytest.raises(UsageError, match="found no matching private key"):
            table.do("human enrol", by="user", ssh_key=str(key))

    def test_that_signed_something_else_is_not_enrolled(
        self, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        table = planned()
        key = persons.key(tmp_path)
        with persons.seated(table.context) as played:
            sign = played.sign
            monkeypatch.setattr(played, "sign", lambda key, source, _, space: sign(key, source, "another text", space))
            with pytest.raises(UsageError, match="found no matching private key"):
                table.do("human enrol", by="user", ssh_key=str(key))

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", "does not hold one"), ("ssh-ed25519", "does not hold one"), ("ssh-ed25519 !!!", "does not hold one"),
            ("ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIA==", "does not hold one"),
            ("-----BEGIN OPENSSH PRIVATE KEY-----\nx", "never the private"),
        ],
    )  # fmt: skip
    def test_is_one_public_key(self, tmp_path: pathlib.Path, text: str, words: str) -> None:
        table = planned()
        file = tmp_path / "key.pub"
        file.write_text(text)
        with persons.seated(table.context), pytest.raises(UsageError, match=words):
            table.do("human enrol", by="user", ssh_key=str(file))

    def test_is_in_a_file_that_can_be_read(self, tmp_path: pathlib.Path) -> None:
        table = planned()
        with persons.seated(table.context), pytest.raises(EnvironmentProblem) as caught:
            table.do("human enrol", by="user", ssh_key=str(tmp_path / "key.pub"))
        assert caught.value.code == "FILE_UNREADABLE"

    def test_is_looked_for_where_the_variable_says(
        self, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        table = planned()
        key = persons.key(tmp_path)
        with_key(table, key)
        moved = tmp_path / "moved"
        moved.mkdir()
        for each in (key, key.with_suffix("")):
            each.rename(moved / each.name)
        (known,) = credentials.strong(table.context)
        assert credentials.key_file(known) is None
        monkeypatch.setenv(credentials.KEY_VARIABLE, str(moved / key.name))
        assert act(table)["proof"] == "strong"
        monkeypatch.setenv(credentials.KEY_VARIABLE, str(persons.key(tmp_path, "other")))
        assert credentials.key_file(known) is None


class TestWhatTheFirstEnrolmentNeeds:
    @pytest.mark.parametrize("agent", ["user", "alice"])
    def test_is_the_token_where_there_is_one(self, agent: str) -> None:
        table = with_alice()
        enrolled(table)
        assert "a token is enrolled" in refused(table, "human enrol", {"agent": agent, "by": agent, "passphrase": True},
                                                secrets=[SECRET, SECRET])  # fmt: skip
        assert table.count("human_credentials") == 0
        assert_told_again(table.context)

    def test_a_code_where_there_is_nothing(self) -> None:
        assert with_passphrase(planned())["proof"] == "weak"

    def test_gives_no_token_afterwards(self) -> None:
        table = planned()
        with_passphrase(table)
        with persons.seated(table.context, secrets=[SECRET]):
            assert table.refusal("human enrol").code == "NOT_PERMITTED"

    def test_another_person_is_enrolled_by_who_is_proven(self) -> None:
        table = with_alice()
        with_passphrase(table)
        with persons.seated(table.context, secrets=[SECRET]) as played:
            played.secrets += [OTHER, OTHER]
            table.do("human enrol", agent="alice", passphrase=True)
        assert table.rows("SELECT actor FROM audit_events WHERE kind = 'human enrol'") == [("user",), ("user",)]
        with persons.seated(table.context, secrets=[OTHER]):
            table.do("session pause", id="S1", by="alice", reason="r")

    def test_who_left_is_not_enrolled(self) -> None:
        table = with_alice()
        act(table, "agent deactivate", {"id": "alice", "by": "user", "reason": "left"})
        with persons.seated(table.context, secrets=[SECRET, SECRET]):
            assert table.refusal("human enrol", agent="alice", by="user", passphrase=True).code == "UNKNOWN_AGENT"

    def test_stands_in_every_verdict_with_time_and_channel(self, tmp_path: pathlib.Path) -> None:
        table = planned()
        token = enrolled(table)
        with table.person(Credential(TOKEN, token)):
            table.context.surroundings = Played(secrets=[SECRET, SECRET])
            table.do("human enrol", passphrase=True)
        act(table, secrets=[SECRET])
        said = [each["message"] for each in table.do("validate", session_id="S1", dry_run=True)["checks"]
                if each["id"] == "V14"]  # fmt: skip
        ((first, second),) = table.rows("SELECT h.enrolled_at, c.created_at FROM human_tokens h, human_credentials c")
        assert said == [
            "session pause (1) through passphrase (proof: strong)",
            f"token H3 enrolled at {first} through terminal (proof: weak)",
            f"passphrase C4 enrolled at {second} through token (proof: possession)",
        ]


class TestRemoving:
    def test_needs_the_proof_itself(self) -> None:
        table = planned()
        id_ = with_passphrase(table)["enrolment"]["id"]
        assert "wrong" in refused(table, "human remove", {"id": id_}, secrets=[OTHER])
        assert act(table, "human remove", {"id": id_}, secrets=[SECRET])["removed"]["kind"] == "passphrase"
        assert act(table)["proof"] == "weak"
        assert_told_again(table.context)

    def test_a_token_needs_that_token(self) -> None:
        table = planned()
        token = enrolled(table)
        assert "a token is enrolled" in refused(table, "human remove", {"id": "H3"})
        with table.person(Credential(TOKEN, token)):
            table.do("human remove", id="H3")
            assert "was removed or reset" in table.refusal(*PAUSE[:1], **PAUSE[1]).message
        assert act(table)["proof"] == "weak"
        assert_told_again(table.context)

    def test_is_of_one_s_own_and_once(self) -> None:
        table = with_alice()
        mine = with_passphrase(table)["enrolment"]["id"]
        with persons.seated(table.context, secrets=[SECRET]) as played:
            played.secrets += [OTHER, OTHER]
            hers = table.do("human enrol", agent="alice", passphrase=True)["enrolment"]["id"]
        for id_, code in ((hers, "NOT_PERMITTED"), ("C999", "UNKNOWN_ID")):
            with persons.seated(table.context, secrets=[SECRET]):
                assert table.refusal("human remove", id=id_).code == code
        act(table, "human remove", {"id": mine}, secrets=[SECRET])
        with persons.seated(table.context, secrets=[OTHER]):
            assert table.refusal("human remove", id=mine).code == "NOT_PERMITTED"
            table.do("human remove", id=hers)
        with persons.seated(table.context):
            assert table.refusal("human remove", id=mine, by="user").code == "ALREADY_RESOLVED"

    def test_ends_what_a_page_was_opened_by(self) -> None:
        table = planned()
        id_ = with_passphrase(table)["enrolment"]["id"]
        with table.person(Credential(PAGE, enrolment=id_)):
            assert table.do(PAUSE[0], **PAUSE[1])["proof"] == "strong"
        act(table, "human remove", {"id": id_}, secrets=[SECRET])
        with table.person(Credential("passphrase", enrolment=id_)):
            assert "was removed" in table.refusal("session resume", id="S1", **USER).message

    def test_of_the_person_ends_it_as_well(self) -> None:
        table = with_alice()
        with_passphrase(table, "alice", by="alice")
        assert credentials.strong(table.context)
        act(table, "agent deactivate", {"id": "alice", "by": "alice", "reason": "left"}, secrets=[SECRET])
        assert credentials.strong(table.context) == []


class TestAReset:
    def test_counts_an_hour_later_and_every_verdict_mentions_it(self) -> None:
        table = planned()
        with_passphrase(table)
        found = act_alone(table)
        assert found["proof"] == "weak"
        assert credentials.pending(table.context)[0]["id"] == found["reset"]["id"]
        assert "wrong" in refused(table, secrets=[OTHER])
        table.context.clock.seconds += credentials.RESET_S - 30
        assert "wrong" in refused(table, secrets=[OTHER])
        table.context.clock.seconds += 30
        assert act(table)["proof"] == "weak"
        said = [each["message"] for each in table.do("validate", session_id="S1", dry_run=True)["checks"]]
        assert any(f"reset {found['reset']['id']} asked for, counting from" in each for each in said)
        assert_told_again(table.context)

    def test_ends_a_token_too(self) -> None:
        table = planned()
        token = enrolled(table)
        act_alone(table)
        table.context.clock.seconds += credentials.RESET_S
        with table.person(Credential(TOKEN, token)):
            assert "removed or reset" in table.refusal(*PAUSE[:1], **PAUSE[1]).message
        assert enrolled(table)

    def test_is_stopped_by_the_old_proof(self) -> None:
        table = planned()
        with_passphrase(table)
        id_ = act_alone(table)["reset"]["id"]
        act(table, "human remove", {"id": id_}, secrets=[SECRET])
        table.context.clock.seconds += credentials.RESET_S
        assert "wrong" in refused(table, secrets=[OTHER])

    def test_of_one_person_is_stopped_by_another(self) -> None:
        table = with_alice()
        with_passphrase(table)
        with persons.seated(table.context, secrets=[SECRET]) as played:
            played.secrets += [OTHER, OTHER]
            table.do("human enrol", agent="alice", passphrase=True)
        id_ = act_alone(table, agent="user")["reset"]["id"]
        act(table, "human remove", {"id": id_, "by": "alice"}, secrets=[OTHER])
        assert credentials.pending(table.context) == []

    def test_is_asked_for_once_and_of_what_is_enrolled(self) -> None:
        table = planned()
        with persons.seated(table.context):
            assert table.refusal("human reset").code == "ILLEGAL_MOVE"
        with_passphrase(table)
        act_alone(table)
        with table.person(Credential("terminal")):
            assert table.refusal("human reset").code == "ALREADY_EXISTS"

    @pytest.mark.parametrize(
        "found", [None, Credential(TOKEN, "orchestrator-human-x"), Credential("terminal", fault="agent"),
                  Credential("passphrase", enrolment="C2"), Credential(PAGE)],
    )  # fmt: skip
    def test_needs_a_code_at_a_terminal(self, found: Credential | None) -> None:
        table = planned()
        with_passphrase(table)
        table.context.credential = found
        assert table.refusal("human reset").code == "HUMAN_REQUIRED"
        assert credentials.pending(table.context) == []

    def test_needs_a_database_that_nobody_else_has_open(self, tmp_path: pathlib.Path) -> None:
        with Orchestrator.create(tmp_path / "orchestrator.db") as mine:
            context = mine._context
            with persons.seated(context) as played:
                played.secrets += [SECRET, SECRET]
                mine.human_enrol(passphrase=True)
            with Orchestrator.open(tmp_path / "orchestrator.db") as other:
                other.human_list()
                context.credential = Credential("terminal")
                with pytest.raises(EnvironmentProblem, match="another process has the database open"):
                    mine.human_reset()
                assert other.human_list()["pending_resets"] == []
            found = mine.human_reset()
            (mode,) = context.connection.execute("PRAGMA journal_mode").fetchone()
            assert (mode, mine.human_list()["pending_resets"][0]["id"]) == ("wal", found["reset"]["id"])
            assert mine.audit_verify()["ok"] is True


def act_alone(table: Table, **given: Any) -> dict[str, Any]:
    """Ask for a reset, with the code of a terminal."""
    table.context.surroundings = Played()
    person_proof.of_call(table.context, "human reset", given, None, sits=True)
    try:
        return table.do("human reset", **given)
    finally:
        table.context.credential = None


class TestALink:
    def test_lets_its_person_in_once(self) -> None:
        table = planned()
        with persons.seated(table.context):
            made = table.do("human link", url="http://127.0.0.1:1/")
        code = made["url"].removeprefix("http://127.0.0.1:1/open/")
        assert code.encode() not in table.context.connection.serialize()
        visitor = enrolment.use_link(table.context, code)
        assert enrolment.use_link(table.context, code) is None
        with table.person(person_proof.page_of(visitor)):
            assert table.do(PAUSE[0], **PAUSE[1])["proof"] == "weak"
        assert_told_again(table.context)

    def test_proves_what_was_proven_when_it_was_made(self) -> None:
        table = planned()
        with_passphrase(table)
        with persons.seated(table.context, secrets=[SECRET]):
            made = table.do("human link")
        visitor = enrolment.use_link(table.context, made["url"].rpartition("/")[2])
        with table.person(person_proof.page_of(visitor)):
            assert table.do(PAUSE[0], **PAUSE[1])["proof"] == "strong"

    @pytest.mark.parametrize("typed", [[], [OTHER]])
    def test_needs_the_passphrase(self, typed: list[str]) -> None:
        table = planned()
        with_passphrase(table)
        refused(table, "human link", {}, secrets=typed)
        assert table.rows("SELECT count(*) FROM human_credentials WHERE kind = 'link'") == [(0,)]

    def test_needs_the_token_where_there_is_one(self) -> None:
        table = planned()
        token = enrolled(table)
        assert "a token is enrolled" in refused(table, "human link", {})
        with table.person(Credential(TOKEN, token)):
            made = table.do("human link")
        visitor = enrolment.use_link(table.context, made["url"].rpartition("/")[2])
        with table.person(person_proof.page_of(visitor)):
            assert table.do(PAUSE[0], **PAUSE[1])["proof"] == "possession"

    def test_ends_after_a_quarter_of_an_hour(self) -> None:
        table = planned()
        with persons.seated(table.context):
            code = table.do("human link")["url"].rpartition("/")[2]
        table.context.clock.seconds += credentials.LINK_S
        assert enrolment.use_link(table.context, code) is None

    def test_is_used_up_in_the_database_itself(self) -> None:
        table = planned()
        with persons.seated(table.context):
            id_ = table.do("human link")["link"]["id"]
        used = enrolment.UseLink(link=id_)
        operations.ask(table.context, used)
        with pytest.raises(OrchestratorError, match="already been used"):
            operations.ask(table.context, used)

    def test_is_for_whoever_makes_it(self) -> None:
        table = with_alice()
        with persons.seated(table.context):
            assert table.refusal("human link", agent="alice", by="user").code == "NOT_PERMITTED"

    def test_leads_to_an_address(self) -> None:
        table = planned()
        with persons.seated(table.context), pytest.raises(UsageError, match="the server's address"):
            table.do("human link", url="javascript:x")


class TestSigns:
    @pytest.mark.parametrize("variable", agent_programs.VARIABLES)
    def test_a_variable_of_an_agent_s_program_counts_whatever_it_holds(self, variable: str) -> None:
        table = planned()
        assert f"belongs to an agent: {variable} is set" in refused(table, variables=[variable])
        with_passphrase(table)
        assert "belongs to an agent" in refused(table, variables=[variable], secrets=[SECRET])

    @pytest.mark.parametrize(
        "above",
        [
            Above("bash", (), frozenset(("CLAUDECODE",))), Above("claude"), Above("node", ("node", "/opt/bin/claude")),
            Above("node", ("/usr/bin/codex", "exec")), Above("sh", (), frozenset(("HOME", "ORCHESTRATOR_AGENT"))),
        ],
    )  # fmt: skip
    def test_an_agent_s_program_among_the_ancestors_ends_codes(self, above: Above) -> None:
        table = planned()
        assert "an agent's program is among" in refused(table, above=[Above(), above, Above("systemd")])
        with_passphrase(table)
        # A passphrase is known to its person alone, wherever the terminal comes from.
        assert act(table, above=[above], secrets=[SECRET])["proof"] == "strong"

    @pytest.mark.parametrize("above", [Above(), Above("claudette"), Above("vim", ("vim", "claude.txt"))])
    def test_others_do_not(self, above: Above) -> None:
        assert act(planned(), above=[above])["proof"] == "weak"

    @pytest.mark.parametrize(
        ("around", "words"),
        [({"terminal": False}, "not running in a terminal"), ({"within": True}, "a process that an executor started"),
         ({"types": lambda code: "x"}, "was not typed")],
    )  # fmt: skip
    def test_of_who_cannot_be_a_person(self, around: dict[str, Any], words: str) -> None:
        assert words in refused(planned(), **around)

    def test_without_surroundings_nobody_is_a_person(self) -> None:
        table = planned()
        table.context.surroundings = None
        table.context.credential = person_proof.at_terminal(table.context, "x")
        assert "not running in a terminal" in table.refusal(*PAUSE[:1], **PAUSE[1]).message

    def test_a_link_is_printed_where_a_code_would_be_taken(self) -> None:
        context = testing.memory_context()
        assert not person_proof.shows_link(context)
        for around, shows in (
            ({}, True), ({"terminal": False}, False), ({"variables": ["CLAUDECODE"]}, False),
            ({"above": [Above("claude")]}, False), ({"within": True}, False),
        ):  # fmt: skip
            context.surroundings = Played(**around)
            assert person_proof.shows_link(context) is shows


def test_what_is_enrolled_is_listed() -> None:
    table = with_alice()
    assert table.do("human list")["needs"] == "weak"
    enrolled(table)
    (_, user) = table.do("human list")["people"]
    assert [each["kind"] for each in user["enrolments"]] == ["token"]
    with_alice_s = planned()
    with_passphrase(with_alice_s)
    found = with_alice_s.do("human list")
    assert (found["needs"], found["people"][0]["enrolments"][0]["channel"]) == ("strong", "terminal")


def test_two_kinds_at_once_are_refused() -> None:
    table = planned()
    with persons.seated(table.context), pytest.raises(UsageError, match="one at a time"):
        table.do("human enrol", passphrase=True, ssh_key="x")


@pytest.mark.parametrize("sql", ["UPDATE human_credentials SET verifier = 'x'", "DELETE FROM human_credentials"])
def test_the_database_keeps_what_was_enrolled(sql: str) -> None:
    table = planned()
    with_passphrase(table)
    with pytest.raises(sqlite3.IntegrityError, match="NEVER_"):
        table.context.connection.execute(sql)


def test_no_public_call_takes_a_proof_on_trust(tmp_path: pathlib.Path) -> None:
    with Orchestrator.create(tmp_path / "orchestrator.db") as mine:
        mine.session_create("S1")
        public = [name for name in dir(mine) if not name.startswith("_")]
        assert not [name for name in public if "credential" in name or "proof" in name or "surroundings" in name]
        with mine.as_person("terminal"), pytest.raises(OrchestratorError, match="this token is unknown"):
            mine.session_end("S1", by="user", reason="r")


def test_an_export_masks_what_could_be_guessed_at(tmp_path: pathlib.Path) -> None:
    table = planned()
    with_passphrase(table)
    ((verifier,),) = table.rows("SELECT verifier FROM human_credentials")
    for unmasked in (False, True):
        file = tmp_path / f"{unmasked}.jsonl"
        table.do("audit export", session_id="S1", output=str(file), unmasked=unmasked)
        assert (verifier in file.read_text()) is unmasked


@pytest.mark.parametrize(("enrols", "words"), [
    ([], "Nothing is enrolled"), ([{}], "A token is enrolled"), ([{"passphrase": True}], "holds against an agent"),
])  # fmt: skip
def test_doctor_says_what_is_proven(tmp_path: pathlib.Path, enrols: list[dict[str, Any]], words: str) -> None:
    path = tmp_path / "orchestrator.db"
    with Orchestrator.create(path) as mine:
        for kind in enrols:
            with persons.seated(mine._context, secrets=[SECRET, SECRET]):
                mine.human_enrol(**kind)
    found = maintenance.doctor(str(path), {}, tmp_path, "2026-12-01T00:00:00.000000Z")
    assert words in found["facts"]["persons"]


@pytest.mark.parametrize("words", ["human enrol", "human list", "human link", "human remove", "human reset"])
def test_what_is_answered_fits_its_schema_and_reads_well(words: str) -> None:
    table = planned()
    asked: dict[str, Any] = {"human enrol": {"passphrase": True}, "human remove": {"id": "C3"}}.get(words, {})
    if words in ("human remove", "human reset", "human list"):
        with_passphrase(table)
    secrets = [SECRET] if words == "human remove" else [SECRET, SECRET]
    if words == "human reset":
        answer = act_alone(table)
    else:
        with persons.seated(table.context, secrets=secrets):
            answer = table.do(words, **asked)
    schema = json_schema(words)
    assert list(problems(operations.success(answer, "x"), schema, schema)) == []
    said = text.render(words, answer)
    assert "{" not in said
    found = {
        "human enrol": "is enrolled with a passphrase", "human list": "since", "human link": "valid once",
        "human remove": "was removed", "human reset": "nothing is enrolled for user any more",
    }  # fmt: skip
    assert found[words] in said


def earlier(table: Table, channel: str, **found: str) -> dict[str, Any]:
    """Enrol as a version did that knew of tokens alone, as a replay tells it again."""
    kept = enrolment.KeepProof(agent="user", by="user", hash=credentials.hashed(str(table.count("human_tokens"))))
    proof = Circumstances(person={"channel": channel, **found})
    return operations.carry_out(table.context, kept, proof)


def test_what_earlier_versions_recorded_is_told_again_as_it_was() -> None:
    table = planned()
    found = [earlier(table, "terminal") for _ in range(2)]
    assert [each.get("proof") for each in found] == [None, None]
    with pytest.raises(OrchestratorError, match="it needs a terminal, since a token gives no further token"):
        earlier(table, "token", enrolment=str(found[1]["enrolment"]["id"]))
    for channel, fault, words in (
        ("terminal", "no_terminal", "stdin and stderr are no terminal"),
        ("token", "unknown", "none that was given out"),
        ("terminal", "agent", "the environment is an agent's"),
        ("terminal", "code", "was not typed"),
    ):  # fmt: skip
        with pytest.raises(OrchestratorError, match=words):
            earlier(table, channel, fault=fault)
    said = [each["message"] for each in table.do("validate", session_id="S1", dry_run=True)["checks"]]
    assert sum("enrolled at" in each and "through terminal (proof: weak)" in each for each in said) == 2

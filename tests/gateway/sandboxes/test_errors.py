import msgspec

from hawse.wire import HawseError
from hawse_gateway.providers.base import SandboxSpec
from hawse_gateway.sandboxes.errors import cleanup_pending, not_started, not_wanted, repeated
from hawse_gateway.sandboxes.records import Failure, Rows, Run, SandboxRecord, Stored
from hawse_gateway.store.clock import Clock

CLOCK = Clock(wall=lambda: 1000.0, uptime=lambda: 100.0, boot="b")
NOW = CLOCK.now()
SANDBOX = SandboxRecord(
    id="a",
    unit="u",
    provider="p",
    spec=SandboxSpec(),
    wanted="running",
    created=NOW,
    generation="g",
    fingerprint="f",
)


def run(**fields) -> Stored[Run]:
    return Stored(
        Run(unit="u", sandbox="a", provider="p", runtime="r", state="stopping", since=NOW, generation="g", **fields)
    )


def test_a_run_that_has_not_ended_states_its_reason_and_when_it_is_tried_again() -> None:
    error = cleanup_pending(Rows(Stored(SANDBOX), run(reason="busy", retry_at=NOW.after(2.5))), CLOCK)
    assert (error.code, error.details) == ("cleanup_pending", {"retry_after": 2.5})
    assert "busy" in error.message


def test_an_attempt_that_is_due_has_a_small_wait_and_an_unknown_one_a_second() -> None:
    assert cleanup_pending(Rows(None, run(retry_at=NOW)), CLOCK).details == {"retry_after": 0.1}
    assert cleanup_pending(Rows(None, run()), CLOCK).details == {"retry_after": 1.0}
    ahead = run(retry_at=NOW.after(3600.0))  # written by a gateway whose clock is an hour ahead
    assert cleanup_pending(Rows(None, ahead), CLOCK).details == {"retry_after": 60.0}


def test_a_sandbox_that_did_not_start_says_why() -> None:
    def code(rows: Rows) -> str:
        return not_started(rows, "s", CLOCK).code

    failed = msgspec.structs.replace(SANDBOX, failure=Failure(code="image_not_found", message="no such image"))
    assert code(Rows(Stored(SANDBOX), run())) == "cleanup_pending"
    assert code(Rows()) == "not_found"
    assert code(Rows(Stored(failed))) == "image_not_found"
    assert code(Rows(Stored(SANDBOX))) == "stopped"
    ended = msgspec.structs.replace(failed, wanted="sleeping")
    assert code(Rows(Stored(ended), run())) == "image_not_found", "the cause, not what is left of the attempt"


def test_a_sandbox_without_a_trace_in_the_store_is_named_and_not_said_to_be_deleted() -> None:
    error = not_started(Rows(), "s-1f", CLOCK)
    assert error.message == "sandbox 's-1f' does not exist any more: it was deleted, or the store has lost it"
    error = not_started(Rows(), "s-1f", CLOCK, lost=True)
    assert (error.code, error.message) == ("unavailable", "the store has lost sandbox 's-1f' while it was starting")
    assert (error.retryable, error.admitted) == (True, "no"), "a client creates it again"


def test_a_creation_whose_id_is_in_use_repeats_it_or_says_why_not() -> None:
    def code(**fields: object) -> str:
        try:
            return repeated(Rows(Stored(msgspec.structs.replace(SANDBOX, **fields)), run()), SANDBOX, CLOCK)
        except HawseError as error:
            return error.code

    failure = Failure(code="unavailable", message="no node")
    assert code() == "g", "the generation of the sandbox that is there"
    assert code(fingerprint="other") == "conflict"
    assert code(fingerprint="") == "conflict", "adopted without its parameters"
    assert code(wanted="deleted") == "cleanup_pending"
    assert code(wanted="deleted", failure=failure) == "unavailable", "as before"
    assert code(wanted="deleted", failure=failure, fingerprint="other") == "cleanup_pending"


def test_the_error_of_a_stopped_sandbox_names_who_has_stopped_it() -> None:
    error = not_wanted(msgspec.structs.replace(SANDBOX, wanted="stopped", reason="stopped by Grace"))
    assert (error.code, error.details) == ("stopped", {"reason": "stopped by Grace"})
    assert error.message == "sandbox 'a' was stopped by Grace: start it with sandbox.start"
    unknown = not_wanted(msgspec.structs.replace(SANDBOX, wanted="paused"))
    assert unknown.details == {"reason": "paused by a client"}

"""The messages of git as typed errors. test_methods.py and test_clone.py check that git prints these messages."""

import pytest

from hawse.wire.errors import ERRORS
from hawse_runtime.git.errors import STDERR_KEPT, failure


@pytest.mark.parametrize(
    ("output", "code", "reason"),
    [
        ("fatal: Authentication failed for 'https://h/x/'", "permission_denied", "authentication"),
        ("git@h: Permission denied (publickey).\nfatal: Could not read from", "permission_denied", "authentication"),
        ("Host key verification failed.\nfatal: Could not read from", "permission_denied", "host_key"),
        ("fatal: detected dubious ownership in repository at '/x'", "permission_denied", "ownership"),
        ("fatal: not a git repository (or any of the parent directories): .git", "not_found", "not_a_repository"),
        ("remote: Repository not found.\nfatal: repository 'https://h/x/' not found", "not_found", "remote"),
        ("fatal: '/x' does not appear to be a git repository\nfatal: Could not", "not_found", "remote"),
        ("error: pathspec 'x' did not match any file(s) known to git", "not_found", "revision"),
        ("error: Your local changes to the following files would be", "conflict", "local_changes"),
        ("CONFLICT (content): Merge conflict in a", "conflict", "merge"),
        (" ! [rejected]  main -> main (fetch first)", "conflict", "rejected"),
        ("fatal: a branch named 'x' already exists", "conflict", "exists"),
        ("fatal: Unable to create '/x/.git/index.lock': File exists.", "conflict", "locked"),
        ("*** Please tell me who you are.", "invalid_params", "identity"),
        ("fatal: transport 'ext' not allowed", "invalid_params", "name"),
        ("fatal: write error: No space left on device", "no_space", "disk"),
        ("fatal: unable to access 'https://h/': Could not resolve host: h", "io_error", "network"),
        ("something else", "io_error", "git"),
        ("", "io_error", "git"),
    ],
)  # fmt: skip
def test_each_failure_has_a_code_and_a_reason(output: str, code: str, reason: str) -> None:
    error = failure(output, 128)
    assert (error.code, error.details["reason"], error.details["code"]) == (code, reason, 128)
    assert code in ERRORS
    assert error.message


def test_the_message_is_the_fatal_line_and_the_output_is_bounded() -> None:
    error = failure("x" * 10_000 + "\nfatal: it is so\nPlease make sure.", 1)
    assert error.message == "fatal: it is so"
    assert len(error.details["stderr"]) == STDERR_KEPT


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (
            "Cloning into 'x'...\nNo ED25519 host key is known for h and you have requested strict checking.\n"
            "Host key verification failed.\r\nfatal: Could not read from remote repository.\n\nPlease make sure",
            "Host key verification failed.",
        ),
        (
            "Cloning into 'x'...\nssh: Could not resolve hostname h: Name or service not known\n"
            "fatal: Could not read from remote repository.\n",
            "ssh: Could not resolve hostname h: Name or service not known",
        ),
        (
            "git@h: Permission denied (publickey).\nfatal: Could not read from remote repository.\n",
            "git@h: Permission denied (publickey).",
        ),
        (
            "Cloning into 'x'...\nfatal: Could not read from remote repository.\n",
            "fatal: Could not read from remote repository.",
        ),
    ],
)
def test_the_message_is_the_reason_of_ssh_if_the_transport_failed(output: str, message: str) -> None:
    assert failure(output, 128).message == message


def test_only_network_errors_are_retryable() -> None:
    assert failure("fatal: Could not resolve host: h", 128).retryable
    assert not failure("fatal: whatever", 128).retryable

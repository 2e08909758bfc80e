import json

from tests.support.outer import run_python

MODULE = "hawse_runtime.posix.isolation_check"


def test_it_prints_what_a_program_inside_has() -> None:
    run = run_python("-m", MODULE, "--private", "/run/hawse", "--no-network")
    found = json.loads(run.stdout)
    assert found.pop("pids")[0] == 1
    assert found == {
        "uid": 1000,
        "capabilities": 0,
        "no_new_privileges": True,
        "seccomp": True,
        "interfaces": ["lo"],
    }


def test_it_fails_with_the_reason() -> None:
    run = run_python("-m", MODULE, capabilities=False)
    assert run.returncode == 4
    assert run.stderr == "cannot separate user code from the runtime: [Errno 1] unshare: Operation not permitted\n"

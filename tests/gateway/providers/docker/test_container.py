import json
from pathlib import Path
from typing import Any

import pytest

from hawse.api.sandboxes import Network, SandboxLimits
from hawse.wire import HawseError
from hawse_gateway.egress.plan import CERTIFICATES
from hawse_gateway.providers.base import SandboxSpec
from hawse_gateway.providers.docker.container import TRUSTED, ContainerStart, UnitPlace, config, image_command


def made(
    spec: SandboxSpec | None = None,
    *,
    user: int = 990,
    network: Network = "private",
    oci: str | None = None,
    certificates: Path | None = None,
) -> dict[str, Any]:
    place = UnitPlace(gateway="ab12", unit="box", bundle=Path("/b"), sockets=Path("/s"), user=user)
    start = ContainerStart(
        image="img", network=network, runtime="0" * 16, token="secret", certificates=certificates, oci_runtime=oci
    )
    return config(place, spec or SandboxSpec(), start)


def test_a_container_is_hardened_without_any_setting() -> None:
    host = made()["HostConfig"]
    assert host["CapDrop"] == ["ALL"]
    assert host["CapAdd"] == ["CHOWN", "SETGID", "SETUID"]
    assert host["SecurityOpt"] == ["no-new-privileges"]
    assert host["ReadonlyRootfs"] is True
    assert host["NetworkMode"] == "none"
    assert host["Memory"] == host["MemorySwap"] > 0
    assert host["PidsLimit"] > 0
    assert host["Init"] is True
    assert all("size=" in options and "nosuid,nodev" in options for options in host["Tmpfs"].values())


def test_the_runtime_is_passed_its_own_command() -> None:
    container = made()
    arguments = container["Cmd"]
    assert json.loads(arguments[arguments.index("--python") + 1]) == container["Entrypoint"]


def test_limits_of_the_sandbox_replace_the_defaults() -> None:
    host = made(SandboxSpec(limits=SandboxLimits(memory=64 << 20, cpus=0.5, processes=20)))["HostConfig"]
    assert (host["Memory"], host["MemorySwap"], host["NanoCpus"], host["PidsLimit"]) == (
        *(64 << 20, 64 << 20),
        500_000_000,
        20,
    )


@pytest.mark.parametrize(("network", "mode"), [("private", "none"), ("filtered", "none"), ("host", "host")])
def test_the_start_determines_the_network(network: Network, mode: str) -> None:
    assert made(network=network)["HostConfig"]["NetworkMode"] == mode


def test_programs_of_a_filtered_network_find_the_proxy_and_its_certificates() -> None:
    container = made(network="filtered", certificates=Path("/s/trusted.pem"))
    assert {"HTTPS_PROXY=http://127.0.0.1:3128", f"SSL_CERT_FILE={CERTIFICATES}"} <= set(container["Env"])
    arguments = container["Cmd"]
    assert arguments[arguments.index("--egress") + 1] == "3128"
    mounts = [each for each in container["HostConfig"]["Mounts"] if each["Source"] == "/s/trusted.pem"]
    assert [each["Target"] for each in mounts] == list(TRUSTED)
    assert all(each["ReadOnly"] for each in mounts)


def test_other_networks_have_no_proxy() -> None:
    container = made()
    assert not any("PROXY" in text for text in container["Env"])
    assert "--egress" not in container["Cmd"]


def test_programs_never_have_the_user_of_the_runtime() -> None:
    for user in (990, 1000, 1001):
        arguments = made(user=user)["Cmd"]
        runtime, programs = arguments[arguments.index("--users") + 1].split(":")
        assert int(runtime) == user != int(programs)


def test_the_environment_of_the_sandbox_is_left_to_its_configuration_so_that_an_update_can_remove_variables() -> None:
    environment = made(SandboxSpec(env={"A": "b=c", "HAWSE_RUNTIME_TOKEN": "known"}))["Env"]
    assert environment == ["HOME=/workspace", "USER=user", "HAWSE_RUNTIME_TOKEN=secret"]


def test_the_command_of_an_image_is_its_entrypoint_and_cmd_in_its_directory_with_the_variables() -> None:
    image = {"Config": {"Entrypoint": ["/entry"], "Cmd": ["a", "b"], "WorkingDir": "/app"}}
    option, text = image_command(image, SandboxSpec(env={"A": "1"}))
    assert option == "--command"
    assert json.loads(text) == {"id": "image", "argv": ["/entry", "a", "b"], "cwd": "/app", "env": {"A": "1"}}
    assert json.loads(image_command({"Config": {"Cmd": ["x"]}}, SandboxSpec())[1])["cwd"] == "/"


@pytest.mark.parametrize("image", [{}, {"Config": None}, {"Config": {"Entrypoint": None, "Cmd": []}}])
def test_an_image_without_a_command_is_refused(image: dict[str, Any]) -> None:
    with pytest.raises(HawseError) as caught:
        image_command(image, SandboxSpec(image_command=True))
    assert (caught.value.code, caught.value.details) == ("invalid_params", {"path": "$.image_command"})


def test_in_gvisor_only_the_token_protects_the_runtime() -> None:
    assert [("--unknown-peers" in made(oci=name)["Cmd"]) for name in (None, "crun", "runsc", "runsc-kvm")] == [
        *(False, False, True, True)
    ]


def test_labels_identify_the_gateway_the_sandbox_and_the_start() -> None:
    assert made()["Labels"] == {"hawse.gateway": "ab12", "hawse.sandbox": "box", "hawse.runtime": "0" * 16}


def test_another_oci_runtime_is_only_used_on_request() -> None:
    assert "Runtime" not in made()["HostConfig"]
    assert made(oci="runsc")["HostConfig"]["Runtime"] == "runsc"


def test_the_secret_is_not_in_the_text_of_a_start() -> None:
    assert "secret" not in repr(ContainerStart(image="i", network="private", runtime="0" * 16, token="secret"))

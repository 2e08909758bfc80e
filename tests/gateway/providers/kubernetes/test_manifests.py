import re
from typing import Any

import pytest
from hypothesis import given, strategies as st

from hawse.api.sandboxes import Network, SandboxLimits
from hawse_gateway.providers.base import SandboxSpec
from hawse_gateway.providers.kubernetes import manifests
from hawse_gateway.providers.kubernetes.certificate import RuntimeCertificate
from hawse_gateway.providers.kubernetes.manifests import PodStart, merge, object_name
from hawse_gateway.providers.kubernetes.settings import KubernetesSettings

SETTINGS = KubernetesSettings(runtime_image="example.org/hawse-runtime:1")
UNITS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", fullmatch=True)
START = PodStart(runtime="0123456789abcdef", network="private", arguments=("--quota", "5", "$(HOME)"))


def pod(settings: KubernetesSettings = SETTINGS, spec: SandboxSpec | None = None) -> Any:
    return manifests.pod("Box_1", spec or SandboxSpec(), START, settings)


@given(UNITS, UNITS)
def test_names_are_dns_labels_and_differ_between_units(one: str, other: str) -> None:
    name = object_name("hawse", one)
    assert re.fullmatch(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", name)
    assert len(f"{name}-{START.runtime}") <= 253
    assert len(name) <= 63
    assert (name == object_name("hawse", other)) == (one == other)
    assert name != object_name("other", one)


def test_a_pod_runs_without_rights_and_with_the_runtime_of_the_bundle() -> None:
    made = pod()
    spec, (installer, container) = made["spec"], made["spec"]["containers"]
    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"]["runAsNonRoot"]
    assert installer["name"] == manifests.INSTALLER, "the kubelet starts it first, and the sandbox after its hook"
    for each in (installer, container):
        assert each["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert "--id" in container["args"]
    assert made["metadata"]["annotations"][manifests.UNIT_ANNOTATION] == "Box_1"
    secret = container["env"][3]["valueFrom"]["secretKeyRef"]
    owned = manifests.secret("Box_1", START.runtime, "t", RuntimeCertificate("cert", "key"), SETTINGS)
    assert secret == {"name": owned["metadata"]["name"], "key": "token"}
    assert "key" not in str(made["metadata"])


def test_the_cluster_replaces_no_variables_in_the_arguments_of_a_runtime() -> None:
    assert pod()["spec"]["containers"][1]["args"][-1] == "$$(HOME)"


def test_a_pod_has_the_limits_of_its_sandbox() -> None:
    limits = SandboxLimits(memory=1 << 30, cpus=0.5, disk=5 << 30)
    made = pod(spec=SandboxSpec(limits=limits, image="alpine:3"))
    (_, container) = made["spec"]["containers"]
    assert container["image"] == "alpine:3"
    assert container["resources"]["limits"] == {"memory": str(1 << 30), "cpu": "500m"}
    claim = manifests.claim("Box_1", SandboxSpec(limits=limits), SETTINGS)
    assert claim["spec"]["resources"]["requests"]["storage"] == str(5 << 30)


def test_a_pod_has_a_memory_limit_by_default_which_the_settings_and_the_sandbox_replace() -> None:
    def memory(settings: KubernetesSettings, spec: SandboxSpec) -> str:
        limit: str = pod(settings, spec)["spec"]["containers"][1]["resources"]["limits"]["memory"]
        return limit

    pods = {"spec": {"containers": [{"name": "sandbox", "resources": {"limits": {"memory": "2Gi"}}}]}}
    larger = KubernetesSettings(runtime_image="r", pod=pods)
    assert memory(SETTINGS, SandboxSpec()) == "512Mi"
    assert memory(larger, SandboxSpec()) == "2Gi"
    assert memory(larger, SandboxSpec(limits=SandboxLimits(memory=1 << 30))) == str(1 << 30)


def test_the_default_limit_is_raised_to_a_higher_request_of_the_settings() -> None:
    pods = {"spec": {"containers": [{"name": "sandbox", "resources": {"requests": {"memory": "2Gi"}}}]}}
    settings = KubernetesSettings(runtime_image="a:1", pod=pods)
    resources = pod(settings)["spec"]["containers"][1]["resources"]
    assert (resources["requests"]["memory"], resources["limits"]["memory"]) == ("2Gi", "2Gi")
    resources = pod(settings, SandboxSpec(limits=SandboxLimits(memory=1 << 30)))["spec"]["containers"][1]["resources"]
    assert (resources["requests"]["memory"], resources["limits"]["memory"]) == (str(1 << 30), str(1 << 30))


def test_a_sandbox_with_limits_below_the_default_requests_requests_less() -> None:
    settings = KubernetesSettings(
        runtime_image="a:1",
        pod={"spec": {"containers": [{"name": "sandbox", "resources": {"requests": {"cpu": "2", "disk.example": 1}}}]}},
    )
    small = SandboxSpec(limits=SandboxLimits(memory=64 << 20, cpus=0.25))
    (_, container) = pod(settings, spec=small)["spec"]["containers"]
    assert container["resources"]["requests"] == {"memory": str(64 << 20), "cpu": "250m", "disk.example": 1}
    (_, container) = pod(settings)["spec"]["containers"]
    assert container["resources"]["requests"] == {**manifests.REQUESTS, "cpu": "2", "disk.example": 1}
    assert manifests.REQUESTS["cpu"] == "50m", "another pod has the usual ones"


def test_files_survive_in_a_claim_or_end_with_the_pod() -> None:
    volumes = {volume["name"]: volume for volume in pod()["spec"]["volumes"]}
    claim = manifests.claim("Box_1", SandboxSpec(), SETTINGS)
    assert volumes["workspace"]["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
    ephemeral = KubernetesSettings(runtime_image="a:1", workspace="ephemeral", workspace_size="5Gi")
    volumes = {volume["name"]: volume for volume in pod(ephemeral)["spec"]["volumes"]}
    assert volumes["files"] == {"name": "files", "emptyDir": {"sizeLimit": "5Gi"}}


def test_settings_add_to_a_pod_and_cannot_give_it_rights() -> None:
    extra = {
        "metadata": {"labels": {"team": "a", manifests.NETWORK_LABEL: "host"}},
        "spec": {
            "nodeSelector": {"disk": "ssd"},
            "hostNetwork": True,
            "automountServiceAccountToken": True,
            "tolerations": [{"key": "gpu"}],
            "volumes": [{"name": "cache", "emptyDir": {}}],
            "containers": [
                {
                    "name": "sandbox",
                    "securityContext": {"privileged": True},
                    "resources": {"requests": {"cpu": "2"}},
                    "volumeMounts": [{"name": "cache", "mountPath": "/cache"}],
                }
            ],
        },
    }
    made = pod(KubernetesSettings(runtime_image="a:1", pod=extra))
    spec, (_, container) = made["spec"], made["spec"]["containers"]
    assert made["metadata"]["labels"]["team"] == "a"
    assert made["metadata"]["labels"][manifests.NETWORK_LABEL] == "private"
    assert (spec["hostNetwork"], spec["automountServiceAccountToken"]) == (False, False)
    assert spec["nodeSelector"] == {"disk": "ssd"}
    assert spec["tolerations"] == [{"key": "gpu"}]
    assert container["securityContext"]["privileged"] is False
    assert container["resources"]["requests"] == {"cpu": "2", "memory": "128Mi"}
    assert {"name": "cache", "mountPath": "/cache"} in container["volumeMounts"]
    assert len(container["volumeMounts"]) == 5


@pytest.mark.parametrize("network", ["private", "host"])
def test_only_gateways_reach_sandboxes_and_only_host_reaches_others(network: Network) -> None:
    policies = {
        each["spec"]["podSelector"]["matchLabels"][manifests.NETWORK_LABEL]: each["spec"]
        for each in manifests.policies(SETTINGS)
    }
    spec = policies[network]
    assert spec["policyTypes"] == ["Ingress", "Egress"]
    assert spec["ingress"] == [{"from": SETTINGS.gateways, "ports": [{"protocol": "TCP", "port": manifests.PORT}]}]
    if network == "private":
        assert spec["egress"] == []
    else:
        blocks = {to["ipBlock"]["cidr"]: to["ipBlock"]["except"] for to in spec["egress"][0]["to"]}
        assert {"169.254.0.0/16", "100.100.100.200/32", "168.63.129.16/32"} <= set(blocks["0.0.0.0/0"])
        assert {"fd00:ec2::254/128", "fd20:ce::254/128"} <= set(blocks["::/0"])
        (cache,) = spec["egress"][1]["to"]
        assert cache == {"ipBlock": {"cidr": "169.254.20.10/32"}}
        assert {each["port"] for each in spec["egress"][1]["ports"]} == {53}, "names only"


@given(
    st.recursive(st.none() | st.integers() | st.text(), lambda each: st.lists(each) | st.dictionaries(st.text(), each))
)
def test_a_merge_into_nothing_changes_nothing(value: Any) -> None:
    assert merge({}, value) == value
    assert merge({"a": 1}, {"b": value}) == {"a": 1, "b": value}

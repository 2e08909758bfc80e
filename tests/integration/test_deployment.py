"""The manifests of deploy/kubernetes: the cluster accepts them, and they grant the rights that gateways need."""

import asyncio
import configparser
import json
import re
import secrets
import shlex
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import pytest_asyncio
import yaml  # type: ignore[import-untyped]  # its stubs are a package of their own
from lightkube import ApiError, AsyncClient, codecs
from lightkube.config.kubeconfig import KubeConfig
from lightkube.models.authentication_v1 import TokenRequestSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Event, Namespace, Pod, Secret, ServiceAccount, ServiceAccountToken
from lightkube.resources.networking_v1 import NetworkPolicy
from lightkube.utils.quantity import parse_quantity

from hawse.cli.commands.serve import options
from hawse_gateway.providers.base import Observation, SandboxSpec
from hawse_gateway.providers.kubernetes.manifests import labels
from hawse_gateway.providers.kubernetes.provider import KubernetesProvider
from hawse_gateway.providers.kubernetes.settings import read_settings
from hawse_gateway.settings import Settings
from tests.support import kubernetes
from tests.support.waiting import TIMEOUT

ROOT: Final = Path(__file__).resolve().parents[2]
DEPLOY: Final = ROOT / "deploy" / "kubernetes"
METRIC: Final = re.compile(r"\b(?:hawse|process)_\w+")
INSTALLED: Final = {"Gateway", "HTTPRoute", "ServiceMonitor"}  # kinds that exist only after installing add-ons
SPACES: Final = ("hawse", "hawse-sandboxes")  # the namespaces of the manifests

Manifest = dict[str, Any]


def kustomizations() -> list[Path]:
    return sorted(DEPLOY.rglob("kustomization.yaml"))


def manifests() -> Iterator[tuple[Path, Manifest]]:
    """Yield the manifests listed in the kustomizations, with their files."""
    for each in kustomizations():
        for name in yaml.safe_load(each.read_text())["resources"]:
            path = each.parent / name
            for manifest in yaml.safe_load_all(path.read_text()):
                yield path, manifest


def of_kind(kind: str, name: str) -> Manifest:
    (found,) = [each for _, each in manifests() if (each["kind"], each["metadata"]["name"]) == (kind, name)]
    return found


def test_every_file_belongs_to_a_kustomization() -> None:
    named = {path for path, _ in manifests()}
    for each in kustomizations():
        generated = yaml.safe_load(each.read_text()).get("configMapGenerator", [])
        named |= {each.parent / file for config in generated for file in config["files"]}
    assert set(DEPLOY.rglob("*.*")) - set(kustomizations()) == named


def test_the_gateway_knows_its_arguments_and_settings() -> None:
    (container,) = of_kind("Deployment", "hawse")["spec"]["template"]["spec"]["containers"]
    command, *arguments = container["args"]
    assert command == "serve"
    known = {name for option in options(Settings) for name in option.opts}
    assert {argument.partition("=")[0] for argument in arguments} <= known
    settings = read_settings(DEPLOY / "kubernetes.toml")
    assert settings.namespace == of_kind("Role", "hawse")["metadata"]["namespace"]


def test_the_unit_of_systemd_starts_a_gateway_with_arguments_that_it_knows() -> None:
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment]  # keeps upper case
    unit.read(ROOT / "deploy" / "systemd" / "hawse@.service")
    _, command, *arguments = shlex.split(unit["Service"]["ExecStart"])
    assert command == "serve"
    known = {name for option in options(Settings) for name in option.opts}
    assert {argument for argument in arguments if argument.startswith("--")} <= known
    assert "--port %i" in unit["Service"]["ExecStart"]


def test_redis_refuses_writes_before_the_cluster_kills_it() -> None:
    """A server killed for its memory use would load the same data again, and be killed again."""
    (container,) = of_kind("StatefulSet", "redis")["spec"]["template"]["spec"]["containers"]
    options = dict(zip(container["args"][::2], container["args"][1::2], strict=True))
    most, limit = parse_quantity(options["--maxmemory"].replace("mb", "Mi")), container["resources"]["limits"]["memory"]
    assert most is not None
    assert 2 * most <= (parse_quantity(limit) or 0), "a copy while its file is rewritten needs as much again"


def test_the_dashboard_shows_metrics_that_are_documented() -> None:
    panels = json.loads((DEPLOY / "monitoring" / "dashboard.json").read_text())["panels"]
    shown = {metric for panel in panels for target in panel["targets"] for metric in METRIC.findall(target["expr"])}
    documented = (ROOT / "docs" / "metrics.md").read_text()
    ours = {metric.removesuffix("_bucket") for metric in shown if metric.startswith("hawse_")}
    assert len(ours) > 10
    assert [m for m in ours if m not in documented and not m.startswith("hawse_runtime_")] == []


@pytest_asyncio.fixture
async def spaces() -> AsyncIterator[dict[str, str]]:
    """Two namespaces that replace the manifests' namespaces."""
    mark = secrets.token_hex(4)
    names = {space: f"t{mark}-{space}" for space in SPACES}
    async with AsyncClient() as cluster:
        for name in names.values():
            labels = {"pod-security.kubernetes.io/enforce": "restricted"}
            await cluster.create(Namespace(metadata=ObjectMeta(name=name, labels=labels)))
        try:
            yield names
        finally:
            for name in names.values():
                await cluster.delete(Namespace, name)


def placed(manifest: Manifest, spaces: dict[str, str]) -> Manifest:
    """Return a manifest moved to the test's namespaces."""
    placed: Manifest = json.loads(json.dumps(manifest))
    if "namespace" in placed["metadata"]:
        placed["metadata"]["namespace"] = spaces[placed["metadata"]["namespace"]]
    for subject in placed.get("subjects", []):
        subject["namespace"] = spaces[subject["namespace"]]
    return placed


def lost(given: Any, kept: Any, path: str = "$") -> list[str]:
    """Return the paths of fields that the cluster dropped, because their kind does not have them."""
    if isinstance(given, dict):
        missing = [f"{path}.{key}" for key in given if key not in kept]
        return missing + [each for key in given if key in kept for each in lost(given[key], kept[key], f"{path}.{key}")]
    if isinstance(given, list):
        pairs = zip(given, kept, strict=True)
        return [each for index, pair in enumerate(pairs) for each in lost(*pair, f"{path}[{index}]")]
    return []


@kubernetes.needs_cluster
async def test_the_cluster_accepts_each_manifest_and_knows_each_field(spaces: dict[str, str]) -> None:
    async with AsyncClient() as cluster:
        for path, manifest in manifests():
            if manifest["kind"] in INSTALLED:
                continue
            sent = placed(manifest, spaces)
            if manifest["kind"] == "Namespace":
                sent["metadata"]["name"] += secrets.token_hex(4)
            read: Any = codecs.from_dict(sent)
            assert lost(sent, read.to_dict()) == [], path
            await cluster.create(read, dry_run=True)


@kubernetes.needs_cluster
@pytest.mark.parametrize(("kind", "name"), [("Deployment", "hawse"), ("StatefulSet", "redis")])
async def test_pods_are_restricted(spaces: dict[str, str], kind: str, name: str) -> None:
    template = of_kind(kind, name)["spec"]["template"]
    volumes = [each["metadata"]["name"] for each in of_kind(kind, name)["spec"].get("volumeClaimTemplates", [])]
    spec = {"volumes": [{"name": each, "emptyDir": {}} for each in volumes]} | template["spec"]
    spec.pop("serviceAccountName", None)  # this namespace has none
    async with AsyncClient(namespace=spaces["hawse"]) as cluster:
        await cluster.get(ServiceAccount, "default", namespace="default")
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
        try:
            made: Any = Pod.from_dict(pod)
            await cluster.create(made, dry_run=True)
        except ApiError as error:  # a new namespace may not have its account yet, which is checked last
            assert "serviceaccount" in str(error)  # noqa: PT017


@kubernetes.needs_cluster
async def test_the_rights_of_the_gateway_are_enough_and_no_more(
    spaces: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = spaces["hawse-sandboxes"]
    async with AsyncClient() as cluster:
        for kind in ("ServiceAccount", "Role", "RoleBinding"):
            given: Any = codecs.from_dict(placed(of_kind(kind, "hawse"), spaces))
            await cluster.create(given)
        request = ServiceAccountToken(metadata=ObjectMeta(), spec=TokenRequestSpec(expirationSeconds=600))
        made = await cluster.create(request, name="hawse", namespace=spaces["hawse"])
    assert made.status is not None
    assert made.status.token is not None
    operator = KubeConfig.from_env().get()
    config = _config_of(made.status.token)
    (tmp_path / "kubeconfig").write_text(json.dumps(config))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
    settings = kubernetes.settings("hawse", namespace=where)
    provider = KubernetesProvider(settings)
    async with asyncio.TaskGroup() as tasks:
        following = tasks.create_task(provider.run())
        await provider.create("box", SandboxSpec(), lambda _: None)
        await provider.start("box", SandboxSpec(), "0123456789abcdef", lambda _: None)
        async with AsyncClient(namespace=where) as gateway:
            _ = [event async for event in gateway.list(Event)]  # allowed, even if there are none yet
            for denied in (
                gateway.get(Secret, "any"),
                gateway.get(NetworkPolicy, "any"),
                gateway.delete(NetworkPolicy, "any"),
                gateway.delete(Event, "any"),
                gateway.get(Pod, "p", namespace="default"),
            ):
                with pytest.raises(ApiError, match="forbidden"):
                    await denied
        await provider.stop("box")
        async with AsyncClient(operator, namespace=where) as cluster:
            assert [secret async for secret in cluster.list(Secret, labels=dict(labels("hawse")))] == []
        await provider.delete("box")
        following.cancel()
    await provider.close()
    keeping = KubernetesProvider(kubernetes.settings("hawse", namespace=where, workspace="claim"))
    async with asyncio.TaskGroup() as tasks:
        following = tasks.create_task(keeping.run())
        await keeping.create("kept", SandboxSpec(), lambda _: None)
        assert [seen.keeps for seen in await until_discovered(keeping)] == [True]
        await keeping.delete("kept")
        following.cancel()
    await keeping.close()


async def until_discovered(provider: KubernetesProvider) -> list[Observation]:
    """Wait until a newly created claim is reported."""
    async with asyncio.timeout(TIMEOUT):
        while not (found := await provider.discover()):  # noqa: ASYNC110  # providers report no changes
            await asyncio.sleep(0.02)
        return found


def _config_of(token: str) -> Manifest:
    """Return a kubeconfig for the test cluster and a token's account."""
    found = KubeConfig.from_env().get()
    assert found is not None
    cluster = {
        "server": found.cluster.server,
        "certificate-authority": found.cluster.certificate_auth,
        "certificate-authority-data": found.cluster.certificate_auth_data,
    }
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {name: value for name, value in cluster.items() if value is not None}}],
        "users": [{"name": "u", "user": {"token": token}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }

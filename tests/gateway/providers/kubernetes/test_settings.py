from pathlib import Path

import pytest

from hawse_gateway.providers.base import ProviderError
from hawse_gateway.providers.kubernetes.settings import KubernetesSettings, read_settings

IMAGE = 'runtime_image = "a:1"\n'


def written(folder: Path, text: str) -> Path:
    path = folder / "kubernetes.toml"
    path.write_text(text)
    return path


def test_a_file_is_read(tmp_path: Path) -> None:
    text = """
        runtime_image = "example.org/hawse-runtime:1"
        namespace = "agents"
        workspace = "ephemeral"
        workspace_size = "20Gi"
        [pod.spec.nodeSelector]
        disk = "ssd"
    """
    settings = read_settings(written(tmp_path, text))
    assert settings == KubernetesSettings(
        runtime_image="example.org/hawse-runtime:1",
        namespace="agents",
        workspace="ephemeral",
        workspace_size="20Gi",
        pod={"spec": {"nodeSelector": {"disk": "ssd"}}},
    )


def test_fields_that_kubernetes_knows_are_kept(tmp_path: Path) -> None:
    text = f"""{IMAGE}
        gateways = [{{ ipBlock = {{ cidr = "10.0.0.0/8", except = ["10.1.0.0/16"] }} }}]
        [pod.metadata.labels]
        team = "agents"
        [pod.spec]
        runtimeClassName = "gvisor"
        tolerations = []
        volumes = [{{ name = "cache", emptyDir = {{}} }}]
        [[pod.spec.containers]]
        name = "sandbox"
        resources.requests = {{ cpu = 1, memory = "1Gi" }}
    """
    settings = read_settings(written(tmp_path, text))
    assert settings.pod["spec"]["runtimeClassName"] == "gvisor"
    assert settings.gateways == [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}}]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "runtime_image"),
        ('runtime_image = "../x"', "runtime_image"),
        ('runtime_image = "a:1"\nnamespaces = "b"', "namespaces"),
        ('runtime_image = "a:1"\nnamespace = "Upper"', "namespace"),
        ('runtime_image = "a:1"\nworkspace = "disk"', "workspace"),
        ('runtime_image = "a:1"\nworkspace_size = "ten"', "workspace_size"),
        ('runtime_image = "a:1"\nuser = 0', "user"),
        ("runtime_image = ", "Invalid value"),
        (f'{IMAGE}[pod.spec]\nruntimeClassname = "gvisor"', r"Kubernetes has no field pod\.spec\.runtimeClassname"),
        (f'{IMAGE}[pod.specs]\nruntimeClassName = "gvisor"', r"Kubernetes has no field pod\.specs"),
        (
            f'{IMAGE}[[pod.spec.containers]]\nname = "sandbox"\nimagePullpolicy = "Never"',
            r"Kubernetes has no field pod\.spec\.containers\[0\]\.imagePullpolicy",
        ),
        (f"{IMAGE}[pod.spec]\nruntimeClassName = 5", r"pod: Expected `str \| null`, got `int` - at `\$\.spec"),
        (f'{IMAGE}[pod]\nspec = "x"', "pod: Expected `object"),
        (f"{IMAGE}[[pod.spec.containers]]\nresources = {{}}", "pod: Object missing required field `name`"),
        (
            f"{IMAGE}[[gateways]]\nnamespaceSelector = {{}}\npodselector = {{}}",
            r"Kubernetes has no field gateways\[0\]\.podselector",
        ),
    ],
)
def test_the_error_names_the_invalid_setting(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(ProviderError, match=problem) as caught:
        read_settings(written(tmp_path, text))
    assert "--kubernetes" in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match=r"--kubernetes .*missing\.toml: No such file"):
        read_settings(tmp_path / "missing.toml")

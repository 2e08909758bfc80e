from pathlib import Path

import pytest

from gateway.providers.base import ProviderError
from gateway.providers.kubernetes.settings import KubernetesSettings, read_settings


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
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(ProviderError, match=problem) as caught:
        read_settings(written(tmp_path, text))
    assert "--kubernetes" in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match=r"--kubernetes .*missing\.toml: No such file"):
        read_settings(tmp_path / "missing.toml")

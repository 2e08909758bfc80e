import pytest

from hawse_gateway.core.settings import SettingsError
from hawse_gateway.preview.settings import PreviewSettings


@pytest.mark.parametrize("name", ["", "a b", "http://a", "a:80", ".a", "a/"])
def test_an_invalid_preview_host_is_refused(name: str) -> None:
    with pytest.raises(SettingsError, match="--preview-host"):
        PreviewSettings(preview_host=name).check()
    PreviewSettings(preview_host="previews.example.org").check()
    PreviewSettings(preview_host=None).check()

from pathlib import Path

import pytest

from hawse_gateway.core.settings import SettingsError
from hawse_gateway.metrics.feature import METRICS, SPANS
from tests.support.composed import composed, paths, scraped


async def test_metrics_contain_the_version_and_the_process(tmp_path: Path) -> None:
    composition = composed(METRICS, tmp_path)
    assert paths(composition)[-1] == "/metrics"
    by_itself = composition.metrics[-1]
    composition.metrics[:] = [composition.metrics[-2], by_itself]
    text = await scraped(composition)
    assert "hawse_info{" in text
    assert "process_open_fds " in text


async def test_spans_are_exported_only_if_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(composed(SPANS, tmp_path).observers) == 2
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "none")
    composition = composed(SPANS, tmp_path, otel=True)
    assert len(composition.observers) == 3
    async with composition.started():
        pass  # the exporter is closed at the end
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "unknown")
    with pytest.raises(SettingsError, match="--otel: unknown exporter 'unknown'"):
        composed(SPANS, tmp_path, otel=True)

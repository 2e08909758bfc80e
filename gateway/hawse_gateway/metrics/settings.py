"""Settings for tracing."""

from dataclasses import dataclass
from typing import Annotated

from hawse_gateway.core.settings import FeatureSettings, Option


@dataclass(frozen=True, kw_only=True)
class SpanSettings(FeatureSettings):
    """Settings for exporting spans with OpenTelemetry."""

    otel: Annotated[
        bool,
        Option(
            "--otel", "export a span for each call with OpenTelemetry, configured by its environment variables (OTEL_*)"
        ),
    ] = False

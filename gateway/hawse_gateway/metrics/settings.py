"""The settings of traces."""

from dataclasses import dataclass
from typing import Annotated

from hawse_gateway.core.settings import FeatureSettings, Option


@dataclass(frozen=True, kw_only=True)
class SpanSettings(FeatureSettings):
    """The export of spans."""

    otel: Annotated[
        bool,
        Option("--otel", "export a span of each call with OpenTelemetry, as its environment variables (OTEL_*) say"),
    ] = False

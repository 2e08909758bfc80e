"""The limits feature: enforces limits on users, links and addresses, shared by all gateways with the same store."""

import secrets

from hawse_gateway.core.feature import Composition, Feature
from hawse_gateway.limits.byte_rates import ByteRates
from hawse_gateway.limits.calls import CallLimits, CallRates
from hawse_gateway.limits.failed_attempts import FailedAttempts
from hawse_gateway.limits.quotas import HeldLimit, Quotas
from hawse_gateway.limits.settings import LimitSettings
from hawse_gateway.limits.shared import SharedLimits
from hawse_gateway.store.base import Store


def _build(gateway: Composition) -> None:
    settings = gateway.part(LimitSettings)
    quotas = gateway.ensure(Quotas, settings.quotas)
    gateway.ensure(FailedAttempts, lambda: FailedAttempts(burst=settings.wrong_tokens))
    gateway.ensure(ByteRates, lambda: ByteRates(quotas))
    gateway.add(HeldLimit(quotas, "connections"))
    calls = gateway.add(CallLimits(quotas, gateway.find(CallRates)))
    gateway.observers.append(calls)


def _build_shared(gateway: Composition) -> None:
    store = gateway.part(Store).limits
    if store is None:
        return
    calls = gateway.part(CallLimits)
    tables = {f"calls:{who}": table for who, table in calls.rates.tables.items()}
    tables |= {f"bytes:{who}": table for who, table in gateway.part(ByteRates).tables.items()}
    held = (gateway.part(HeldLimit), calls.terminals)
    failed_attempts = gateway.part(FailedAttempts)
    shared = SharedLimits(store, secrets.token_hex(8), tables=tables, held=held, failed_attempts=failed_attempts)
    gateway.run(shared.run, "limits")


LIMITS = Feature("limits", _build)
SHARED_LIMITS = Feature("shared limits", _build_shared)

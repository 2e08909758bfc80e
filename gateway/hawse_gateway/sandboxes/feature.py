"""The sandbox feature: adds providers, links, and the methods `sandbox.*`, `egress.*`, `template.*` and `image.*`."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import get_args

from hawse.api.egress import EgressRefusal
from hawse.api.sandboxes import SandboxState
from hawse_gateway.audit.trail import AuditTrail
from hawse_gateway.auth.methods import AccessMethods
from hawse_gateway.backups.methods import BackupMethods
from hawse_gateway.core.feature import Composition, Feature
from hawse_gateway.core.log_config import LogSettings
from hawse_gateway.egress.follower import OnRefusal
from hawse_gateway.egress.refusals import Counters
from hawse_gateway.egress.settings import EgressSettings, read_egress_settings
from hawse_gateway.limits.calls import CallLimits
from hawse_gateway.limits.quotas import Quotas
from hawse_gateway.metrics.prometheus_text import Exposition, Family
from hawse_gateway.providers.joined.provider import JOINED, JoinedProvider
from hawse_gateway.providers.methods import ImageMethods
from hawse_gateway.providers.registry import ProviderOptions, create_providers
from hawse_gateway.providers.settings import ProviderSettings
from hawse_gateway.providers.state_directory import StateDirectory
from hawse_gateway.sandboxes.admission import Admission, Capacity
from hawse_gateway.sandboxes.creation import Creations
from hawse_gateway.sandboxes.egress_methods import EgressMethods
from hawse_gateway.sandboxes.feed import SandboxFeed
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.sandboxes.methods import SandboxMethods
from hawse_gateway.sandboxes.overview.index import SandboxIndex
from hawse_gateway.sandboxes.pool import Pool
from hawse_gateway.sandboxes.records import RUNS, read_run, shown_state
from hawse_gateway.sandboxes.settings import CapacitySettings, SandboxSettings
from hawse_gateway.sandboxes.templates import read_templates
from hawse_gateway.store.base import ANY_TABLE, PAGE, Store, StoreError
from hawse_gateway.store.settings import StoreSettings
from hawse_gateway.upstream.links import Links
from hawse_gateway.upstream.observer import Observers
from hawse_gateway.upstream.runtime_calls import LinkedRuntimeCalls


def _build(gateway: Composition) -> None:
    sandboxes = gateway.ensure(Sandboxes, lambda: _sandboxes(gateway))
    store = gateway.part(Store)
    index = gateway.add(sandboxes.index)
    tasks = gateway.add(asyncio.TaskGroup())
    joined = sandboxes.providers.get(JOINED)
    machines = gateway.add(joined).machines if isinstance(joined, JoinedProvider) else None
    links = gateway.add(
        Links(
            sandboxes,
            tasks,
            observer=Observers(gateway.observers),
            owns=index.owns,
            limits=gateway.part(CallLimits),
            machines=machines,
            alone_for=sandboxes.vacancy.seconds,
            shared=store.limits is not None,
            preparations=gateway.preparations,
        )
    )
    gateway.running.append(_running(gateway, links))


def _sandboxes(gateway: Composition) -> Sandboxes:
    provided, settings = gateway.part(ProviderSettings), gateway.part(SandboxSettings)
    state, alone = gateway.part(StateDirectory), gateway.part(StoreSettings).store is None
    egress = EgressSettings() if provided.egress is None else read_egress_settings(provided.egress)
    options = ProviderOptions(
        state=state,
        isolation=provided.isolation,
        image=provided.image,
        oci_runtime=provided.oci_runtime,
        network=provided.network,
        quota=settings.quota,
        log_format=gateway.part(LogSettings).log_format,
        max_contexts=settings.max_contexts,
        max_terminals=gateway.part(Quotas).number("user", "terminals"),
        code_pool=settings.code_pool,
        kubernetes=provided.kubernetes,
        start_timeout=settings.start_timeout,
        egress=egress,
        on_refusal=_refusals(gateway.part(Store), gateway.part(AuditTrail)),
    )
    return Sandboxes(
        gateway.part(Store),
        create_providers(provided.provider, options, alone=alone),
        idle_timeout=settings.idle_timeout,
        pool=settings.pool,
        templates=None if settings.templates is None else read_templates(settings.templates),
        egress=egress,
        admission=Admission(Capacity(sandboxes=gateway.part(CapacitySettings).max_sandboxes), state.root),
    )


def _refusals(store: Store, audit: AuditTrail) -> OnRefusal:
    """Return a function that records refusals from filtered networks in the audit log."""

    async def note(unit: str, refusal: EgressRefusal) -> None:
        try:
            run = await read_run(store, unit)
        except StoreError:
            run = None
        audit.egress(unit if run is None else run.value.sandbox, refusal)

    return note


@asynccontextmanager
async def _running(gateway: Composition, links: Links) -> AsyncIterator[None]:
    """Run the sandboxes, their links, and the tasks used by the gateway's methods."""
    sandboxes, store = gateway.part(Sandboxes), gateway.part(Store)
    async with sandboxes.running(LinkedRuntimeCalls(links)), gateway.part(asyncio.TaskGroup):
        stop_listening = store.listen(lambda name, key: links.retry_waiting() if name in (RUNS, ANY_TABLE) else None)
        yield
        stop_listening()
        links.stop()


def _build_methods(gateway: Composition) -> None:
    tasks, sandboxes = gateway.part(asyncio.TaskGroup), gateway.part(Sandboxes)
    feed = SandboxFeed(sandboxes)
    networks = gateway.part(ProviderSettings).user_networks or None
    end_links = gateway.part(AccessMethods).end_links
    creations = Creations(
        sandboxes,
        gateway.part(SandboxIndex),
        limit=gateway.part(Quotas).number("user", "sandboxes"),
        end_links=end_links,
        snapshots=gateway.find(BackupMethods),
        user_networks=networks,
    )
    gateway.methods.append(SandboxMethods(sandboxes, feed, creations, end_links=end_links))
    gateway.methods.append(EgressMethods(sandboxes.egress, tasks, user_networks=networks))
    gateway.methods.append(ImageMethods(sandboxes.providers, tasks))
    gateway.run(feed.run, "sandbox.watch")

    async def collect(out: Exposition) -> None:
        for provider in sandboxes.providers.values():
            if provider.egress is not None:
                _add_egress(out, provider.egress.follower.totals(), provider.egress.follower.lost)
        _add_pool(out, sandboxes.pool)
        states = await _count_states(sandboxes.index)
        family = Family("hawse_sandboxes", "gauge", "Sandboxes by state.")
        out.add(family, [({"state": state}, states[state]) for state in get_args(SandboxState)])

    gateway.metrics.append(collect)


async def _count_states(index: SandboxIndex) -> Counter[SandboxState]:
    """Count the sandboxes in each state, without pool members."""
    states = Counter[SandboxState]()
    for number, id in enumerate(index.visible, 1):
        if (found := index.find(id)) is not None:
            run = index.run_at(found.unit)
            joined = found.provider == JOINED
            state = shown_state(found.wanted, None if run is None else run.state, failed=found.failed, joined=joined)
            states[state] += 1
        if number % PAGE == 0:
            await asyncio.sleep(0)  # lets other tasks run
    return states


def _add_pool(out: Exposition, pool: Pool) -> None:
    """Add metrics for the sandboxes that are started in advance."""
    size = Family("hawse_pool_size", "gauge", "Sandboxes to keep ready in pools.")
    ready = Family("hawse_pool_ready", "gauge", "Ready sandboxes in pools.")
    claims = Family("hawse_pool_claims_total", "counter", "Creations that have looked for a sandbox in a pool.")
    out.add(size, [({}, pool.size)])
    out.add(ready, [({}, pool.ready)])
    out.add(claims, [({"result": "claimed"}, pool.claimed), ({"result": "missed"}, pool.missed)])


def _add_egress(out: Exposition, totals: Counters, lost: int) -> None:
    """Add metrics for filtered networks' proxies."""
    connections = Family("hawse_egress_connections", "gauge", "Connections to proxies of filtered networks.")
    requests = Family("hawse_egress_requests_total", "counter", "Requests to proxies of filtered networks, by result.")
    content = Family(
        "hawse_egress_bytes_total", "counter", "Bytes of request and response bodies in filtered networks."
    )
    unwritten = Family("hawse_egress_refusals_lost_total", "counter", "Refusals that are missing from the audit log.")
    cpu = Family("hawse_egress_cpu_seconds_total", "counter", "CPU time used by proxies of filtered networks.")
    memory = Family("hawse_egress_resident_memory_bytes", "gauge", "Their resident memory.")
    out.add(connections, [({}, totals.connections)])
    out.add(cpu, [({}, totals.cpu)])
    out.add(memory, [({}, totals.memory)])
    out.add(requests, [({"result": "passed"}, totals.requests), ({"result": "refused"}, totals.refused)])
    out.add(content, [({"direction": "out"}, totals.sent), ({"direction": "in"}, totals.received)])
    out.add(unwritten, [({}, lost)])


SANDBOXES = Feature("sandboxes", _build)
SANDBOX_METHODS = Feature("sandbox methods", _build_methods)

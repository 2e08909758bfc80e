"""The mount feature: `mount.*`. A sandbox gets its mounts before its first call."""

from hawse_gateway.core.feature import Composition, Feature
from hawse_gateway.limits.quotas import Quotas
from hawse_gateway.mounts.methods import MountMethods, MountOptions
from hawse_gateway.mounts.processes import MountProcesses
from hawse_gateway.mounts.reconciler import MountReconciler
from hawse_gateway.providers.state_directory import StateDirectory
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.settings import Settings
from hawse_gateway.store.base import Store


def _build(gateway: Composition) -> None:
    settings, store, sandboxes = gateway.part(Settings), gateway.part(Store), gateway.part(Sandboxes)
    options = gateway.ensure(
        MountOptions,
        lambda: MountOptions.read(
            settings.mounts, gateway.part(StateDirectory).root, images_size=settings.overlays_size
        ),
    )
    processes = MountProcesses(options.root, options.settings)
    reconciler = MountReconciler(store, sandboxes.providers, processes, options.settings, options.locks, options.images)
    limit = gateway.part(Quotas).number("user", "mounts")
    gateway.methods.append(gateway.add(MountMethods(store, sandboxes, reconciler, options.settings, limit=limit)))
    gateway.preparations.append(reconciler.ensure)
    gateway.run(reconciler.run, "mounts")


MOUNTS = Feature("mounts", _build)

"""The mount feature: provides `mount.*`. A sandbox's mounts are mounted before its first call."""

from hawse_gateway.backups.settings import BackupSettings
from hawse_gateway.core.feature import Composition, Feature
from hawse_gateway.limits.quotas import Quotas
from hawse_gateway.mounts.methods import MountMethods, MountOptions
from hawse_gateway.mounts.processes import MountProcesses
from hawse_gateway.mounts.reconciler import MountReconciler
from hawse_gateway.mounts.settings import MountFileSettings
from hawse_gateway.providers.state_directory import StateDirectory
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.store.base import Store


def _build(gateway: Composition) -> None:
    store, sandboxes = gateway.part(Store), gateway.part(Sandboxes)
    file, images_size = gateway.part(MountFileSettings).mounts, gateway.part(BackupSettings).overlays_size
    options = gateway.ensure(
        MountOptions,
        lambda: MountOptions.read(file, gateway.part(StateDirectory).root, images_size=images_size),
    )
    processes = MountProcesses(options.root, options.settings)
    reconciler = MountReconciler(store, sandboxes.providers, processes, options.settings, options.locks, options.images)
    limit = gateway.part(Quotas).number("user", "mounts")
    gateway.methods.append(gateway.add(MountMethods(store, sandboxes, reconciler, options.settings, limit=limit)))
    gateway.preparations.append(reconciler.ensure)
    gateway.run(reconciler.run, "mounts")


MOUNTS = Feature("mounts", _build)

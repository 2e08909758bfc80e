"""The backup feature: provides `backup.*` and `sandbox.snapshot`. If mounts are enabled, backups can be restored as
overlays."""

import asyncio

from hawse_gateway.backups.images import BackupImages
from hawse_gateway.backups.methods import BackupMethods
from hawse_gateway.backups.overlays import BackupOverlays
from hawse_gateway.backups.records import BackupRecords
from hawse_gateway.backups.settings import BackupSettings
from hawse_gateway.backups.space import BACKUPS_OF_EACH_USER, OF_EACH_USER, BackupSpace
from hawse_gateway.backups.stores import BackupStore, open_store
from hawse_gateway.backups.transfer import BackupTransfers
from hawse_gateway.core.feature import Composition, Feature
from hawse_gateway.core.settings import SettingsError
from hawse_gateway.limits.quotas import Quotas
from hawse_gateway.mounts.methods import MountMethods, MountOptions
from hawse_gateway.mounts.records import MountRecords
from hawse_gateway.providers.isolation import host_user
from hawse_gateway.providers.state_directory import StateDirectory
from hawse_gateway.sandboxes.overview.index import SandboxIndex
from hawse_gateway.store.base import Store
from hawse_gateway.upstream.links import Links


def _build(gateway: Composition) -> None:
    store, quotas = gateway.part(Store), gateway.part(Quotas)
    backups = gateway.ensure(BackupStore, lambda: _open(gateway))
    records = BackupRecords(store)
    space = BackupSpace(
        records,
        total=gateway.part(BackupSettings).backups_size,
        each=quotas.number("user", "storage") or OF_EACH_USER,
        count=quotas.number("user", "backups") or BACKUPS_OF_EACH_USER,
    )
    overlays = _overlays(gateway, backups)
    links, owns = gateway.part(Links), gateway.part(SandboxIndex).owns
    transfers = BackupTransfers(links, backups, records, owns, space=space, overlays=overlays)
    methods = gateway.add(BackupMethods(transfers, records, gateway.part(asyncio.TaskGroup), space=space))
    gateway.methods.append(methods)
    gateway.at_end(methods.close)
    gateway.run(methods.sweep, "backups")


def _open(gateway: Composition) -> BackupStore:
    place = gateway.part(BackupSettings).backups or str(gateway.part(StateDirectory).root / "backups")
    try:
        return open_store(place)
    except ValueError as error:
        raise SettingsError(f"--backups {error}") from error


def _overlays(gateway: Composition, backups: BackupStore) -> BackupOverlays | None:
    mounts, options = gateway.find(MountMethods), gateway.find(MountOptions)
    if mounts is None or options is None:
        return None
    mounted = MountRecords(gateway.part(Store)).backups
    images = BackupImages(options.images, backups.read, mounted, size=options.images_size, user_of=host_user.of_process)
    return BackupOverlays(images, mounts)


BACKUPS = Feature("backups", _build)

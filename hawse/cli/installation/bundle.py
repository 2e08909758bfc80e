"""`hawse bundle`: write the image that starts the runtime in a cluster's pods."""

from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from hawse import __version__
from hawse.cli.installation.optional_parts import require_server
from hawse.cli.output import examples, json_option, print_json


@click.command(epilog=examples("hawse bundle runtime.tar --name registry.example.org/hawse:1"))
@click.argument("file", type=click.Path(dir_okay=False, writable=True, path_type=Path))
@click.option(
    "--name",
    metavar="NAME",
    default=f"hawse-runtime:{__version__}",
    show_default=True,
    help="name of the image, with a tag",
)
@json_option
def bundle(file: Path, name: str, as_json: bool) -> int:
    """Write the runtime's image to FILE, an OCI archive.

    `skopeo copy oci-archive:FILE docker://NAME` pushes it to a registry, `ctr -n k8s.io images import FILE` imports it
    on a node.
    """
    require_server("hawse bundle")
    build, image = (import_module(f"hawse_gateway.providers.bundle.{module}") for module in ("build", "image"))
    with TemporaryDirectory(prefix="hawse-") as folder:
        try:
            made = build.ensure_bundle(Path(folder))
            with file.open("wb") as target:
                image.write_image(made, target, name)
        except (build.BundleError, OSError) as error:
            raise click.ClickException(str(error)) from error
    written = file.stat().st_size
    if as_json:
        print_json({"file": str(file), "name": name, "size": written})
    else:
        click.echo(f"{file}: {name}, {written >> 20} MiB", err=True)
    return 0

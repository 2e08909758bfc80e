from dataclasses import fields
from typing import get_args, get_type_hints

from hawse.api.sandboxes import Network
from hawse_gateway.providers.settings import ProviderSettings


def test_the_network_of_all_sandboxes_is_any_but_a_filtered_one_which_needs_rules() -> None:
    hints = get_type_hints(ProviderSettings)
    assert {*get_args(hints["network"]), "filtered"} == set(get_args(Network))


def test_without_options_sandboxes_are_local_and_isolated_if_possible() -> None:
    settings = ProviderSettings()
    settings.check()
    given = {field.name: value for field in fields(settings) if (value := getattr(settings, field.name))}
    assert given == {"provider": "local", "isolation": "auto", "network": "private"}

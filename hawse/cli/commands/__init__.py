"""The sub-commands of `hawse`, a module for each group. `hawse.cli.command` imports one when it is used."""

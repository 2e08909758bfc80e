"""The sub-commands of `hawse`, with a module for each group. `hawse.cli.command` imports modules on first use."""

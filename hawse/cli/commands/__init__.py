"""The `hawse` sub-commands, with one module for each group. `hawse.cli.command` imports modules on first use."""

"""The isolation of local sandboxes with bubblewrap, separate users and cgroups."""

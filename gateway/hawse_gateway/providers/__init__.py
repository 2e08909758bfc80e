"""How sandboxes are created and found: the local provider, bubblewrap and the state directory.

They know no clients and no channels.
"""

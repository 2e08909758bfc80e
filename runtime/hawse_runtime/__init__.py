"""The process inside each sandbox. It owns everything that must survive a reconnect."""

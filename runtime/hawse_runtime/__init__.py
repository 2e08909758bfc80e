"""The process that runs inside each sandbox. It owns all state that must survive a reconnect."""

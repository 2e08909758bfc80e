"""The process that runs inside each sandbox. It owns all state that has to survive a reconnect."""

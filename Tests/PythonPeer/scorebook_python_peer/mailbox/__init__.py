"""Sync through a storage that nobody has to run: mailbox.md."""

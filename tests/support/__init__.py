"""What tests in Python share: the command and its answers, folders, made-up snapshots, what must be here."""

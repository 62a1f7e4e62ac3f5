"""The write-ahead log between the two processes: appended, synced, read, recovered."""

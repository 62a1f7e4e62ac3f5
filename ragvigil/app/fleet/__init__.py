"""What makes one of several daemons an edge or the analyst: lease, beats, what others stored."""

"""What several daemons over one store share: who leads, who lives, which minutes changed."""

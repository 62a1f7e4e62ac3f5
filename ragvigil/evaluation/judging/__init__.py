"""The configured judge in an evaluation: what it is asked, what that costs, whom it may judge."""

"""Golden cases as their pages show them."""

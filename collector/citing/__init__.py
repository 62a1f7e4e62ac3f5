"""How answers cite: one module per way of writing it down."""

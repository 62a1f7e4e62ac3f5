"""Geometry of drawings, pure: data in, numbers and paths of an SVG out. Templates place them."""

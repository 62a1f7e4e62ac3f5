"""The one way in which every HTTP listener takes connections: deadlines, caps, who has to go."""

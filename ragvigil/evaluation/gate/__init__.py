"""Compares two runs of a golden set: may this release go out?"""

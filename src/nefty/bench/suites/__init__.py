"""Suites: what is measured, as configuration files, the ``.toml`` beside this one.

``suite`` reads them, ``check`` refuses what is wrong before anything runs, ``experiments`` lists what is not made of
specimens and methods, ``run`` does it all, ``presentation`` shows it.
"""

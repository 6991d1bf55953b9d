"""From a file and what the user knows to a recording that can be reconstructed: the one way in.

``nefty.load`` and every verb of the command line go through ``intake.take_in``: read the file (``nefty.data.read``),
join it with what the user says (``known``, ``values``), describe the part, prepare the frames, and list what is still
missing.
"""

"""How the outcomes of a suite are shown, with the paper's numbers beside ours.

``present`` makes the page; ``tables``, ``savings`` and ``plate_tables`` are made of ``columns``; ``figures``,
``images``, ``training_figures`` and ``plate_figures`` draw.
"""

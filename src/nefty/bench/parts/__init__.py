"""Parts as inspectors have them, simulated by ``nefty.synth.parts``, as data of a suite.

``selection`` says which, ``recording`` makes a part's file once and hands it to a method as the command line would,
``score`` holds the one rule by which all methods are judged.
"""

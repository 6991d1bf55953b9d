"""Many tasks on many processes: where they run (``place``), how they are settled (``settle``), what a worker must be.

Nothing that a task makes travels through the cluster: workers write files into a folder that all of them see.
"""

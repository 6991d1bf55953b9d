"""Speed, memory and error of heat solvers, beside peers in the same run.

``solvers`` lists every solver by name; ``ours``, ``nefi`` and ``phiflow`` build them on a ``case``. ``measure`` times
one in a process of its own (``worker``), ``disturbance`` tells whether others were busy, ``reference`` has the right
answer. The experiments: ``efficiency``, ``contrast``, ``growth`` and ``memory``, whose tables share ``columns``;
``profile``, ``validation`` with ``validation_figures``, ``pinn_forward``.
"""

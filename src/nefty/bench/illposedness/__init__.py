"""What a recording shows of the inside of a part, and what it cannot.

``study`` is the experiment; ``spectrum`` has the singular values of the Jacobian, ``pairs`` the parts that look alike,
``options`` what is computed; ``tables`` and ``figures`` show it.
"""

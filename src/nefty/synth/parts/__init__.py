"""Parts as an inspector has them, and recordings of them: a test bed that is not the solver's home.

A part has conductivities along three axes and a heat capacity in each region. Films, gaps, holes and impacts are
meshed as thin as they are. Heat is lost on the faces and on the walls of open holes, the heating has a length and an
afterglow, and the camera and the user err as cameras and users do. ``engine`` solves

    rho c dT/dt = div(k grad T),    -k dT/dz = q(y, x) g(t) - h T at the front,    -k dT/dn = h T at every other wall

by finite volumes, implicit in time. It shares no code with the solver that it tries.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

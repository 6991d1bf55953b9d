from .slab import Slab as Slab
from .surface import slab_modes as slab_modes
from .surface import slab_surface as slab_surface

from .network import VolumeNetwork as VolumeNetwork
from .network import load_network as load_network
from .network import save_network as save_network
from .settings import Training as Training
from .settings import training_settings as training_settings
from .shelf import shelved_network as shelved_network
from .training import Trained as Trained
from .training import train as train

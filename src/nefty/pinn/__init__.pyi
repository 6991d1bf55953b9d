from .settings import Settings as Settings

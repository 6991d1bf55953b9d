"""What is said of a recording or a result, as plain sentences."""


def texts(described):
    """The notes of its facts, in order."""
    return [note.text for note in described.facts.notes]

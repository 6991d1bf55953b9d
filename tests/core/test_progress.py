from nefty.core.progress import tell, watched


def test_only_who_watches_hears():
    outer, inner = [], []
    tell("nobody", 0.1)
    with watched(lambda *said: outer.append(said)):
        tell("a", 0.5)
        with watched(lambda *said: inner.append(said)):
            tell("b", 0.2)
        with watched(None):
            tell("c", 1.0)
    tell("nobody", 0.9)
    assert outer == [("a", 0.5), ("c", 1.0)]
    assert inner == [("b", 0.2)]

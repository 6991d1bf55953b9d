"""What any benchmark returns: ``results`` (tables, notes, figures; written as files) made of ``table``.

``formats`` writes numbers, ``figures`` draws, ``paper_numbers`` has the paper's own numbers to stand beside ours. How
the outcomes of a suite become such tables is in ``nefty.bench.suites.presentation``.
"""

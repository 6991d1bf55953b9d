"""Results as tables, figures and pages, with the paper's numbers beside ours."""

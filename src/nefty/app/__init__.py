"""The browser app: open a recording, say what is known, choose a region, run, look at the result, compare.

A thin door to the library, beside the command line: every number comes from the library, and every run is the
``nefty reconstruct`` command that the page prints, in a process of its own. The parts:

| module | holds |
|---|---|
| ``command`` | ``nefty app``, for the command line |
| ``server``, ``routes`` | the web server, its start, and addresses besides the pages |
| ``access``, ``guard`` | who may come in: one-time link, session, hosts and origins |
| ``root`` | the folder that the app sees, and nothing outside of it |
| ``uploads`` | files that are dropped, streamed to the disk |
| ``draft`` | what was clicked together, as a command line and as Python |
| ``looking``, ``account``, ``looks`` | a look at a recording, in a process of its own, and what the pages show of it |
| ``jobs``, ``processes`` | runs: queue, processes, states |
| ``results``, ``maps`` | finished runs, as the pages show them; classical maps beside them |
| ``desk`` | what all pages share |
| ``pages/`` | one file per page or panel |
"""

"""The first page: choose a recording of the folder, or drop one; and what runs now."""

from __future__ import annotations

from urllib.parse import quote

from nicegui import ui

from nefty.app.desk import Desk
from nefty.app.pages.layout import notice, panel, size_words
from nefty.app.pages.runs import run_rows
from nefty.app.root import Entry, recording_suffixes

LATEST = 5  # runs that are listed

#: A dropped file is sent as it is, so that neither browser nor server ever holds all of it.
DROP = """
<script>
(() => {
  const send = file => {
    const word = text => { document.getElementById('drop-word').textContent = text; };
    const request = new XMLHttpRequest();
    request.open('PUT', '/upload?name=' + encodeURIComponent(file.name) + '&size=' + file.size);
    request.upload.onprogress = e => word('Sending ' + file.name + ': ' + Math.round(100 * e.loaded / e.total) + ' %');
    request.onload = () => {
      if (request.status === 200) {
        location.href = '/recording?file=' + encodeURIComponent(request.responseText);
      } else { word(request.responseText || 'The server refused it.'); }
    };
    request.onerror = () => word('The connection to nefty app was lost; is it still running?');
    request.send(file);
  };
  const zone = e => e.target.closest && e.target.closest('.drop');
  document.addEventListener('dragover', e => {
    e.preventDefault(); const z = zone(e); if (z) z.classList.add('over');
  });
  document.addEventListener('dragleave', e => { const z = zone(e); if (z) z.classList.remove('over'); });
  document.addEventListener('drop', e => {
    e.preventDefault(); const z = zone(e);
    if (z) { z.classList.remove('over'); if (e.dataTransfer.files.length) send(e.dataTransfer.files[0]); }
  });
  document.addEventListener('click', e => { if (zone(e)) document.getElementById('drop-file').click(); });
  document.addEventListener('change', e => {
    if (e.target.id === 'drop-file' && e.target.files.length) send(e.target.files[0]);
  });
})();
</script>
"""


def home_page(desk: Desk, folder: str) -> None:
    """Fill the page.

    Args:
        desk: of the server.
        folder: that is listed, relative to the root.
    """
    ui.add_body_html(DROP)
    ui.label("Open a recording").classes("title")
    with ui.element("div").classes("two"):
        with panel():
            _path(desk, folder)
            _listing(desk, folder)
        with panel("Or drop a file here"):
            with ui.element("div").classes("drop").props("id=drop-zone role=button"):
                ui.icon("upload_file").style("font-size: 2rem")
                ui.label("Drop a recording, or click to choose one").props("id=drop-word").style(
                    "overflow-wrap: anywhere"
                )
            ui.element("input").props('id=drop-file type=file aria-label="recording"').style("display: none")
            ui.label(
                f"It is copied into {desk.root.relative(desk.root.uploads)} on this computer, and goes nowhere else. "
                f"nefty reads {', '.join(recording_suffixes())}."
            ).classes("quiet")
    if runs := desk.jobs.runs()[:LATEST]:
        with panel("Latest runs"):
            run_rows(desk, [run.name for run in runs])


def _path(desk: Desk, folder: str) -> None:
    """The folder as links, from the root on."""
    with ui.row().classes("items-center gap-1"):
        ui.icon("folder_open").style("color: #616e7c")
        ui.link(desk.root.path.name or "/", "/")
        parts = [part for part in folder.split("/") if part]
        for number, part in enumerate(parts, 1):
            ui.label("/").classes("quiet")
            ui.link(part, f"/?folder={quote('/'.join(parts[:number]))}")


def _listing(desk: Desk, folder: str) -> None:
    entries = desk.root.listing(folder)
    if not entries:
        notice("This folder holds no recording and no folder.")
    with ui.column().classes("gap-0 w-full").style("max-height: 26rem; overflow-y: auto"):
        for entry in entries:
            _row(entry)


def _row(entry: Entry) -> None:
    target = f"/?folder={quote(entry.path)}" if entry.folder else f"/recording?file={quote(entry.path)}"
    with ui.row().classes("w-full items-center no-wrap gap-1"):
        with ui.link(target=target).classes("row-link"):
            ui.icon("folder" if entry.folder else "movie").style("color: #9aa5b1; font-size: 1.2rem")
            ui.label(entry.name).style("flex: 1")
            if not entry.folder:
                ui.label(size_words(entry.size)).classes("quiet")
        if entry.folder and entry.recording:
            ui.link("open its frames", f"/recording?file={quote(entry.path)}").classes("quiet").style(
                "white-space: nowrap"
            )

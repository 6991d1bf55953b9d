from .pages.findings import Findings as Findings
from .pages.inspection import inspection_page as inspection_page
from .pages.reconstruction import reconstruction_page as reconstruction_page
from .pages.reconstruction import write_report as write_report
from .pictures.cscan import write_cscans as write_cscans
from .run_files import write_run as write_run

"""Launch: start the inspector's server from the command line, in a checkout or from an installed wheel."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from ..errors import TraceError
from ..load import named

OPEN = "CONTEXT_GC_OPEN"  #: environment variable that names the file or folder to open
FOLLOW = "CONTEXT_GC_FOLLOW"  #: set where what is open is to be followed while it is written
FORMAT = "CONTEXT_GC_FORMAT"  #: the format that it is read as, whatever it looks like


def launch(target: str | None, port: int, headless: bool, follow: bool = False, format: str | None = None) -> int:
    """Serve the inspector on 127.0.0.1 until it is stopped; gives the server's exit code where it returns.

    `follow`: show what is still being written; then the file may not be there yet. In a folder it is the newest.

    Raises:
        TraceError: the file or folder is not there, or the `app` extra is not installed.
        UnknownFormat: there is no format of that name.
    """
    if follow and target is None:
        raise TraceError("inspect", "there is nothing to follow", "name a trace or a folder: inspect --follow FILE")
    awaited = follow and target is not None and Path(target).absolute().parent.is_dir()
    if target is not None and not (awaited or Path(target).exists()):
        raise TraceError(target, "there is no such file or folder", "check the path")
    if format:
        named(format, "inspect")
    missing = [name for name in ("streamlit", "networkx", "pyvis", "pandas") if find_spec(name) is None]
    if missing:
        raise TraceError("inspect", f"{', '.join(missing)} not installed", "pip install 'context-gc[app]'")
    site = _site()
    told = {OPEN: str(Path(target).resolve()) if target else "", FOLLOW: "1" if follow else "", FORMAT: format or ""}
    environment = {**os.environ, **told}
    command = [sys.executable, "-m", "streamlit", "run", str(site / "app.py")]
    command += [f"--server.port={port}", f"--server.headless={str(headless).lower()}"]
    if os.name == "posix":  # the server takes this process's place, so that stopping one stops it
        os.execve(command[0], command, environment)
    try:
        return subprocess.run(command, env=environment, check=False).returncode
    except KeyboardInterrupt:
        return 0


def _site() -> Path:
    """The folder with app.py, pages/ and the configuration, which Streamlit reads from where app.py lies:
    beside the package in a checkout, inside it in a wheel."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "inspector" / "site"
    return inside if (inside / "app.py").exists() else package.parent

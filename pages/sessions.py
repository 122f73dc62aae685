"""Sessions: what agents left in run directories: runs, passes, contexts, the bus and the receipts."""

from context_gc.inspector.frame import begin
from context_gc.inspector.session_sections import run_told, section
from context_gc.inspector.session_view import choose_run, mirror

begin("Sessions")
seen = choose_run()
run_told(seen)
section(seen)
mirror()

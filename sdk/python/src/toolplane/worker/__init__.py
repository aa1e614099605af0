"""Workers: functions of your own as tools of a cluster.

    from toolplane import Worker
    worker = Worker("acme")

    @worker.tool(read_only=True)
    def word_count(text: str) -> int:
        \"\"\"Counts the words of a text.\"\"\"
        return len(text.split())

    worker.run()
"""

from toolplane.worker.context import Context
from toolplane.worker.outcome import Artifact, Canceled, Declined, File, Output, ToolFailure
from toolplane.worker.worker import Worker

__all__ = ["Artifact", "Canceled", "Context", "Declined", "File", "Output", "ToolFailure", "Worker"]

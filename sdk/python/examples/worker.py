"""Tools of your own. Ends with Ctrl-C or SIGTERM, when what runs has ended."""

from toolplane import Context, Worker

worker = Worker("example")


@worker.tool(read_only=True, destructive=False, open_world=False, idempotent=True, concurrency_safe=True)
def word_count(text: str) -> int:
    """Counts the words of a text.

    Args:
        text: What to count in.
    """
    return len(text.split())


@worker.tool(destructive=False, timeout=600)
async def paint(ctx: Context, thing: str) -> str:
    """Paints a thing in a color its caller chooses."""
    color = await ctx.ask_async(f"Which color for the {thing}?", {"type": "string"})
    ctx.progress("painting", percent=50)
    return f"a {color} {thing}"


worker.run(lambda: print("serving", *(tool.full_name for tool in worker.tools), flush=True))

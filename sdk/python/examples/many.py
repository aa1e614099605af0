"""Many calls at once, with asyncio and as a batch."""

import asyncio

from toolplane import AsyncToolplane, BatchCall


async def main() -> None:
    async with AsyncToolplane.connect() as tools:
        results = await asyncio.gather(*(tools.call("native.echo", {"n": n}) for n in range(10)))
        print(sum(result.value["n"] for result in results))
        calls = [BatchCall("native.echo", {"n": 2**64}), BatchCall("text.word_count", {"path": "words.txt"}, depends_on=[0])]
        for result in await tools.batch(calls, policy={"max_parallel": 2}):
            print(result.status)


asyncio.run(main())

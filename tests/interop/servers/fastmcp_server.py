"""A server of `fastmcp` with its tasks (SEP-2663), kept in memory."""

import asyncio
import sys
from datetime import timedelta

import mcp_types
from fastmcp import Context, FastMCP
from fastmcp.utilities.tasks import TaskConfig
from fastmcp_tasks import TasksExtension

server = FastMCP("fastmcp")
server.add_extension(TasksExtension())

TASK = TaskConfig(mode="optional", poll_interval=timedelta(milliseconds=500))
FORM = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def ask(*keys: str) -> mcp_types.InputRequiredResult:
    def request(key: str) -> mcp_types.ElicitRequest:
        params = mcp_types.ElicitRequestFormParams(message=f"The {key}?", requested_schema=FORM)
        return mcp_types.ElicitRequest(params=params)

    return mcp_types.InputRequiredResult(
        input_requests={key: request(key) for key in keys}, request_state=" ".join(keys)
    )


@server.tool
def echo(message: str) -> str:
    return message


@server.tool(task=TASK)
async def slow(ms: int) -> dict[str, int]:
    await asyncio.sleep(ms / 1000)
    return {"slept": ms}


@server.tool(task=TASK)
async def fails() -> str:
    raise ValueError("no way")


@server.tool(task=TASK)
async def greet(context: Context) -> str | mcp_types.InputRequiredResult:
    """Asks for both names at once."""
    answers = context.input_responses
    if not answers:
        return ask("first", "second")
    names = [(answers[key].content or {}).get("name", "nobody") for key in ("first", "second")]
    return f"Hello, {' '.join(names)}"


if sys.argv[1] == "stdio":
    server.run(show_banner=False)
else:
    server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)

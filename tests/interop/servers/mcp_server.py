"""A server of the Python SDK `mcp`, which asks in rounds or in an older session."""

import sys
from typing import Annotated

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.resolve import Elicit, Resolve
from pydantic import BaseModel

server = MCPServer("mcp", log_level="ERROR")


class Who(BaseModel):
    name: str


async def ask(_context: Context) -> Elicit[Who]:
    return Elicit("Who?", Who)


@server.tool()
def echo(message: str) -> str:
    return message


@server.tool()
async def count(n: int, context: Context) -> str:
    for done in range(1, n + 1):
        await context.report_progress(done, n, f"{done} of {n}")
        await anyio.sleep(0.05)
    return "counted"


@server.tool()
async def greet(who: Annotated[Who, Resolve(ask)]) -> str:
    return f"Hello, {who.name}"


if sys.argv[1] == "stdio":
    server.run()
else:
    server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))

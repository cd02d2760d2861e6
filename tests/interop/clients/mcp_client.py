"""PyPI's `mcp`, in rounds of 2026-07-28 or in an older session.

Does the cases that it is given on stdin, as drive.mjs has the JavaScript clients
do, and says the same lines.
"""

import json
import logging
import sys
import warnings

import anyio
import httpx2
import mcp_types as types
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

CASE_S = 30
SETTLED_S = 10
CLIENT = types.Implementation(name="interop", version="1")

unexpected: list[str] = []
completed: list[str] = []


class Complaints(logging.Handler):
    """Keeps what the client logs because something is not as it should be."""

    def emit(self, record: logging.LogRecord) -> None:
        unexpected.append(f"{record.levelname}: {record.getMessage()}")


def say(line: dict) -> None:
    print(json.dumps(line), flush=True)


def plain(model) -> dict:
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


class Desk:
    """Whoever answers the questions of one case."""

    def __init__(self, case: dict) -> None:
        self.answers = case.get("answers", {})
        self.cancel_when = case.get("cancel")
        self.scope = anyio.CancelScope()
        self.asked: list[dict] = []
        self.progress: list[dict] = []

    async def answer(self, key: str, params: dict) -> dict:
        self.asked.append({"key": key, "params": params})
        answer = self.answers.get(key)
        self.happened("asked")
        if answer is None:
            raise LookupError(f'nobody expects the question "{key}"')
        if answer == "never":
            await anyio.sleep_forever()
        if isinstance(answer, str):
            return {"action": "accept", "content": {"answer": answer}}
        response = dict(answer)
        await anyio.sleep(response.pop("after", 0) / 1000)
        return response

    async def progressed(self, progress: float, total: float | None, message: str | None) -> None:
        self.progress.append({"progress": progress, "total": total, "message": message})
        self.happened("started")

    def happened(self, what: str) -> None:
        if self.cancel_when == what:
            self.scope.cancel()


class Connected:
    """One client, and whoever answers its questions at the moment."""

    def __init__(self, job: dict, bare: bool) -> None:
        self.desk: Desk | None = None
        callbacks = {} if bare else {
            "elicitation_callback": self.elicited,
            "sampling_callback": self.sampled,
            "list_roots_callback": self.rooted,
        }
        self.client = Client(
            transport(job["server"]),
            mode="legacy" if job["era"] == "session" else job["version"],
            client_info=CLIENT,
            message_handler=self.received,
            **callbacks,
        )

    async def elicited(self, _context, params) -> types.ElicitResult:
        return types.ElicitResult(**await self.desk.answer(params.message, plain(params)))

    async def sampled(self, _context, params) -> types.CreateMessageResult:
        content = params.messages[0].content
        first = content[0] if isinstance(content, list) else content
        answer = await self.desk.answer(f"model: {first.text}", plain(params))
        return types.CreateMessageResult.model_validate(answer)

    async def rooted(self, _context) -> types.ListRootsResult:
        return types.ListRootsResult.model_validate(await self.desk.answer("roots", {}))

    async def received(self, message) -> None:
        if isinstance(message, types.ElicitCompleteNotification):
            completed.append(message.params.elicitation_id)
        # What a call says of itself has handlers of its own besides.
        elif not isinstance(message, types.ProgressNotification):
            unexpected.append(f"{type(message).__name__}: {message}")

    async def call(self, case: dict, desk: Desk) -> dict:
        self.desk = desk
        told = case.get("progress") or case.get("cancel") == "started"
        result = await self.client.call_tool(
            case["tool"],
            case.get("arguments"),
            progress_callback=desk.progressed if told else None,
        )
        result = plain(result)
        return {
            "content": result["content"],
            "structuredContent": result.get("structuredContent"),
            "isError": result.get("isError") or False,
            "meta": result.get("_meta"),
        }

    async def one(self, case: dict) -> dict:
        desk = Desk(case)
        outcome = None
        try:
            with anyio.fail_after(CASE_S), desk.scope:
                outcome = await self.call(case, desk)
        except MCPError as error:
            outcome = {"error": plain(error.error)}
        except Exception as error:  # noqa: BLE001: whatever it is belongs in the table
            outcome = {"broken": f"{type(error).__name__}: {error}"}
        if desk.scope.cancelled_caught:
            outcome = {"cancelled": True, "left": await self.settled()}
        return {**outcome, "asked": desk.asked, "progress": desk.progress}

    async def settled(self) -> int:
        """What a cancelled call has left behind at the server, once it has settled."""
        with anyio.move_on_after(SETTLED_S):
            while True:
                stats = (await self.call({"tool": "stats"}, Desk({})))["structuredContent"]
                left = stats["live"] + stats["resident"]
                if not left:
                    break
                await anyio.sleep(0.02)
        return left


def transport(server: dict):
    if "command" in server:
        parameters = StdioServerParameters(command=server["command"], args=server["args"])
        return stdio_client(parameters, errlog=open("/dev/null", "w"))  # noqa: SIM115
    headers = {"Authorization": f"Bearer {server['token']}"}
    http = httpx2.AsyncClient(headers=headers, timeout=CASE_S)
    return streamable_http_client(server["url"], http_client=http)


async def main() -> None:
    job = json.load(sys.stdin)
    connected, bare = Connected(job, False), Connected(job, True)
    async with connected.client, bare.client:
        tools = await connected.client.list_tools()
        say({"tools": [tool.name for tool in tools.tools]})
        for case in job["cases"]:
            client = bare if case.get("bare") else connected
            say({"case": case["case"], **await client.one(case)})
    say({"completed": completed, "unexpected": unexpected})


logging.getLogger().addHandler(Complaints(logging.WARNING))
warnings.simplefilter("ignore")
anyio.run(main)

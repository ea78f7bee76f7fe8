#!/usr/bin/env python3
"""mcp_client.py PERFKIT DIR FILE - drive `perfkit mcp` with the public client library: the newest revision, and
the handshake of the older ones. Prints ok, or what is wrong; exits with 77 without the library."""
import sys

try:
    import anyio
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client
except ImportError as e:
    print("no client library of the protocol: %s" % e)
    sys.exit(77)

perfkit, folder, file = sys.argv[1:4]


def text(result):
    return "\n".join(c.text for c in result.content)


async def session(mode, want):
    server = StdioServerParameters(command=perfkit, args=["mcp", "--budget", "4k", folder])
    async with Client(stdio_client(server), mode=mode) as c:
        assert c.protocol_version == want, c.protocol_version
        tools = (await c.list_tools()).tools
        names = [t.name for t in tools]
        assert names == ["files", "brief", "doctor", "tail", "report", "source", "compare"], names
        assert all(t.annotations.read_only_hint for t in tools)
        listed = await c.call_tool("files", {})
        assert file in text(listed) and not listed.is_error, text(listed)
        for name, args in (("brief", {}), ("doctor", {}), ("tail", {"details": 1}), ("report", {"by": "site"}),
                           ("tail", {"format": "json"}), ("report", {"budget": 1000})):
            r = await c.call_tool(name, {"file": file, **args})
            assert not r.is_error and text(r), (name, args, text(r))
            assert len(text(r).encode()) <= args.get("budget", 4000) + 400, (name, len(text(r)))
        r = await c.call_tool("brief", {"file": "/etc/passwd"})
        assert r.is_error and "no such file below" in text(r), text(r)


async def main():
    await session("auto", "2026-07-28")
    await session("legacy", "2025-11-25")


anyio.run(main)
print("ok")

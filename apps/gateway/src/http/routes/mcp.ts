// Says over HTTP how the MCP servers are, and has one connected anew.
import type { Hono } from "hono";
import type { Gateway } from "../../gateway.ts";
import { refuse } from "../errors.ts";

export function addMcpRoutes(app: Hono, gateway: Gateway): void {
  app.get("/api/mcp", async (context) => {
    if (context.req.query("start") !== undefined) await gateway.mcp.settled();
    const session = context.req.query("session");
    const key = session === undefined ? undefined : gateway.canonicalKey(session);
    return context.json({ servers: gateway.mcp.status(key) });
  });

  app.post("/api/mcp/:name/restart", async (context) => {
    const { name } = context.req.param();
    const server = await gateway.mcp.restart(name);
    return server === undefined
      ? refuse(context, "NOT_FOUND", `No MCP server of the settings is called "${name}".`)
      : context.json({ server });
  });
}

// Takes the messages of editors, which `clew acp` brings, and streams what they are told.
import { randomUUID } from "node:crypto";
import type { AnyMessage } from "@agentclientprotocol/sdk";
import type { LogPort } from "@clew/engine-core";
import { isRecord } from "@clew/plugin-sdk/host";
import type { Hono } from "hono";
import type { Pipe } from "../../acp/pipe.ts";
import { agentIds, defaultAgentId } from "../../config/agent.ts";
import type { Gateway } from "../../gateway.ts";
import { type Callers, personAt } from "../access/caller.ts";
import { refuse } from "../errors.ts";

const HEADERS = { "content-type": "application/x-ndjson", "cache-control": "no-store" };

const FOR_THE_PERSON =
  "Who brings an editor has to be the person of this home: have the editor run clew acp, or send the token of gateway.auth.token (Authorization: Bearer).";

export function addAcpRoutes(
  app: Hono,
  gateway: Gateway,
  { callers, log }: { callers: Callers; log: LogPort },
): void {
  const pipes = new Map<string, Pipe>();

  app.post("/api/acp", async (context) => {
    if (personAt(callers.of(context)) === undefined)
      return refuse(context, "FORBIDDEN", FOR_THE_PERSON);
    const { config } = gateway.host;
    const agentId = context.req.query("agent") ?? defaultAgentId(config);
    if (!agentIds(config).includes(agentId)) {
      const message = `There is no agent "${agentId}"; there is: ${agentIds(config).join(", ")}.`;
      return refuse(context, "REQUEST_INVALID", message);
    }
    const { connectEditor } = await import("../../acp/agent.ts");
    const { createPipe } = await import("../../acp/pipe.ts");
    const id = randomUUID();
    const encoder = new TextEncoder();
    let output: ReadableStreamDefaultController<Uint8Array> | undefined;
    const write = (value: unknown) => output?.enqueue(encoder.encode(`${JSON.stringify(value)}\n`));
    const pipe = createPipe(write);
    const gone = () => {
      output = undefined;
      pipes.delete(id);
      pipe.end();
    };
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        output = controller;
      },
      cancel: gone,
    });
    pipes.set(id, pipe);
    write({ connection: id });
    const { closed } = connectEditor({ gateway, log, agentId }, pipe.stream);
    void closed.finally(() => {
      output?.close();
      gone();
    });
    return new Response(body, { headers: HEADERS });
  });

  app.post("/api/acp/:id", async (context) => {
    if (personAt(callers.of(context)) === undefined)
      return refuse(context, "FORBIDDEN", FOR_THE_PERSON);
    const pipe = pipes.get(context.req.param("id"));
    if (pipe === undefined)
      return refuse(context, "NOT_FOUND", "There is no such editor; connect it again.");
    const message: unknown = await context.req.json().catch(() => undefined);
    if (!isRecord(message))
      return refuse(context, "REQUEST_INVALID", "The body has to be one message of JSON-RPC.");
    pipe.push(message as AnyMessage);
    return context.json({ taken: true });
  });
}

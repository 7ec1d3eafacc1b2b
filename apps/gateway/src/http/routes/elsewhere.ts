// Hands requests that change a session on to the gateway that has it open.
import type { LogPort } from "@clew/engine-core";
import { isAbort } from "@clew/plugin-sdk/core";
import type { Context, Hono } from "hono";
import type { Gateway } from "../../gateway.ts";
import { refuse } from "../errors.ts";

/** Says that a request was handed on: it goes no further. */
const HOP = "x-clew-hop";

/** What of a request is for whoever answers it. Pages and proofs are known here alone. */
const PASSED_ON = [
  ...["authorization", "content-type", "accept", "idempotency-key", "last-event-id"],
];
const PASSED_BACK = ["content-type", "cache-control", "retry-after", "x-accel-buffering"];

/** As long as a dead gateway may count as alive, s. */
const TRY_AGAIN_S = 10;

/** Reading needs nobody, as every gateway can tell what is stored. */
export function addElsewhere(
  app: Hono,
  { cluster, canonicalKey }: Pick<Gateway, "cluster" | "canonicalKey">,
  { log }: { log: Pick<LogPort, "warn"> },
): void {
  if (cluster === undefined) return;
  app.use("/api/sessions/:key/*", async (context, next) => {
    const { method } = context.req;
    if (method === "GET" || method === "HEAD") return next();
    const key = canonicalKey(context.req.param("key"));
    const owner = await cluster.ownerOf(key);
    if (owner === null || owner === cluster.address) return next();
    if (context.req.header(HOP) !== undefined) return lockedBy(context, key, owner);
    try {
      return await handOn(context, owner);
    } catch (error) {
      if (isAbort(error) || context.req.raw.signal.aborted) throw error;
      log.warn(`the gateway at ${owner} has session ${key}, and does not answer`);
      context.header("retry-after", String(TRY_AGAIN_S));
      return lockedBy(context, key, owner);
    }
  });
}

async function handOn({ req }: Context, owner: string): Promise<Response> {
  const { pathname, search } = new URL(req.url);
  const headers = new Headers({ [HOP]: "1" });
  for (const name of PASSED_ON) {
    const value = req.header(name);
    if (value !== undefined) headers.set(name, value);
  }
  const answer = await fetch(new URL(`${pathname}${search}`, owner), {
    ...{ method: req.method, headers, redirect: "manual", signal: req.raw.signal },
    ...(req.raw.body !== null && { body: await req.arrayBuffer() }),
  });
  const told = new Headers();
  for (const name of PASSED_BACK) {
    const value = answer.headers.get(name);
    if (value !== null) told.set(name, value);
  }
  return new Response(answer.body, { status: answer.status, headers: told });
}

const lockedBy = (context: Context, key: string, owner: string): Response =>
  refuse(
    context,
    "SESSION_LOCKED",
    `Session ${key} is held by the gateway at ${owner}, which does not answer here; ask it, or ask again in ${TRY_AGAIN_S} seconds.`,
  );

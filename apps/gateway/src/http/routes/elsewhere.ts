// Hands what only the gateway that has a session open can do or tell on to it.
import type { LogPort } from "@clew/engine-core";
import { isAbort } from "@clew/plugin-sdk/core";
import type { Context, Hono } from "hono";
import type { Gateway } from "../../gateway.ts";
import type { StorageCluster } from "../../storage/storage.ts";
import type { Callers } from "../access/caller.ts";
import { refuse } from "../errors.ts";

/** Says that a request was handed on: it goes no further. */
export const HOP = "x-clew-hop";
/** Says of a message that it was kept for whoever has its session. */
export const KEPT = "x-clew-kept";

/** What of a request is for whoever answers it. Tokens, pages and proofs are known here alone. */
const PASSED_ON = ["content-type", "accept", "idempotency-key", "last-event-id"];
const PASSED_BACK = ["content-type", "cache-control", "retry-after", "x-accel-buffering"];

/** As long as a dead gateway may count as alive, s. */
const TRY_AGAIN_S = 10;

/** What runs in a session, waits for a person and is learned of its model is stored nowhere. */
const LIVE = /^\/api\/sessions\/[^/]+\/(?:status|turn|context)$/;

/** Who only looks hears what is stored, where the owner says nothing for so long, ms. */
const LOOK_MS = 2000;

/** Reading what is stored needs nobody, as every gateway can tell it. */
export function addElsewhere(
  app: Hono,
  { cluster, canonicalKey }: Pick<Gateway, "cluster" | "canonicalKey">,
  { callers, log }: { callers: Callers; log: Pick<LogPort, "warn"> },
): void {
  if (cluster === undefined) return;
  app.use("/api/sessions/:key/*", async (context, next) => {
    const { method, path } = context.req;
    // Messages find their way themselves: who has their session may change meanwhile.
    const isLook = method === "GET" || method === "HEAD";
    if (isLook ? !LIVE.test(path) : method === "POST" && path.endsWith("/messages")) return next();
    const key = canonicalKey(context.req.param("key"));
    // What waits is kept where every gateway can take it back.
    const isWaiting = method === "DELETE" && /\/waiting(?:\/[^/]*)?$/.test(path);
    const handing = { cluster, key, callers, log, ...(isLook && { patienceMs: LOOK_MS }) };
    const passed = await handedOn(context, handing);
    if (passed === undefined) return next();
    if (passed.status !== 409 || !(isLook || isWaiting)) return passed;
    context.header("retry-after", undefined);
    return next();
  });
}

/** Null: this gateway, or nobody who lives. */
export const notHere = (
  { address }: Pick<StorageCluster, "address">,
  owner: string | null,
): string | null => (owner === address ? null : owner);

interface Handing {
  cluster: StorageCluster;
  key: string;
  callers: Callers;
  log: Pick<LogPort, "warn">;
  /** Absent: as long as its client. */
  patienceMs?: number;
}

const boundOf = ({ req }: Context, patienceMs: number | undefined): AbortSignal =>
  patienceMs === undefined
    ? req.raw.signal
    : AbortSignal.any([req.raw.signal, AbortSignal.timeout(patienceMs)]);

/** The answer of the gateway that has the session; undefined: this one is to answer. */
export async function handedOn(
  context: Context,
  { cluster, key, callers, log, patienceMs }: Handing,
): Promise<Response | undefined> {
  const owner = await cluster.ownerOf(key);
  if (owner === null || owner === cluster.address) return undefined;
  if (context.req.header(HOP) !== undefined) return lockedBy(context, key, owner);
  try {
    return answered(
      await handOn(context, owner, { callers, signal: boundOf(context, patienceMs) }),
    );
  } catch (error) {
    if (isAbort(error) || context.req.raw.signal.aborted) throw error;
    log.warn(`the gateway at ${owner} has session ${key}, and does not answer`);
    return lockedBy(context, key, owner);
  }
}

export interface HandedOn {
  callers: Pick<Callers, "vouched">;
  /** Instead of the request's own. */
  body?: string;
  /** It was kept already. */
  isKept?: boolean;
  /** Absent: it ends with the request. */
  signal?: AbortSignal;
  /** The last event that its client was told. Absent: as the request says. */
  since?: string;
}

/** Throws where the owner does not answer. */
export async function handOn(
  context: Context,
  owner: string,
  { callers, body, isKept = false, signal = context.req.raw.signal, since }: HandedOn,
): Promise<Response> {
  const { req } = context;
  const { pathname, search } = new URL(req.url);
  const target = `${pathname}${search}`;
  const vouched = callers.vouched(context, { to: owner, method: req.method, target });
  const headers = new Headers([[HOP, "1"], ...vouched]);
  if (isKept) headers.set(KEPT, "1");
  for (const name of PASSED_ON) {
    const value = req.header(name);
    if (value !== undefined) headers.set(name, value);
  }
  if (since !== undefined) headers.set("last-event-id", since);
  const own = body ?? (req.raw.body === null ? undefined : await req.arrayBuffer());
  return fetch(new URL(target, owner), {
    ...{ method: req.method, headers, redirect: "manual", signal },
    ...(own !== undefined && { body: own }),
  });
}

/** The owner's answer as one of this gateway. */
export function answered(answer: Response): Response {
  const told = new Headers();
  for (const name of PASSED_BACK) {
    const value = answer.headers.get(name);
    if (value !== null) told.set(name, value);
  }
  return new Response(answer.body, { status: answer.status, headers: told });
}

export function lockedBy(context: Context, key: string, owner: string): Response {
  context.header("retry-after", String(TRY_AGAIN_S));
  return refuse(
    context,
    "SESSION_LOCKED",
    `Session ${key} is held by the gateway at ${owner}, which does not answer here; ask it, or ask again in ${TRY_AGAIN_S} seconds.`,
  );
}

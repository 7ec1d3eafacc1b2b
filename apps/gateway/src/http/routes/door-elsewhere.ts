// Hands a request at the door on to the gateway that answers it.
import { Agent } from "node:http";
import { Agent as TlsAgent } from "node:https";
import { setTimeout as after } from "node:timers/promises";
import type { LogPort } from "@clew/engine-core";
import { isAbort } from "@clew/plugin-sdk/core";
import { answerWith, SESSION_HEADER } from "../../door/call/door-call.ts";
import { relay } from "../../door/upstream/relay.ts";
import type { DoorWire } from "../../door/wires/door-wire.ts";
import { askUpstream, type UpstreamAnswer } from "../../passing/ask-upstream.ts";
import { headersToPeer } from "../../passing/pass-headers.ts";
import { headerOf, type RawHeaders } from "../../passing/raw-headers.ts";
import type { StorageCluster } from "../../storage/storage.ts";
import { HEARD } from "../heard.ts";
import type { NodeOutlet } from "../node-outlet.ts";
import { HOP } from "./elsewhere.ts";
import { watchOwner } from "./relay.ts";

/** Says that a gateway did nothing with the request, as another one is to answer it. */
const ELSEWHERE = "x-clew-elsewhere";

/** Between two looks at who is to answer, ms. */
const LOOK_MS = 250;
/** Longest silence of a model, ms: that its gateway is gone is found out by looking. */
const IDLE_MS = 24 * 3_600_000;
/** Whoever does not take it in so long need not know that its answer was heard, ms. */
const HEARD_MS = 5000;
/** For clients that are told to come again, s. */
const AGAIN_S = 1;

export interface DoorRequest {
  method: string;
  /** Of its address, with its query. */
  target: string;
  /** As they came, without tokens of this gateway. */
  headers: RawHeaders;
  /** By which the gateway that is asked lets the same one in; others for each request. */
  vouched(to: string): RawHeaders;
  bytes: Uint8Array;
  wire: DoorWire;
  outlet: NodeOutlet;
  /** Session whose history is Clew's own; undefined: the client brings all of it. */
  key: string | undefined;
}

/** True: it was answered. False: this gateway is to answer it. */
export async function answeredElsewhere(
  cluster: StorageCluster,
  request: DoorRequest,
  log: Pick<LogPort, "warn">,
): Promise<boolean> {
  const { headers, wire, outlet } = request;
  const place = () => placeOf(cluster, request.key);
  const isHop = headerOf(headers, HOP) !== undefined;
  const until = performance.now() + cluster.door.patienceMs;
  let owner: string | null = null;
  while (!outlet.gone.aborted && performance.now() < until) {
    owner = await place();
    if (owner === "here") return false;
    if (isHop) {
      refuse(request, "Another gateway is to answer this.", [[ELSEWHERE, "1"]]);
      return true;
    }
    const answer = owner === null ? undefined : await ask(owner, { cluster, request, place });
    if (answer === undefined) {
      await after(LOOK_MS);
      continue;
    }
    const named = headerOf(answer.headers, SESSION_HEADER);
    const more: RawHeaders = named === undefined ? [] : [[SESSION_HEADER, named]];
    const end = await relay(answer, outlet, { more });
    if (end === "whole") outlet.end();
    else outlet.breakOff();
    answer.done();
    void outlet.closed.then(() => answer.tellHeard(end === "whole" && !outlet.gone.aborted));
    return true;
  }
  if (outlet.gone.aborted) return true;
  log.warn(`no gateway answers a request at the door (${wire.api}): ${owner ?? "nobody"} is to`);
  refuse(request, "The gateway that answers this does not answer here; ask again.");
  return true;
}

/** "here", or the address of another gateway; null: nobody's for a moment. */
async function placeOf(cluster: StorageCluster, key: string | undefined): Promise<string | null> {
  if (key === undefined) return cluster.door.take();
  const owner = await cluster.ownerOf(key);
  return owner === null || owner === cluster.address ? "here" : owner;
}

interface Answer extends UpstreamAnswer {
  done(): void;
  /** Its client has all of it, or has not: then its connection ends without a word. */
  tellHeard(hasAll: boolean): void;
}

/** Undefined: it did not begin to answer, and whoever is to may be another one by now. */
async function ask(
  owner: string,
  {
    cluster,
    request: { method, target, headers, vouched, bytes, outlet },
    place,
  }: { cluster: StorageCluster; request: DoorRequest; place: () => Promise<string | null> },
): Promise<Answer | undefined> {
  // One that is frozen, or whose machine is off, ends nothing by itself.
  const watch = watchOwner(owner, {
    look: async () => {
      const now = await place();
      const isStill = now === owner || now === null;
      return { owner: isStill ? owner : cluster.address, isInTurn: false, isKept: false };
    },
    left: outlet.gone,
  });
  const url = new URL(target, owner);
  // By its end the owner knows that this gateway is gone, and its client has not all of the answer.
  const agent = new (url.protocol === "https:" ? TlsAgent : Agent)({
    ...{ keepAlive: true, maxSockets: 1 },
  });
  const asking = { method, url: url.href, idleMs: IDLE_MS, agent };
  const passed = headersToPeer(headers).filter(([name]) => name.toLowerCase() !== HEARD);
  const headersOf = (heard: string): RawHeaders => [
    ...[...passed, ...vouched(owner)],
    ...([
      [HOP, "1"],
      [HEARD, heard],
    ] as const),
  ];
  const tellHeard = (hasAll: boolean) => {
    const told = hasAll
      ? askUpstream({
          ...{ ...asking, idleMs: HEARD_MS, body: new Uint8Array() },
          ...{ headers: headersOf("all"), signal: AbortSignal.timeout(HEARD_MS) },
        }).then(readToEnd)
      : Promise.resolve();
    // The owner takes it for not heard then, and another reply stands beside this one at most.
    void told.catch(() => {}).finally(() => agent.destroy());
  };
  try {
    const answer = await askUpstream({
      ...{ ...asking, body: bytes, headers: headersOf("awaited"), signal: watch.signal },
    });
    if (headerOf(answer.headers, ELSEWHERE) === undefined)
      return { ...answer, done: () => watch.stop(), tellHeard };
    await readToEnd(answer);
  } catch (error) {
    if (isAbort(error) && outlet.gone.aborted) {
      agent.destroy();
      return undefined;
    }
  }
  watch.stop();
  agent.destroy();
  return undefined;
}

async function readToEnd({ bytes }: UpstreamAnswer): Promise<void> {
  for await (const _piece of bytes);
}

/** Clients' libraries ask again by themselves. */
function refuse({ wire, outlet }: DoorRequest, sentence: string, more: RawHeaders = []): void {
  answerWith(outlet, wire.error(503, sentence), [["retry-after", String(AGAIN_S)], ...more]);
}

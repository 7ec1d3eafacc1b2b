// Asks all other gateways what no database knows, such as which turns wait for a person.
import type { Context } from "hono";
import type { StorageCluster } from "../../storage/storage.ts";
import type { Callers } from "../access/caller.ts";
import { HOP, handOn } from "./elsewhere.ts";

/** One that died a moment ago answers nothing, ms. */
const PATIENCE_MS = 2000;

/** The same request's answers, as they come; none where another gateway asks this one. */
export async function askOthers(
  context: Context,
  { cluster, callers }: { cluster: StorageCluster | undefined; callers: Callers },
): Promise<Promise<Response>[]> {
  if (cluster === undefined || context.req.header(HOP) !== undefined) return [];
  const signal = AbortSignal.any([context.req.raw.signal, AbortSignal.timeout(PATIENCE_MS)]);
  const others = await cluster.peers.others();
  return others.map((address) => handOn(context, address, { callers, signal }));
}

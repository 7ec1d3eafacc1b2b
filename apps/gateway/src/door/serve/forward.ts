// Sends on what is no conversation, as it is.
import { fromJson } from "../../own-json.ts";
import { holdsKey } from "../../passing/pass-headers.ts";
import { editBody } from "../body/edit-body.ts";
import { answerWith, type DoorOutlet, type DoorVisit } from "../call/door-call.ts";
import type { Upstream } from "../upstream/find-upstream.ts";
import { reach } from "../upstream/reach.ts";
import { relay } from "../upstream/relay.ts";
import type { DoorWire } from "../wires/door-wire.ts";

/**
 * With a client's own key anything may be asked; with the gateway's only for what conversations
 * need: it would let anybody on this machine see to the account.
 */
export function mayForward(visit: DoorVisit, upstream: Upstream): boolean {
  return isCount(visit) || (upstream.settings.key === "client" && holdsKey(visit));
}

/** How many tokens a request would have. */
export const isCount = ({ method, path }: Pick<DoorVisit, "method" | "path">): boolean =>
  method === "POST" && /\/messages\/count_tokens$|:countTokens$/.test(path);

export async function forward(
  parts: Parameters<typeof reach>[0],
  {
    visit,
    upstream,
    outlet,
  }: {
    visit: DoorVisit & { wire: DoorWire };
    upstream: Upstream;
    outlet: DoorOutlet;
  },
): Promise<void> {
  const body = withModel(visit.bytes, upstream.resolved.model.id);
  const asked = { visit, upstream, body, signal: outlet.gone, mayBeEmpty: true } as const;
  const answer = await reach(parts, asked);
  if ("problem" in answer)
    return answerWith(outlet, visit.wire.error(answer.status, answer.problem));
  const end = await relay(answer, outlet);
  if (end === "whole") outlet.end();
  else outlet.breakOff();
}

/** The model's own name, where a body names one. */
function withModel(bytes: Uint8Array, model: string): Uint8Array {
  if (bytes.length === 0) return bytes;
  try {
    const body = fromJson(new TextDecoder().decode(bytes)) as { model?: unknown };
    if (typeof body.model !== "string" || body.model === model) return bytes;
    const values = [{ path: ["model"], value: model }];
    return editBody({ bytes, elements: [] }, { values, messages: new Map() });
  } catch {
    return bytes;
  }
}

// Answers a client that sends its whole history each time.
import { editBody } from "../body/edit-body.ts";
import { answerWith, type DoorCall, type DoorOutlet } from "../call/door-call.ts";
import type { DoorParts } from "../call/parts.ts";
import type { Upstream } from "../upstream/find-upstream.ts";
import { reach } from "../upstream/reach.ts";
import { relay } from "../upstream/relay.ts";

export async function answerTransparently(
  parts: DoorParts & Parameters<typeof reach>[0],
  asked: { call: DoorCall; upstream: Upstream; outlet: DoorOutlet },
): Promise<void> {
  const { call, upstream, outlet } = asked;
  const { id } = upstream.resolved.model;
  const isNamed = typeof call.body.model === "string" && call.body.model !== id;
  const values = isNamed ? [{ path: ["model"], value: id }] : [];
  const text = editBody(call.text, { values, list: call.wire.list, messages: new Map() });
  const answer = await reach(parts, {
    ...{ visit: call, upstream, signal: outlet.gone },
    body: new TextEncoder().encode(text),
  });
  if ("problem" in answer)
    return answerWith(outlet, call.wire.error(answer.status, answer.problem));
  const end = await relay(answer, outlet);
  if (end === "whole") outlet.end();
  else outlet.breakOff();
}

// Makes a session's part of the database what is shared of it.
import type { AgentMessage, SessionRows } from "@clew/plugin-sdk/core";
import { parseTranscriptLine } from "@clew/plugin-sdk/transcript";
import { messageIn } from "../ingest/told-branch.ts";
import { keyOf } from "../messages/name.ts";
import { patiently } from "../patiently.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { storageError } from "../store/failure.ts";
import type { SharedMessage } from "../store/shared-rows.ts";
import type { Store } from "../store/store.ts";
import {
  emptyConversation,
  type PlacedMessage,
  replaceGraph,
  storePlaced,
} from "../store/take-over.ts";
import { othersTurn } from "../turns.ts";
import type { Shared, SharingPlan } from "./plan-sharing.ts";

/** Lines that are asked for at once. */
const LINES = 500;
/** Messages that are stored in one transaction: few enough to keep nobody waiting. */
const BATCH = 32;

/** Tries to make a session anew while another program goes on storing messages of it. */
const TRIES = 5;

type Plan = Exclude<SharingPlan, { kind: "keep" }>;

interface TakingOver {
  readonly port: Pick<SessionRows, "lines">;
  readonly plan: Plan;
  readonly shared: Shared;
  readonly conversation: number;
}

/**
 * Ended in the middle, it is begun again with the next opening. A message that is there under
 * another number gives it up: all of the conversation is made anew then. Gives messages that nobody
 * tells.
 */
export async function takeOver(
  store: Store,
  session: OwnedSession,
  { port, plan, shared, conversation }: TakingOver,
): Promise<readonly SharedMessage[]> {
  const anew: Plan = { kind: "anew", missing: [...shared.messages.values()] };
  for (let tries = 0; tries < TRIES; tries++) {
    const tried = tries === 0 ? plan : anew;
    const request = { port, plan: tried, shared, conversation };
    const gone = await takeOverOnce(store, session, request);
    if (gone !== null) return gone;
  }
  throw storageError(
    `The lossless engine cannot take over the session ${session.sessionKey ?? session.sessionId} in ${store.path}: another program stores its messages there at the same time; end it, then try again.`,
  );
}

/** Null: a message is there under another number. */
async function takeOverOnce(
  store: Store,
  session: OwnedSession,
  { port, plan, shared, conversation }: TakingOver,
): Promise<readonly SharedMessage[] | null> {
  const told = await messagesOf(port, plan.missing);
  if (plan.kind === "anew") await patiently(() => emptyConversation(store, session, conversation));
  const placed = plan.missing.flatMap(({ message, ...place }): PlacedMessage[] => {
    const said = message ?? told.get(place.name);
    return said === undefined ? [] : [{ ...place, message: said }];
  });
  for (let at = 0; at < placed.length; at += BATCH) {
    const batch = placed.slice(at, at + BATCH);
    if (!(await patiently(() => storePlaced(store, conversation, batch)))) return null;
    await othersTurn();
  }
  const { cuts, ledger, turns } = shared;
  const graph = { summaries: [...shared.summaries.values()], cuts, ledger, turns };
  await patiently(() => replaceGraph(store, conversation, graph));
  const there = new Set(placed.map(({ seq }) => seq));
  return plan.missing.filter(({ seq }) => !there.has(seq));
}

/** By name, those that the transcript tells. */
async function messagesOf(
  port: Pick<SessionRows, "lines">,
  missing: readonly SharedMessage[],
): Promise<ReadonlyMap<string, AgentMessage>> {
  const wanted = new Set(missing.flatMap(({ name, message }) => (message ? [] : [name])));
  const found = new Map<string, AgentMessage>();
  for (let after = 0; found.size < wanted.size; after += LINES) {
    const lines = await port.lines({ after, limit: LINES });
    for (const line of lines) {
      const parsed = parseTranscriptLine(line);
      if (parsed.kind !== "entry") continue;
      const { entry } = parsed;
      const name = keyOf(entry.id);
      const message = wanted.has(name) ? messageIn(entry, entry.id) : undefined;
      if (message !== undefined) found.set(name, message);
    }
    if (lines.length < LINES) break;
    await othersTurn();
  }
  return found;
}

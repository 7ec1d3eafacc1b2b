// Reads and appends to the transcript, and moves to another one.
import { messageId } from "@clew/plugin-sdk/core";
import type { PolicyChange } from "@clew/plugin-sdk/host";
import {
  isUserTurn,
  type NewTranscriptEntry,
  planBulkCut,
  roleIn,
  sessionProjections,
  type TranscriptEntry,
} from "@clew/plugin-sdk/transcript";
import type { DeliveryLine, DeliveryPort } from "../../delivery-port.ts";
import { remediesIn } from "../../recovery/remedy.ts";
import type { WithheldEntry } from "../../report/model-call.ts";
import { withoutIdleHeartbeats } from "../../request/heartbeats.ts";
import { readerAmong } from "../../request/reader.ts";
import { resolveView } from "../../request/resolve-view.ts";
import { asPrompt, MADE_BY_POLICY, messagesOf, type ViewItem } from "../../request/view-item.ts";
import { whyDropped, withheldBetween } from "../../request/withheld.ts";
import {
  createDeliveryLedger,
  planCarriedDeliveries,
  withHeld,
} from "../../session/delivery-ledger.ts";
import { findPendingTurns } from "../../session/pending-turns.ts";
import { contextItems, readBranch, refreshContext } from "../../session/session-state.ts";
import { FRESH_SCAN } from "../../session/settled-scan.ts";
import { storeStep } from "../../session/store-step.ts";
import { messageIds, messageIn } from "../../session/told-messages.ts";
import type { TranscriptPort } from "../../transcript-port.ts";
import type { Ask } from "../effects.ts";
import type { Answer } from "../facts.ts";
import { rewriteEntries } from "./rewrite.ts";
import { ledgerOf, sessionOf, type World } from "./world.ts";

type Asked<Do extends Ask["do"]> = Extract<Ask, { do: Do }>;
type Answered<Type extends Answer["type"]> = Extract<Answer, { type: Type }>;

/**
 * What there is when an engine is first asked to bootstrap is all that it need not be told of: how
 * the call ends is not known when the run is cancelled in it, and a second one may read nothing.
 */
export function noteFirstLook(world: World): void {
  const { state, setup } = world;
  const { id } = setup.engine;
  if (ledgerOf(world).read(id) === undefined && !state.firstLooks.has(id))
    state.firstLooks.set(id, new Set(messageIds(state.branch)));
}

/** What the engine has not acknowledged; at its first sight, what there was. */
export function survey(world: World): Answered<"surveyed"> {
  const { state, setup } = world;
  const { branch } = state;
  const held = world.held.flatMap(({ engineId, change }) =>
    engineId === setup.engine.id ? [change] : [],
  );
  const record = withHeld(ledgerOf(world).read(setup.engine.id), held);
  const looked = state.firstLooks.get(setup.engine.id);
  if (record === undefined) {
    const ids = messageIds(branch).filter((id) => looked?.has(id) ?? true);
    const unanswered = messageIds(branch.slice(lastReply(branch) + 1));
    return { type: "surveyed", firstSight: true, ids, unanswered, turns: [] };
  }
  state.firstLooks.delete(setup.engine.id);
  const before = state.scans.get(setup.engine.id) ?? FRESH_SCAN;
  const version = setup.engine.info.version ?? null;
  const { turns, scan } = findPendingTurns(branch, record, version, before);
  state.scans.set(setup.engine.id, scan);
  return { type: "surveyed", firstSight: false, ids: [], unanswered: [], turns };
}

const lastReply = (branch: readonly TranscriptEntry[]): number =>
  branch.findLastIndex((entry) => roleIn(entry) === "assistant");

/**
 * A store that takes changes with an append gets them with the next one, if that is what comes next
 * (`storeHeld`): never later, or a crash would hand more over again.
 */
export async function record(
  world: World,
  { change }: Asked<"record">,
): Promise<Answered<"recorded">> {
  const { transcript, setup } = world;
  const engineId = setup.engine.id;
  const ledger = ledgerOf(world);
  if (transcript.appendStep !== undefined && ledger === transcript.deliveries)
    world.held = [...world.held, { engineId, change }];
  else await ledger.save(engineId, change);
  return { type: "recorded" };
}

/** What no append follows at once is stored by itself. */
export async function storeHeld(world: World, next: Ask["do"]): Promise<void> {
  if (next === "append" || next === "record") return;
  await storeStep(world.transcript, { deliveries: world.held });
  world.held = [];
}

/** A message that does not say when it was made was made now. */
export async function append(
  world: World,
  { as, entries }: Asked<"append">,
): Promise<Answered<"appended">> {
  const { ports, state } = world;
  const stamped = entries.map(
    (entry): NewTranscriptEntry =>
      entry.type === "message" && entry.message.timestamp === undefined
        ? { ...entry, message: { ...entry.message, timestamp: ports.clock.now() } }
        : entry,
  );
  const stored = await storeStep(world.transcript, { entries: stamped, deliveries: world.held });
  world.held = [];
  if (as === "reply" && state.measurement !== undefined && "messages" in state.measurement)
    state.measurement = { ...state.measurement, replyId: messageIds(stored)[0] };
  return { type: "appended", as, entries: stored };
}

/** The stored history before the prompt, sanitised, limited and paired. */
export async function read(
  { ports, state, setup }: World,
  { promptId }: Asked<"read">,
): Promise<Answered<"read">> {
  const { model, settings } = setup;
  const past = contextItems(state, 0, turnStart({ state }, promptId));
  const raw = state.holdsHeartbeats ? withoutIdleHeartbeats(past) : past;
  const messages = messagesOf(raw);
  const sanitized = await ports.policy?.sanitizeHistory({
    messages,
    model,
    branch: state.branch,
  });
  const limited = limitHistory(sanitized?.messages ?? messages, settings.historyLimit);
  const paired = ports.policy?.repairPairing({ messages: limited, model });
  const history = paired?.messages ?? limited;
  const kept = { clean: sanitized?.messages ?? messages, limited, history };
  const changes = [...(sanitized?.changes ?? []), ...(paired?.changes ?? [])];
  state.withheld.now = withheldFrom(past, raw, kept, changes);
  return {
    type: "read",
    history: resolveView(history, raw, state.table, MADE_BY_POLICY).items,
    changes,
    sideRecords: sanitized?.sideRecords ?? [],
    remedies: remediesIn(state.branch, `${model.provider}/${model.id}`),
    projections:
      settings.sessionPrune?.mode === undefined || settings.sessionPrune.mode === "off"
        ? []
        : sessionProjections(state.branch),
  };
}

type Messages = readonly ViewItem["message"][];

/** What each step on the way to the engine left out; nothing is looked at where none did. */
function withheldFrom(
  past: readonly ViewItem[],
  raw: readonly ViewItem[],
  { clean, limited, history }: { clean: Messages; limited: Messages; history: Messages },
  changes: readonly PolicyChange[],
): WithheldEntry[] {
  const [host, policy] = ["host" as const, "policy" as const];
  const why = whyDropped(changes);
  const steps = [
    raw !== past && withheldBetween(past, messagesOf(raw), { by: host, why: IDLE_HEARTBEAT }),
    clean !== messagesOf(raw) && withheldBetween(raw, clean, { by: policy, why }),
    limited !== clean && withheldBetween(raw, limited, { by: host, why: OVER_LIMIT }),
    history !== limited && withheldBetween(raw, history, { by: policy, why }),
  ];
  const first = new Map<string, WithheldEntry>();
  for (const entry of steps.flatMap((step) => step || []))
    if (!first.has(entry.entryId)) first.set(entry.entryId, entry);
  return [...first.values()];
}

const IDLE_HEARTBEAT = "a heartbeat that had nothing to say";
const OVER_LIMIT = "older than the newest turns that the settings keep";

/** The stored messages of this turn, from the prompt on. */
export function runningTurn(
  { state }: Pick<World, "state">,
  promptId: string | undefined,
): readonly ViewItem[] {
  if (promptId === undefined) return [];
  const start = turnStart({ state }, promptId);
  return contextItems(state, start).map((item) =>
    item.id === promptId && item.why.source.kind === "entry"
      ? { ...item, why: asPrompt(item.why.source.entryId) }
      : item,
  );
}

/** Index of the turn's first item in the context. */
function turnStart({ state }: Pick<World, "state">, promptId: string | undefined): number {
  const items = refreshContext(state);
  const entries = entriesSince(state.branch, promptId);
  // The turn is at the end: look back from there.
  let split = items.length;
  while (split > 0 && entries.has(entryOf(items[split - 1]!) ?? "")) split--;
  return split;
}

const entryOf = ({ why: { source } }: ViewItem) =>
  source.kind === "entry" ? source.entryId : undefined;

function entriesSince(
  branch: readonly TranscriptEntry[],
  promptId: string | undefined,
): Set<string> {
  const ids = new Set<string>();
  if (promptId === undefined) return ids;
  for (let index = branch.length - 1; index >= 0; index--) {
    const entry = branch[index]!;
    // A summary made during the turn stands for what was before it.
    if (entry.type !== "compaction") ids.add(entry.id);
    // What somebody else wrote may claim the id of a prompt.
    if (roleIn(entry) === "user" && messageIn(entry)?.id === promptId) return ids;
  }
  // The prompt is no longer on the branch: nothing counts as this turn.
  return new Set();
}

/** The newest `limit` user turns, and any summary at the head; undefined = everything. */
function limitHistory(
  messages: readonly ViewItem["message"][],
  limit: number | undefined,
): readonly ViewItem["message"][] {
  if (limit === undefined) return messages;
  let turns = 0;
  for (let index = messages.length - 1; index >= 0; index--) {
    if (isUserTurn(messages[index]!) && ++turns === limit) {
      const head = messages[0]!;
      const summary = index > 0 && head.role === "compactionSummary" ? [head] : [];
      return index === 0 ? messages : [...summary, ...messages.slice(index)];
    }
  }
  return messages;
}

/**
 * Shortens stored tool results in bulk, by re-appending the branch with cut ones; the originals
 * stay in the file.
 */
export async function cutResults(
  world: World,
  { freeTokens, leastTokens, mustFreeTokens }: Asked<"cut-results">,
): Promise<Answered<"cut">> {
  const { state, setup, ports, transcript } = world;
  // The turn's own results, and what an earlier cut left.
  await readBranch(state, transcript);
  refreshContext(state);
  const items = contextItems(state, 0);
  const reader = readerAmong(setup.tools);
  const { contextWindow } = setup.model;
  const { cuts, freedTokens } = planBulkCut(messagesOf(items), {
    ...{ contextWindow, freeTokens, leastTokens, mustFreeTokens, reader },
  });
  const replacements = cuts.flatMap(({ index, message }) => {
    const { source } = items[index]!.why;
    return source.kind === "entry" ? [{ entryId: source.entryId, message }] : [];
  });
  const nothing = { type: "cut", results: 0, freedTokens: 0 } as const;
  if (replacements.length === 0) return nothing;
  const { changed, rewrittenEntries: results } = await rewriteEntries(world, { replacements });
  if (!changed) return nothing;
  const freed = Math.ceil(freedTokens);
  ports.log.info(`recovery: cut ${results} tool results, about ${freed} tokens`);
  return { type: "cut", results, freedTokens: freed };
}

/**
 * Compare-and-set; a session that moved meanwhile keeps its place. The running turn goes on in the
 * successor: where the engine copied it there, or appended here, tool results and all.
 */
export async function adopt(
  world: World,
  { sessionId, sessionFile, promptId }: Asked<"adopt">,
): Promise<Answered<"adopted">> {
  const { ports, state } = world;
  const refused = (why: string): Answered<"adopted"> => {
    ports.log.warn(`compaction successor refused: ${why}`);
    return { type: "adopted", session: null, promptEntryId: null };
  };
  if (ports.successors === undefined) return refused("this host keeps one transcript per session");
  const turn = runningTurn(world, promptId);
  const memory = createDeliveryLedger();
  const prepare = (successor: TranscriptPort) => bringAlong(world, successor, { turn, memory });
  const transcript = await ports.successors.adopt({
    from: sessionOf(world),
    sessionId,
    sessionFile,
    prepare,
  });
  if (transcript === undefined)
    return refused("the session moved to another transcript in the meantime");
  // Once more, for hosts that did not: what is there already stays as it is.
  await prepare(transcript);
  world.transcript = transcript;
  state.branch = [];
  state.context = undefined;
  state.scans.clear();
  state.deliveries = memory;
  await readBranch(state, transcript);
  const prompt = state.branch.findLast(
    (entry) => entry.type === "message" && messageId(entry.message) === promptId,
  );
  return { type: "adopted", session: transcript.session, promptEntryId: prompt?.id ?? null };
}

/**
 * The running turn, where the engine did not copy it, and what engines know of it all; `memory` is
 * for what the successor keeps no record of.
 */
async function bringAlong(
  { transcript, state }: World,
  successor: TranscriptPort,
  { turn, memory }: { turn: readonly ViewItem[]; memory: DeliveryPort },
): Promise<void> {
  const there = messageIds((await successor.read({ after: null })) ?? []);
  const known = new Set(there);
  const missing = turn.filter(({ id }) => id !== undefined && !known.has(id));
  const ids = [...there, ...missing.map(({ id }) => id!)];
  const from = transcript.deliveries ?? state.deliveries;
  const to = successor.deliveries ?? memory;
  const deliveries = planCarriedDeliveries(from, to, ids);
  const entries = missing.map((item) => entryAgain(item, state.branch));
  await storeStep(successor, to === memory ? { entries } : { entries, deliveries });
  const remember = async (lines: readonly DeliveryLine[]) => {
    for (const { engineId, change } of lines) await memory.save(engineId, change);
  };
  if (to === memory) await remember(deliveries);
  await remember(planCarriedDeliveries(state.deliveries, memory, ids));
}

/** What the entry of an item said, to be said in another transcript under the same id. */
function entryAgain(item: ViewItem, branch: readonly TranscriptEntry[]): NewTranscriptEntry {
  const { id, message } = item;
  const entry = branch.findLast((each) => each.id === entryOf(item));
  if (entry === undefined || entry.type === "message" || id === undefined)
    return { type: "message", message };
  const { id: _id, parentId: _parent, timestamp: _time, ...said } = entry;
  return { ...said, __openclaw: { ...said.__openclaw, id } };
}

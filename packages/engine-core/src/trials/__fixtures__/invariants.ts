// What must hold after every command, whatever happened: one sentence per law that does not.

import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";
import type { MessageEntry } from "@clew/plugin-sdk/transcript";
import {
  contentOf,
  currentSession,
  type Disk,
  eventOf,
  fileOf,
  messageEntries,
  readBranch,
  readEntries,
  recordOf,
  storeOf,
} from "./disk.ts";
import { type EngineShape, readsThePast } from "./engine-shape.ts";
import type { Row } from "./engine-store.ts";
import { outOfOrder, repeated } from "./events.ts";
import { callIds } from "./pairing-policy.ts";
import type { CompactOutcome, Facts, TurnOutcome } from "./test-process.ts";

/** One engine's relation to the session, as a test knows it. */
export interface Acquaintance {
  shape: EngineShape;
  /** Ids on the branch when its first turn began; undefined = it had none yet. */
  before: ReadonlySet<string> | undefined;
  /** Whether its last turn went well, so that nothing may be pending. */
  isSettled: boolean;
}

/** Everything one engine was told, against the transcript. */
export function deliveryFaults(disk: Disk, { shape, before, isSettled }: Acquaintance): string[] {
  const { id } = shape;
  const store = storeOf(disk, id);
  const branch = messageEntries(readBranch(disk, currentSession(disk).sessionFile));
  const ids = branch.map(({ message }) => messageId(message) ?? "none");
  const stored = new Set(store.rows.map((row) => row.id));
  const name = (one: string) => `${one} (${eventOf(branch[ids.indexOf(one)]!.message)})`;
  const owed = ids.filter((one) => readsThePast(shape) || !before?.has(one));
  const lacking = before === undefined ? [] : owed.filter((one) => !stored.has(one));
  const record = recordOf(disk, currentSession(disk));
  const parked = disk.deliveries.parked(record, id);
  const lost = lacking.filter((one) => !parked.has(turnOf(branch, one)));
  const onRecord = disk.deliveries.acknowledged(record, id);
  const told = store.rows.filter((row) => row.isHeartbeat !== undefined);
  return [
    ...store.wrong,
    ...repeated(ids).map((one) => `the transcript holds id ${one} twice on one branch`),
    ...repeated(branch.map(({ message }) => eventOf(message))).map(
      (event) => `the transcript holds ${event} twice on one branch`,
    ),
    ...store.rows.flatMap((row) => idFaults(disk, id, row)),
    ...store.rows.flatMap((row) => contentFaults(branch, id, row)),
    ...repeated(store.rows.map(({ event }) => event)).map(
      (event) => `${id} stored ${event} under two ids`,
    ),
    ...[...store.acknowledged].flatMap(([one, times]) =>
      times > 1 ? [`${id} acknowledged ${one} ${times} times`] : [],
    ),
    ...(isSettled ? lost.map((one) => `${id} was never given ${name(one)}`) : []),
    ...lost.flatMap((one) =>
      onRecord.has(one)
        ? [`${name(one)} is on record as acknowledged by ${id}, which lacks it`]
        : [],
    ),
    ...orderFaults(
      id,
      store.rows.map((row) => row.id ?? ""),
      ids,
      new Set([...store.doubtful, ...store.readAhead]),
    ),
    ...told.flatMap(({ id: one = "", event, isHeartbeat }) => {
      const kind = disk.kinds.get(one);
      return kind === undefined || isHeartbeat === (kind === "heartbeat")
        ? []
        : [`${id} was given ${event} of a ${kind} turn with isHeartbeat ${isHeartbeat}`];
    }),
  ];
}

function idFaults(disk: Disk, engineId: string, { id, event }: Row): string[] {
  if (id === undefined) return [`${engineId} was given ${event} without an id`];
  return disk.kinds.has(id)
    ? []
    : [`${engineId} was given ${event} under the id ${id}, which no entry ever had`];
}

/** Another message under the right id; a rewrite since then only added its mark. */
function contentFaults(branch: readonly MessageEntry[], engineId: string, row: Row): string[] {
  const entry = branch.find(({ message }) => messageId(message) === row.id);
  const plain = (content: string) => content.replaceAll(" [cut]", "");
  return entry === undefined || plain(contentOf(entry.message)) === plain(row.content)
    ? []
    : [`${engineId} was given ${row.content} as ${row.id}, which is ${contentOf(entry.message)}`];
}

/** Id of the message that opens the turn of `one`. */
function turnOf(branch: readonly MessageEntry[], one: string): string {
  const at = branch.findIndex(({ message }) => messageId(message) === one);
  const opens = branch.slice(0, at + 1).findLast(({ message }) => message.role === "user");
  return messageId((opens ?? branch[0]!).message) ?? "";
}

/** A call that failed may have stored what comes after something it did not store. */
const orderFaults = (
  id: string,
  stored: readonly string[],
  branch: readonly string[],
  doubtful: ReadonlySet<string>,
) =>
  outOfOrder(
    stored.filter((one) => !doubtful.has(one)),
    branch,
  ).map((one) => `${id} was given ${one} after something newer`);

/** What a turn is judged by beside itself. */
export interface Circumstances {
  /** Perhaps the engine went on rewriting when the report was made. Absent: it did not. */
  wasRewritten?: boolean;
  /** The window may be too small for a turn. Absent: it is large enough. */
  isTight?: boolean;
  /** The engine that must have answered, because it never failed. Absent: another may have. */
  sound?: string | undefined;
  /** Whether the engine tidies up behind the reply. Absent: it does not. */
  tidies?: boolean | undefined;
}

/** The transcript and the report, against what the turn did. */
export function turnFaults(
  disk: Disk,
  turn: TurnOutcome,
  { wasRewritten = false, isTight = false, sound, tidies = false }: Circumstances = {},
): string[] {
  const { number, plan, result, facts } = turn;
  if (result === undefined) return [...facts.wrong, ...lostPrompt(disk, turn)];
  const { report, outcome, reply } = result;
  const entries = messageEntries(readBranch(disk, currentSession(disk).sessionFile));
  const entryOf = (event: string) => entries.find(({ message }) => eventOf(message) === event);
  const prompt = entryOf(`q${number}`);
  const answer = entryOf(`r${number}`);
  const kind = prompt?.message.__openclaw?.kind ?? "user";
  const isCalm = facts.mishapAt === undefined;
  // Maintenance behind the reply may have rewritten them since.
  const all = wasRewritten ? messageEntries(readEntries(disk, fileOf(report.sessionId))) : entries;
  const holds = (entryId: string | null, event: string) =>
    all.some((entry) => entry.id === entryId && eventOf(entry.message) === event);
  const check = (isRight: boolean, sentence: string) => (isRight ? [] : [sentence]);
  return [
    ...facts.wrong,
    ...check(prompt !== undefined, `the prompt q${number} is not in the transcript (${outcome})`),
    ...check(kind === plan.kind, `the prompt of a ${plan.kind} turn says it is of a ${kind} turn`),
    ...check(report.outcome === outcome, `report says ${report.outcome}, the result ${outcome}`),
    ...check(
      holds(report.promptEntryId, `q${number}`),
      `report names ${report.promptEntryId} as the prompt, which is ${prompt?.id}`,
    ),
    ...check(
      (outcome === "completed") === (reply !== null),
      `${outcome} with reply ${reply !== null}`,
    ),
    ...check(
      (outcome === "completed") === (answer !== undefined),
      `${outcome}, but the transcript ${answer ? "holds" : "lacks"} the answer`,
    ),
    ...(outcome === "completed"
      ? check(
          holds(report.replyEntryId, `r${number}`),
          `report names ${report.replyEntryId} as the reply, which is ${answer?.id}`,
        )
      : []),
    ...check(
      report.modelCalls.length === facts.modelCalls,
      `report tells of ${report.modelCalls.length} model calls, there were ${facts.modelCalls}`,
    ),
    ...(facts.abortedAt === undefined
      ? check(
          report.toolCalls.length === facts.toolRuns.length,
          `report tells of ${report.toolCalls.length} tool calls, there were ${facts.toolRuns.length}`,
        )
      : []),
    ...repeated(facts.toolRuns).map((id) => `tool call ${id} ran twice`),
    ...(isCalm ? facts.toolRuns : []).flatMap((id) =>
      check(entryOf(`result ${id}`) !== undefined, `the transcript lacks the result of ${id}`),
    ),
    ...expectedOutcome(outcome, result.error?.kind, plan, facts, isTight),
    ...engineCallFaults(report, facts),
    ...check(
      sound === undefined ||
        !isCalm ||
        (report.engine.ran === sound && report.engine.degraded === null),
      `${report.engine.ran} answered for ${sound}: ${report.engine.degraded?.reason}`,
    ),
    ...(isCalm ? compactionFaults(report, facts) : []),
    ...(isCalm && tidies && sound !== undefined && outcome === "completed"
      ? tidyingFaults(sound, facts)
      : []),
    ...(isCalm
      ? unansweredCalls(
          entries.map(({ message }) => message),
          number,
        )
      : []),
  ];
}

/** Whoever dies while an engine chooses or a model answers has stored what was said. */
function lostPrompt(disk: Disk, { number, facts: { mishapAt = "" } }: TurnOutcome): string[] {
  if (!/ assemble|^model|^tool/.test(mishapAt)) return [];
  const entries = messageEntries(readBranch(disk, currentSession(disk).sessionFile));
  return entries.some(({ message }) => eventOf(message) === `q${number}`)
    ? []
    : [`the prompt q${number} was not stored at the step ${mishapAt}`];
}

export function compactFaults({ report, facts }: CompactOutcome): string[] {
  if (report === undefined) return facts.wrong;
  return [
    ...facts.wrong,
    ...engineCallFaults(report, facts),
    ...(facts.mishapAt === undefined ? compactionFaults(report, facts) : []),
  ];
}

/** Nothing went wrong: there is a reply. Only the provider did: the turn fails for that, or recovers. */
function expectedOutcome(
  outcome: string,
  error: string | undefined,
  plan: TurnOutcome["plan"],
  facts: Facts,
  isTight: boolean,
): string[] {
  if (facts.abortedAt !== undefined && (outcome !== "failed" || plan.failure === undefined))
    return outcome === "failed" ? [`an aborted turn ended as ${outcome} (${error})`] : [];
  if (isTight && error === "overflow") return [];
  const met = plan.failure !== undefined && plan.failure.call < facts.modelCalls;
  if (!met)
    return outcome === "completed" ? [] : [`${outcome} (${error}) though no provider failed`];
  const { kind } = plan.failure!;
  const mayRecover = kind === "overflow" || kind === "timeout";
  if (mayRecover && outcome === "completed") return [];
  const isTold = kind === "aborted" ? outcome === "aborted" : outcome === "failed";
  return isTold && error === kind ? [] : [`${outcome} (${error}) after the provider's ${kind}`];
}

type Report = NonNullable<TurnOutcome["result"]>["report"];

function engineCallFaults({ engine, engineCalls }: Report, facts: Facts): string[] {
  const told = engineCalls.filter(({ outcome }) => outcome !== "fallback");
  // Maintenance behind the reply is not the turn's.
  const real = facts.engineCalls.filter(({ method }) => method !== "maintain");
  const names = (calls: readonly { method: string }[]) =>
    calls.flatMap(({ method }) => (method === "maintain" ? [] : [method])).join();
  if (facts.mishapAt === undefined)
    return engine.ran === "legacy" || names(told) === names(real)
      ? []
      : [`report tells of the engine calls ${names(told)}, there were ${names(real)}`];
  const failed = real.find(({ ok }) => !ok);
  return failed === undefined ||
    facts.abortedAt !== undefined ||
    engineCalls.some(({ method, outcome }) => method === failed.method && outcome !== "ok")
    ? []
    : [`${failed.method} failed and the report does not say so`];
}

function compactionFaults({ compactions }: Report, facts: Facts): string[] {
  const told = compactions.filter(({ ok, compacted }) => ok && compacted).length;
  return told === facts.compacted
    ? []
    : [`report tells of ${told} compactions, there were ${facts.compacted}`];
}

/** Maintenance behind the reply runs, and the end of the run is not its end. */
function tidyingFaults(engineId: string, { isTidied, brokeBehind, compacted }: Facts): string[] {
  if (!isTidied) return [`${engineId} was not asked to tidy up behind the reply`];
  return compacted > 0 ? [] : brokeBehind.map((line) => `behind the reply: ${line}`);
}

/** Calls of this turn that were left without a result in the transcript. */
function unansweredCalls(messages: readonly AgentMessage[], turn: number): string[] {
  const answered = new Set(
    messages.flatMap((message) => (message.role === "toolResult" ? [message.toolCallId] : [])),
  );
  return messages
    .flatMap(callIds)
    .filter((call) => call.startsWith(`c${turn}.`) && !answered.has(call))
    .map((call) => `the transcript holds call ${call} without a result`);
}

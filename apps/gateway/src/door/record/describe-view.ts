// Lists what a client's model was sent, by the entries of its session.
import {
  type ReportItem,
  type ReportParts,
  tokensAmong,
  type WithheldEntry,
} from "@clew/engine-core";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { PolicyChange, Steps } from "@clew/plugin-sdk/host";
import { estimateText } from "@clew/plugin-sdk/tokens";
import { toJson } from "../../own-json.ts";
import { SENT_OTHERWISE, SET_ASIDE } from "../../reports/door-rules.ts";
import { contentHash } from "../../text/content-hash.ts";
import type { DoorCall } from "../call/door-call.ts";
import type { RequestSketch, SketchedMessage } from "../match/sketch.ts";
import type { StoredMessage } from "../memory/journal-lines.ts";
import { toAgentMessages } from "../transcript/agent-messages.ts";
import type { MadeView } from "../view/make-view.ts";
import type { DoorApi, JsonObject } from "../wires/door-wire.ts";
import { objectsOf, recordOf, textOf } from "../wires/json.ts";
import { toolsIn } from "../wires/openai-responses.ts";
import { describeStored } from "./describe-entry.ts";
import type { DescribedView, LiveSession } from "./live-session.ts";

export interface ViewDescription {
  system: ReportItem[];
  tools: ReportItem[];
  messages: ReportItem[];
  policyChanges: PolicyChange[];
  withheld: WithheldEntry[];
  parts: ReportParts;
  requestHash: string;
  /** Leading messages that are what they were in the session's last turn. */
  kept: number;
  /** Tokens of those behind them that were sent in it too. */
  moved: number;
}

/** A step for each message that was not described before. */
export function* describeView(
  live: LiveSession,
  input: {
    call: Pick<DoorCall, "wire" | "body" | "request">;
    sketch: RequestSketch;
    view: Pick<MadeView, "edits" | "plan" | "tools">;
    /** "provider/model". */
    model: string;
    /** True: what is not in the request is told of. */
    tellsWithheld: boolean;
  },
): Steps<ViewDescription> {
  const { call, view, model } = input;
  const parts: ReportParts = {};
  const heads = describeHeads(call, { parts, offered: view.tools ?? call.body.tools });
  const last = live.lastView;
  const before = last?.items ?? [];
  const described = yield* describeMessages(live, input, parts);
  const hashes = [...heads.system, ...heads.tools].map(({ hash }) => hash);
  const withheld = input.tellsWithheld ? withheldNow(live, described, last) : [];
  const kept = lengthOfSame(before, described.items, (a, b) => a.hash === b.hash);
  return {
    ...heads,
    messages: [...described.items],
    policyChanges: [...described.changes],
    ...{ withheld, parts },
    kept,
    moved: tokensAmong(described.items.slice(kept), before.slice(kept).map(hashIn)),
    requestHash: contentHash([model, ...hashes, described.chain.at(-1) ?? ""].join("\n")),
  };
}

const hashIn = ({ hash }: ReportItem) => hash;

function describeHeads(
  { wire, request }: Pick<DoorCall, "wire" | "request">,
  { parts, offered }: { parts: ReportParts; offered: unknown },
): Pick<ViewDescription, "system" | "tools"> {
  const item = (text: string, why: Pick<ReportItem, "source" | "code" | "reason">): ReportItem => {
    const hash = contentHash(text);
    parts[hash] = text;
    return { ...why, tokens: Math.ceil(estimateText(text).estimate), hash };
  };
  const leading = request.messages
    .slice(0, request.leading)
    .map((message) => wire.look(message))
    .filter(({ text }) => text !== "");
  const beside = request.system === null ? [] : [wordsOf(request.system)];
  const system = [...beside, ...leading.map(({ text }) => text)].map((text, index) =>
    item(text, {
      source: { kind: "system", part: index === 0 ? "client" : `client ${index + 1}` },
      ...{ code: "system-prompt", reason: "the client's system prompt" },
    }),
  );
  const tools = [...toolsOf(offered), ...toolsOf(request.listed)].map((tool) => {
    const name = textOf(recordOf(tool.function).name) || textOf(tool.name) || textOf(tool.type);
    return item(toJson(tool), {
      source: { kind: "tool-schema", name: name || "tool" },
      ...{ code: "tool-schema", reason: "the client's tool" },
    });
  });
  return { system, tools };
}

/** Google's stand in lists of their own, and so do those of a namespace. */
const toolsOf = (tools: unknown): readonly JsonObject[] =>
  objectsOf(tools).flatMap((tool) => {
    const declared = objectsOf(tool.functionDeclarations ?? tool.function_declarations);
    return declared.length > 0 ? declared : toolsIn(tool);
  });

function wordsOf(system: unknown): string {
  if (typeof system === "string") return system;
  const blocks = Array.isArray(system) ? system : objectsOf(recordOf(system).parts);
  const texts = objectsOf(blocks).map(({ text }) => textOf(text));
  return texts.length > 0 ? texts.join("\n\n") : toJson(system);
}

/** Goes on from what was described of the request before, as far as this one begins like it. */
function* describeMessages(
  live: LiveSession,
  { call, sketch, view, tellsWithheld }: Parameters<typeof describeView>[1],
  parts: ReportParts,
): Steps<DescribedView> {
  const { wire, request } = call;
  const list = request.messages.slice(request.leading);
  const answered = sketch.messages.findLastIndex(({ speaker }) => speaker === "person");
  const { elidedBefore, linesBefore, leftOut: gone, marks: moved } = view.plan;
  const shortened = [elidedBefore, linesBefore, gone.size];
  const key = toJson([moved, ...shortened, request.leading]);
  const ends = sketch.messages.map(({ end }) => end);
  const before = live.lastView?.key === key ? live.lastView : undefined;
  const same = before === undefined ? 0 : lengthOfSame(before.ends, ends, Object.is);
  const last = before?.marks[same - 1] ?? { items: 0, from: 0 };
  const items = (before?.items ?? []).slice(0, last.items);
  const chain = (before?.chain ?? []).slice(0, last.items);
  const changes = (before?.changes ?? []).filter(({ index }) => index < last.items);
  const marks = (before?.marks ?? []).slice(0, same);
  const leftOut = new Set(before?.leftOut);
  let { from } = last;
  for (let index = same; index < ends.length; index++) {
    const message = sketch.messages[index]!;
    const token = message.token;
    const place = token === null ? -1 : live.placeOf(token, from);
    if (place >= from) from = place;
    describeMessage({
      ...{ live, items, changes, parts, leftOut, token, message },
      ...{ known: live.stored[place], shown: view.edits.get(index + request.leading) },
      code: index === answered ? "prompt" : "history",
      sentAs: (shown) => asSent(wire.api, shown ?? list[index]!, live),
    });
    live.learnHash(place, message.hash);
    marks.push({ items: items.length, from });
    yield;
  }
  for (const { hash } of items.slice(chain.length)) {
    chain.push(contentHash(`${chain.at(-1) ?? ""}\n${hash}`));
    yield;
  }
  const stored = live.stored.length;
  const described = { key, ends, marks, items, chain, changes, leftOut, stored };
  // A request beside the session says nothing of the next turn.
  if (tellsWithheld) live.lastView = described;
  return described;
}

function lengthOfSame<Item>(
  a: readonly Item[],
  b: readonly Item[],
  isSame: (a: Item, b: Item) => boolean,
): number {
  let same = 0;
  while (same < a.length && same < b.length && isSame(a[same]!, b[same]!)) same++;
  return same;
}

const asSent = (api: DoorApi, message: JsonObject, { toolNames }: LiveSession): AgentMessage[] =>
  toAgentMessages(api, [message], { toolNames });

interface MessageToDescribe {
  live: LiveSession;
  /** Grow. */
  items: ReportItem[];
  changes: PolicyChange[];
  parts: ReportParts;
  /** Entries that the view leaves out. */
  leftOut: Set<string>;
  token: string | null;
  message: SketchedMessage;
  /** Where it is stored. Undefined: nowhere. */
  known: StoredMessage | undefined;
  /** What became of it; undefined: nothing, null: it is left out. */
  shown: JsonObject | null | undefined;
  code: "prompt" | "history";
  sentAs(shown: JsonObject | undefined): AgentMessage[];
}

function describeMessage(one: MessageToDescribe): void {
  const { live, items, changes, parts, leftOut, token, message, known, shown, code } = one;
  if (shown === null) {
    for (const id of known?.entries ?? []) leftOut.add(id);
    return;
  }
  // Whatever its client sends of it now, none of it may be stored again.
  if (known?.entries.some((id) => live.describe(id)?.isForgotten)) {
    for (const id of known.entries) pushEntry(items, live, id, code);
    return;
  }
  const isEdited = known !== undefined && known.hash !== null && known.hash !== message.hash;
  if (known !== undefined && !isEdited && shown === undefined) {
    for (const id of known.entries) pushEntry(items, live, id, code);
    return;
  }
  // A message without a token is thinking alone, and stands with the reply it belongs to.
  if (token === null) return;
  for (const [at, sent] of one.sentAs(shown).entries()) {
    const { hash, ...described } = describeStored(sent);
    const id = known?.entries[at];
    if (id !== undefined && live.describe(id)?.text === described.text) {
      pushEntry(items, live, id, code);
      continue;
    }
    parts[hash] = withoutImages(sent);
    const rule = shown === undefined ? SENT_OTHERWISE : SET_ASIDE;
    if (id !== undefined)
      changes.push({ rule, action: "changed", index: items.length, reason: detailOf(rule) });
    items.push({
      source: id === undefined ? { kind: "engine" } : { kind: "entry", entryId: id },
      ...{ role: described.role, code, tokens: described.tokens, hash },
      reason: id === undefined ? "the client's, of this request only" : detailOf(rule),
      ...(id !== undefined && { changed: true as const }),
    });
  }
}

const detailOf = (rule: string): string =>
  rule === SENT_OTHERWISE ? "the client sent it otherwise than before" : "set aside to make room";

function pushEntry(
  items: ReportItem[],
  live: LiveSession,
  entryId: string,
  code: "prompt" | "history",
): void {
  const before = items.at(-1)?.source;
  // Several items of a wire are one reply.
  if (before?.kind === "entry" && before.entryId === entryId) return;
  const described = live.describe(entryId);
  if (described === undefined) return;
  const { role, tokens, hash } = described;
  items.push({ source: { kind: "entry", entryId }, role, code, reason: code, tokens, hash });
}

/**
 * Those of which no report said it yet. Where `described` goes on from all of `last`, only what
 * came since is looked at.
 */
function withheldNow(
  live: LiveSession,
  described: DescribedView,
  last: DescribedView | undefined,
): WithheldEntry[] {
  const { items, leftOut } = described;
  const goesOn = last !== undefined && items[last.items.length - 1] === last.items.at(-1);
  const from = goesOn ? { item: last.items.length, stored: last.stored } : { item: 0, stored: 0 };
  const sent = new Set<string>();
  for (let index = from.item; index < items.length; index++) {
    const { source } = items[index]!;
    if (source.kind === "entry") sent.add(source.entryId);
  }
  for (const entryId of sent) live.withheld.delete(entryId);
  const told: WithheldEntry[] = [];
  for (let place = from.stored; place < live.stored.length; place++)
    for (const entryId of live.stored[place]!.entries) {
      if (sent.has(entryId) || live.withheld.has(entryId)) continue;
      live.withheld.add(entryId);
      const why = leftOut.has(entryId)
        ? "left out to make room"
        : "its client did not send it again";
      told.push({ entryId, by: "host", why });
    }
  return told;
}

const withoutImages = (message: object): string =>
  toJson(message, (key, value: unknown) =>
    key === "data" && typeof value === "string" ? { contentHash: contentHash(value) } : value,
  );

// Makes the body that goes upstream of the one that came, and says what was done.
import type { Steps } from "@clew/plugin-sdk/host";
import { type BodyEdits, editBody } from "../body/edit-body.ts";
import type { BodyOutline } from "../body/outline.ts";
import type { SketchedMessage } from "../match/sketch.ts";
import type { DoorRequest, DoorWire, JsonObject, Overflow } from "../wires/door-wire.ts";
import { excerptOf, FEW_LINES } from "./excerpt.ts";
import { noteSteps, noteTokens } from "./left-out-note.ts";
import { markersIn, spareMarker } from "./markers.ts";
import {
  headTokens,
  planView,
  type ShortForm,
  shortFormAt,
  type ViewMarks,
  type ViewMessage,
  type ViewPlan,
} from "./plan-view.ts";
import { leastRoomOf, roomForRecall } from "./recall-room.ts";
import { type LoweredLimits, leastReplyOf, planLimits } from "./reply-room.ts";
import { tokensOf, tokensOfMessage } from "./weigh.ts";

export interface ViewRequest {
  wire: DoorWire;
  /** Of the body as it came. */
  outline: BodyOutline;
  /** The same, parsed. */
  body: JsonObject;
  /** What the model is called upstream. Absent: as in the body. */
  model?: string | undefined;
  request: DoorRequest;
  /** Those of the request behind the leading ones, as the matcher knows them. */
  messages: readonly SketchedMessage[];
  /** Of the model that is asked. */
  window: number;
  marks: ViewMarks;
  /** True: the model refuses thinking whose history has changed. */
  bindsThinking: boolean;
  /** Tokens the provider counted for one of ours, learned of the session's usage. Absent: 1. */
  scale?: number;
  /**
   * The body's tools with ours behind them, which look into the session. Absent: they stay as they
   * came.
   */
  tools?: readonly unknown[] | undefined;
}

export interface MadeView {
  /** The client's bytes but for what the view changes; the very same where that is nothing. */
  bytes: Uint8Array;
  plan: ViewPlan;
  /** What became of single messages, by index; null: it is left out. */
  edits: ReadonlyMap<number, JsonObject | null>;
  /** All that makes the client's bytes these. */
  edited: BodyEdits;
  /** The body's tools with ours behind them. Absent: they are as they came. */
  tools?: readonly unknown[];
  /** Tokens that are left for what is looked up with ours. Absent: nothing is. */
  recallRoom?: number;
  /** Of the request, what no view can shorten. */
  fixedTokens: number;
  /** The reply has room for so many. */
  leastReply: number;
  clamped?: LoweredLimits["clamped"];
  /** Present when nothing fits: it is the client's to shorten its history. */
  overflow?: Overflow;
}

/** Results up to so many characters stay: what would stand for them is hardly shorter. */
const LEAST_ELIDED: Readonly<Record<ShortForm, number>> = { excerpt: 600, lines: 400 };

/** In as few words as can be: they stand there once for each result. */
const SET_ASIDE: Readonly<Record<ShortForm, (chars: number, words: string) => string>> = {
  excerpt: (chars, words) =>
    `[Set aside to make room, but for this: a result of ${chars} characters. Call again for the rest, if it only reads.]\n${excerptOf(words)}`,
  lines: (chars, words) =>
    `[Set aside, but for this: ${chars} characters. Call again for the rest, if it only reads.]\n${excerptOf(words, FEW_LINES)}`,
};

/** Pure. Most of its time is a step for each message that is left out. */
export function* viewSteps(input: ViewRequest): Steps<MadeView> {
  const { wire, body, request, window, marks, scale = 1 } = input;
  const list = request.messages.slice(request.leading);
  const { [wire.list]: _list, ...own } = body;
  const rest = input.tools === undefined ? own : { ...own, tools: input.tools };
  const leadingTokens = sumOf(request.messages.slice(0, request.leading).map(tokensOfMessage));
  const scaled = (tokens: number) => Math.ceil(tokens * scale);
  const leastReply = leastReplyOf(input);
  const elide: Elide = (index, form) => elidedBy(wire, list[index]!, form);
  const fixedTokens = scaled(tokensOf(rest) + leadingTokens);
  const tokens = list.map((message) => scaled(tokensOfMessage(message)));
  const messages = input.messages.map(
    (message, index) => new WeighedMessage(message, tokens[index]!),
  );
  const wanted =
    input.tools === undefined ? 0 : roomForRecall(window - fixedTokens - headTokens(messages));
  yield;
  const plan = planView({
    messages,
    shortTokens(index, form) {
      const short = elide(index, form);
      return short === list[index] ? tokens[index]! : scaled(tokensOfMessage(short));
    },
    fixedTokens,
    window,
    noteTokens: (leftOut) => scaled(noteTokens(window, leftOut / scale)),
    ...{ leastReply, spare: leastRoomOf(wanted), marks },
  });
  const recallRoom = Math.max(0, Math.min(wanted, window - plan.tokens - leastReply));
  const overflow = { tokens: plan.tokens, reply: leastReply, window, fixedTokens };
  const sizes = { fixedTokens, leastReply };
  if (!plan.fits)
    return {
      bytes: input.outline.bytes,
      plan,
      edits: new Map(),
      edited: UNEDITED,
      ...sizes,
      overflow,
    };
  yield;
  const edits = yield* editSteps(input, plan, elide);
  const limits = planLimits(input, { taken: plan.tokens + recallRoom, leastReply });
  const edited = {
    messages: edits,
    values: [...limits.values, ...modelEdit(input), ...toolsEdit(input)],
  };
  return {
    bytes: editBody(input.outline, edited),
    ...{ plan, edits, edited },
    ...(input.tools !== undefined && { tools: input.tools, recallRoom }),
    ...sizes,
    ...(limits.clamped && { clamped: limits.clamped }),
  };
}

const UNEDITED: BodyEdits = { messages: new Map(), values: [] };

/** By what every wire calls them. */
export const TOOLS = "tools";

const toolsEdit = ({ tools }: ViewRequest): BodyEdits["values"] =>
  tools === undefined ? [] : [{ path: [TOOLS], value: tools }];

const sumOf = (tokens: readonly number[]) => tokens.reduce((sum, each) => sum + each, 0);

type Elide = (index: number, form: ShortForm) => JsonObject;

/** What a message is in its short forms does not change from request to request. */
const ELIDED: Readonly<Record<ShortForm, WeakMap<JsonObject, JsonObject>>> = {
  excerpt: new WeakMap(),
  lines: new WeakMap(),
};

function elidedBy(wire: DoorWire, message: JsonObject, form: ShortForm): JsonObject {
  const known = ELIDED[form];
  const elided = known.get(message) ?? wire.elide(message, LEAST_ELIDED[form], SET_ASIDE[form]);
  known.set(message, elided);
  return elided;
}

/** Most requests ask no message for its place. */
class WeighedMessage implements ViewMessage {
  readonly #message: SketchedMessage;
  readonly tokens: number;

  constructor(message: SketchedMessage, tokens: number) {
    this.#message = message;
    this.tokens = tokens;
  }

  get speaker() {
    return this.#message.speaker;
  }

  get calls() {
    return this.#message.calls;
  }

  get answers() {
    return this.#message.answers;
  }

  get text() {
    return this.#message.text;
  }

  get place() {
    return placeOf(this.#message);
  }
}

function modelEdit({ body, model }: ViewRequest): BodyEdits["values"] {
  const isOther = model !== undefined && typeof body.model === "string" && body.model !== model;
  return isOther ? [{ path: ["model"], value: model }] : [];
}

const placeOf = ({
  calls,
  answers,
  end,
}: Pick<SketchedMessage, "calls" | "answers" | "end">): string => {
  if (answers.length > 0) return `answers ${answers.join()}`;
  return calls.length > 0 ? `calls ${calls.join()}` : end;
};

/** The messages that are not as the client sent them; what it did not send is not there either. */
function* editSteps(
  { wire, body, request, bindsThinking, messages, window }: ViewRequest,
  plan: ViewPlan,
  elide: Elide,
): Steps<Map<number, JsonObject | null>> {
  const isWhole = plan.leftOut.size === 0 && plan.elidedBefore === 0;
  if (isWhole && (!bindsThinking || plan.thinkingBefore === 0)) return new Map();
  const { leading } = request;
  const list = request.messages.slice(leading);
  const shown = list.map((message, index) => {
    if (plan.leftOut.has(index)) return null;
    const form = shortFormAt(plan, index);
    const elided = form === undefined ? message : elide(index, form);
    return bindsThinking && index < plan.thinkingBefore ? wire.withoutThinking(elided) : elided;
  });
  const firstLeftOut = shown.indexOf(null);
  const noted = firstLeftOut >= 0 ? lastPerson(wire, shown, firstLeftOut) : -1;
  if (noted >= 0) {
    const gone = list.flatMap((message, index) =>
      plan.leftOut.has(index) ? [{ message, sketch: messages[index]! }] : [],
    );
    const note = yield* noteSteps({ wire, messages: gone, window });
    shown[noted] = wire.withText(shown[noted]!, note);
  }
  const cut = shown.findLastIndex(
    (message, index) => index < plan.elidedBefore && message !== null,
  );
  if (cut >= 0 && (plan.elidedBefore > 0 || plan.leftOut.size > 0))
    shown[cut] = withSpareMarker(wire, body, shown, cut);
  const edits = shown.map((message, index) => [index + leading, message] as const);
  return new Map(edits.filter(([index, message]) => message !== request.messages[index]));
}

const lastPerson = (
  wire: DoorWire,
  shown: readonly (JsonObject | null)[],
  before: number,
): number =>
  shown
    .slice(0, before)
    .findLastIndex((message) => message !== null && wire.look(message).speaker === "person");

function withSpareMarker(
  wire: DoorWire,
  body: JsonObject,
  shown: readonly (JsonObject | null)[],
  cut: number,
): JsonObject {
  const message = shown[cut]!;
  if (wire.mostMarkers === 0) return message;
  const { [wire.list]: _list, ...rest } = body;
  const marker = spareMarker({
    most: wire.mostMarkers,
    before: markersIn([rest, shown.slice(0, cut + 1)]),
    behind: markersIn(shown.slice(cut + 1)),
  });
  return (marker && wire.withMarker(message, marker)) ?? message;
}

// What a wire must say of its requests so that the door can follow and shorten them.
import type { DOOR_APIS } from "../../config/door.ts";

/** An object of a client's body, as parsed and never changed. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The wires the door speaks, by the names of their drivers. */
export type DoorApi = (typeof DOOR_APIS)[number];

/** A request as its client sent it. */
export interface DoorRequest {
  /** As the client calls it; "" when it names none. */
  model: string;
  /** True: the answer is to be an event stream. */
  streaming: boolean;
  /** Every entry of the message list, those of `leading` included. */
  messages: readonly JsonObject[];
  /** How many system and developer messages stand before everything else. */
  leading: number;
  /** What is said beside the list: system prompt or instructions, as JSON. */
  system: unknown;
  /** Names of the tools the model may call, in the order of the body. */
  tools: readonly string[];
  /** Tools that are declared in the message list itself. Absent: none is. */
  listed?: readonly JsonObject[];
  /** The most tokens the reply may have. Absent: the client leaves it to the model. */
  maxTokens?: number;
}

/** Who speaks in a message: "tools" answers calls, perhaps beside a person's words. */
export type Speaker = "system" | "person" | "model" | "tools";

/** What is known of one message without understanding it further. */
export interface MessageLook {
  speaker: Speaker;
  /** What it is recognised by; null: nothing, it may come and go. */
  identity: string | null;
  /**
   * What a person's words are recognised by on any wire, where this one writes them in a way of its
   * own. Absent: the identity says it.
   */
  wordsAnywhere?: string | null;
  /** Ids of the calls it makes. */
  calls: readonly string[];
  /** Its calls by name and arguments, whether they have ids or not; few are asked for theirs. */
  forms: readonly string[];
  /** Ids of the calls it answers. */
  answers: readonly string[];
  /** What is said in it, without results of tools and without thinking. */
  text: string;
  /** True: it holds a model's thinking. */
  thinks: boolean;
}

/** An answer that the door gives itself, in the words of its wire. */
export interface DoorAnswer {
  status: number;
  body: JsonObject;
  /** Why it refuses, in the sentence that its body has. Absent: it does not refuse. */
  reason?: string;
  /** When the request may be sent again, s. Absent: nobody knows, or there is no sense in it. */
  retryAfterSeconds?: number;
  /** False: it would take as long again, and SDKs are told not to send it by themselves. */
  isWorthRepeating?: false;
}

/** How much a request is too large by, in tokens. */
export interface Overflow {
  /** What is left when everything that may go has gone. */
  tokens: number;
  /** Kept for the reply beside it. Absent: `tokens` is all that was counted. */
  reply?: number;
  window: number;
  /** Of it, what no view can shorten: system prompt and tools. */
  fixedTokens: number;
}

/** One wire. Everything in it is pure. */
export interface DoorWire {
  readonly api: DoorApi;
  /** Under which name the message list stands in the body. */
  readonly list: string;
  /** All places where the body may limit the reply: names from the outside in. */
  readonly replyLimits: readonly (readonly string[])[];
  /** Cache markers that a request may hold; 0: the wire has none. */
  readonly mostMarkers: number;
  /** All places where it may limit thinking, which must stay below. Empty: it may not. */
  readonly thinkingLimits: readonly (readonly string[])[];
  /** Undefined: the body holds no message list. `path` is that of the address. */
  read(body: JsonObject, path: string): DoorRequest | undefined;
  look(message: JsonObject): MessageLook;
  /** The message with other ids on its calls and results, none of those that it has not. */
  withIds(message: JsonObject, idFor: (id: string) => string): JsonObject;
  /**
   * The message with every result of a tool above `chars` characters replaced by what `say` makes
   * of its length and its words; the same object when there is none.
   */
  elide(
    message: JsonObject,
    chars: number,
    say: (chars: number, words: string) => string,
  ): JsonObject;
  /** The message without its model's thinking; the same object when there is none. */
  withoutThinking(message: JsonObject): JsonObject;
  /** The message with a text behind its own. */
  withText(message: JsonObject, text: string): JsonObject;
  /**
   * The message with a cache marker at its end; undefined where the end may not bear one.
   */
  withMarker(message: JsonObject, marker: JsonObject): JsonObject | undefined;
  /** In the form by which clients recognise that a prompt is too long. */
  overflow(overflow: Overflow): DoorAnswer;
  /** An error in the dialect of the wire. */
  error(status: number, sentence: string): DoorAnswer;
}

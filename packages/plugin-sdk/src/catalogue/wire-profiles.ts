// What every model of a message format has in common, until a row says otherwise.
import type { ModelProfile } from "../contract/profile.ts";
import type { WireName } from "./record.ts";

const MEGABYTE = 1024 * 1024;
const PLAIN_NAME = "^[A-Za-z0-9_-]{1,64}$";
const OWN_ONLY = { providers: [], models: null, sameAccount: true } as const;

/** What every provider that reads images names in its documentation. */
const COMMON_IMAGES = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/** What is taken for granted of an api nobody knows. */
export const ANY_WIRE: ModelProfile = {
  reasoning: {
    replay: "keep",
    carrier: "reasoning_content",
    reads: OWN_ONLY,
    boundToPrefix: false,
    ask: "none",
    canStop: true,
  },
  calls: {
    ids: "^[^]+$",
    idMode: "strict",
    names: "^[A-Za-z0-9_:.-]{1,64}$",
    canForce: true,
    signed: "never",
    streamed: true,
  },
  turns: {
    startsWithUser: false,
    endsWithAssistant: true,
    thinkingForbidsPrefill: false,
    alternates: "nobody",
  },
  images: { mimeTypes: COMMON_IMAGES, maxBytes: 20 * MEGABYTE, maxSide: null, maxCount: null },
  cache: { how: "none", marks: 0, minTokens: null, shortMs: null, longMs: null },
  limits: { contextWindow: null, maxOutputTokens: null },
  cost: null,
  assumed: [],
};

const MESSAGES: ModelProfile = {
  ...ANY_WIRE,
  reasoning: { ...ANY_WIRE.reasoning, carrier: "signed", ask: "budget" },
  calls: { ...ANY_WIRE.calls, ids: "^[A-Za-z0-9_-]{1,64}$", names: PLAIN_NAME },
  turns: {
    startsWithUser: true,
    endsWithAssistant: false,
    thinkingForbidsPrefill: true,
    alternates: "everybody",
  },
  images: {
    mimeTypes: COMMON_IMAGES,
    maxBytes: 5 * MEGABYTE,
    maxSide: 8000,
    maxCount: 100,
  },
  cache: { how: "marks", marks: 4, minTokens: null, shortMs: 300_000, longMs: 3_600_000 },
};

const CHAT: ModelProfile = {
  ...ANY_WIRE,
  // What a server sent in a field of its own it takes back there, while it needs it.
  reasoning: { ...ANY_WIRE.reasoning, replay: "tools" },
  // 64 in newer reports, 40 in older ones and on compatible servers.
  calls: { ...ANY_WIRE.calls, ids: "^[^]{1,40}$", names: PLAIN_NAME },
};

const GEMINI: ModelProfile = {
  ...ANY_WIRE,
  reasoning: { ...ANY_WIRE.reasoning, carrier: "thought", ask: "budget" },
  calls: { ...ANY_WIRE.calls, names: "^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$", signed: "kept" },
  turns: {
    ...ANY_WIRE.turns,
    startsWithUser: true,
    endsWithAssistant: false,
    alternates: "assistants",
  },
  cache: { ...ANY_WIRE.cache, how: "automatic" },
};

/** By message format. */
export const WIRE_PROFILES: Readonly<Record<WireName, ModelProfile>> = {
  messages: MESSAGES,
  converse: {
    ...MESSAGES,
    images: { ...MESSAGES.images, maxBytes: 3.75 * MEGABYTE, maxCount: 20 },
  },
  chat: CHAT,
  responses: {
    ...ANY_WIRE,
    reasoning: { ...ANY_WIRE.reasoning, carrier: "item", ask: "effort" },
    calls: {
      ...ANY_WIRE.calls,
      ids: "^call_[A-Za-z0-9_-]{1,59}(?:\\|fc_[A-Za-z0-9_-]{1,61})?$",
      idMode: "responses",
      names: PLAIN_NAME,
    },
    cache: { ...ANY_WIRE.cache, how: "automatic" },
  },
  gemini: GEMINI,
  mistral: {
    ...ANY_WIRE,
    reasoning: { ...ANY_WIRE.reasoning, carrier: "chunk", ask: "effort" },
    calls: { ...ANY_WIRE.calls, ids: "^[A-Za-z0-9]{9}$", idMode: "strict9", names: PLAIN_NAME },
    turns: { ...ANY_WIRE.turns, endsWithAssistant: false },
    cache: { ...ANY_WIRE.cache, how: "automatic" },
  },
  ollama: { ...ANY_WIRE, reasoning: { ...ANY_WIRE.reasoning, replay: "tools" } },
  antigravity: { ...ANY_WIRE, reasoning: { ...ANY_WIRE.reasoning, carrier: "thought" } },
  offline: ANY_WIRE,
};

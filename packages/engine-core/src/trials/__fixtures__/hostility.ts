// Random hostility: which method, when, and what it throws, returns or does instead.
import type { AgentMessage, ContextEngine } from "@clew/plugin-sdk/core";
import fc from "fast-check";
import { BOUND_MS, sensibleEngine } from "./ordeal.ts";

/** One hostile engine, as data. */
export interface Hostility {
  method: Method;
  timing: "at once" | "later" | "late" | "never";
  act: Act;
}

type Method =
  | "bootstrap"
  | "maintain"
  | "ingest"
  | "ingestBatch"
  | "afterTurn"
  | "commitTurn"
  | "assemble"
  | "compact";

type Act =
  | { kind: "throws"; what: string }
  | { kind: "returns"; what: string }
  | { kind: "wrong field"; path: string; what: string }
  | { kind: "dresses"; how: string }
  | { kind: "mutates"; what: string }
  | { kind: "strays"; what: string }
  | { kind: "rewrites late" }
  | { kind: "blocks" };

/** Values no field of any result may have, unless a field's own list says otherwise. */
const ODD: Record<string, () => unknown> = {
  undefined: () => undefined,
  null: () => null,
  zero: () => 0,
  "not a number": () => Number.NaN,
  text: () => "text",
  BigInt: () => 10n,
  symbol: () => Symbol("odd"),
  function: () => () => "odd",
  "empty list": () => [],
  "sparse list": () => new Array(3),
  "empty object": () => ({}),
  cycle: () => {
    const round: Record<string, unknown> = {};
    round.self = round;
    return round;
  },
  "revoked proxy": () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  },
  "throwing getters": () =>
    new Proxy(
      {},
      {
        get() {
          throw new Error("getter");
        },
        ownKeys() {
          throw new Error("keys");
        },
      },
    ),
  error: () => new Error("odd"),
  "error without text": () => Object.assign(new Error(), { message: 10n }),
  "frozen error": () => Object.freeze(new Error("frozen")),
  "error in itself": () => {
    const error = new Error("self");
    error.cause = error;
    return error;
  },
  "many errors": () => new AggregateError([new Error("a"), undefined, 7]),
  "foreign abort": () => new DOMException("mine", "AbortError"),
  "large text": () => "x".repeat(2_000_000),
  date: () => new Date(0),
  map: () => new Map([[1, 2]]),
};

const user = (content: unknown) => ({ role: "user", content });

/** Fields of each result that are checked, with what is certainly wrong for each. */
const WRONG: Record<Method, Record<string, Record<string, unknown>>> = {
  bootstrap: {
    bootstrapped: { number: 1, text: "yes", null: null, list: [] },
    importedMessages: { text: "3", object: {} },
    reason: { number: 7, object: {} },
  },
  maintain: {
    changed: { number: 1, text: "yes", null: null },
    bytesFreed: { text: "9", object: {}, null: null },
    rewrittenEntries: { text: "9", list: [] },
  },
  ingest: { ingested: { number: 1, text: "yes", null: null } },
  ingestBatch: { ingestedCount: { text: "2", list: [], null: null, boolean: true } },
  afterTurn: {},
  commitTurn: { status: { other: "maybe", null: null, number: 1, missing: undefined } },
  assemble: {
    messages: {
      null: null,
      object: { 0: user("x"), length: 1 },
      text: "messages",
      "holds null": [null],
      "holds a number": [7],
      "holds text": ["q"],
      "holds a hole": new Array(2),
      "holds a role nobody knows": [{ role: "banana", content: "x" }],
      "holds no role": [{ content: "x" }],
      "holds no content": [{ role: "user" }],
      "holds null content": [user(null)],
      "holds number content": [user(7)],
      "holds blocks that are none": [user([7])],
      "holds a BigInt": [{ ...user("x"), timestamp: 7n }],
      "holds a function": [{ ...user("x"), __openclaw: { f: () => {} } }],
      "holds a time of text": [{ ...user("x"), timestamp: "noon" }],
      "holds a cycle": [ODD.cycle!()],
    },
    estimatedTokens: { text: "many", object: {}, BigInt: 7n },
    promptAuthority: { other: "mine", number: 7 },
    systemPromptAddition: { number: 7, list: ["a"], object: {} },
    contextProjection: { null: null, text: "per_turn", "no mode": {}, mode: { mode: "mine" } },
  },
  compact: {
    ok: { number: 1, text: "yes", null: null },
    compacted: { number: 1, text: "yes", null: null },
    reason: { number: 7, object: {} },
    result: { text: "x", number: 7, "no tokens": { tokensBefore: "9" } },
  },
};

/** Methods whose answer may be anything at all. */
const ANSWERLESS = new Set<Method>(["afterTurn"]);

const methods = Object.keys(WRONG) as Method[];

const actOf = (method: Method): fc.Arbitrary<Act> => {
  const fields = Object.entries(WRONG[method]).flatMap(([path, values]) =>
    Object.keys(values).map((what) => ({ kind: "wrong field" as const, path, what })),
  );
  return fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .constantFrom(...Object.keys(ODD))
        .map((what) => ({ kind: "throws" as const, what })),
    },
    {
      weight: 3,
      arbitrary: fc
        .constantFrom(...Object.keys(ODD))
        .map((what) => ({ kind: "returns" as const, what })),
    },
    ...(fields.length > 0 ? [{ weight: 6, arbitrary: fc.constantFrom(...fields) }] : []),
    {
      weight: 2,
      arbitrary: fc
        .constantFrom("frozen", "sealed", "bare", "proxy", "getters", "extra")
        .map((how) => ({ kind: "dresses" as const, how })),
    },
    {
      weight: 2,
      arbitrary: fc
        .constantFrom("content", "list", "ids", "params")
        .map((what) => ({ kind: "mutates" as const, what })),
    },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom(...Object.keys(ODD))
        .map((what) => ({ kind: "strays" as const, what })),
    },
    { weight: 1, arbitrary: fc.constant({ kind: "rewrites late" as const }) },
    { weight: 1, arbitrary: fc.constant({ kind: "blocks" as const }) },
  );
};

export const hostilities: fc.Arbitrary<Hostility> = fc.constantFrom(...methods).chain((method) =>
  fc.record({
    method: fc.constant(method),
    timing: fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom("at once" as const, "later" as const) },
      { weight: 1, arbitrary: fc.constantFrom("late" as const, "never" as const) },
    ),
    act: actOf(method),
  }),
);

/** What must, may or must not be on record afterwards. */
export function expectation({ method, timing, act }: Hostility): "failure" | "either" | "health" {
  if (timing === "late" || timing === "never") return "failure";
  switch (act.kind) {
    case "throws":
    case "wrong field":
      return "failure";
    case "returns":
      return ANSWERLESS.has(method)
        ? "either"
        : isHarmless(method, act.what)
          ? "either"
          : "failure";
    case "dresses":
      return act.how === "proxy" || act.how === "getters" ? "either" : "health";
    case "mutates":
    case "strays":
    case "rewrites late":
      return "health";
    case "blocks":
      return "either";
  }
}

/** Engines in JavaScript forget to answer where nothing depends on the answer. */
const isHarmless = (method: Method, what: string) =>
  !["assemble", "compact", "commitTurn"].includes(method) && !NEVER_AN_ANSWER.has(what);

const NEVER_AN_ANSWER = new Set([
  "zero",
  "not a number",
  "text",
  "large text",
  "BigInt",
  "symbol",
  "function",
  "revoked proxy",
  "throwing getters",
]);

/** The engine; `afterwards` are things it does when nobody waits for it any more. */
export function hostileEngine(
  { method, timing, act }: Hostility,
  entryIds: () => string[],
): { engine: ContextEngine; afterwards: () => Promise<void> } {
  const engine = sensibleEngine();
  const kept: (() => Promise<unknown>)[] = [];
  if (method === "ingest" || method === "ingestBatch") delete engine.afterTurn;
  if (method === "commitTurn")
    Object.assign(engine, {
      info: {
        ...engine.info,
        transcriptSemantics: {
          currentTurnFence: "before-current-turn-entry-v1",
          turnAdvancementIdempotency: "atomic-idempotent-v1",
        },
      },
    });
  const sensible = sensibleAnswer(method, engine);
  const hostile = (params: Params): unknown => {
    const answer = () => perform(act, params, { method, sensible, kept, entryIds });
    switch (timing) {
      case "at once":
        return answer();
      case "later":
        return Promise.resolve().then(answer);
      case "late":
        return new Promise((resolve) => setTimeout(resolve, 3 * BOUND_MS)).then(answer);
      case "never":
        return new Promise(() => {});
    }
  };
  return {
    engine: Object.assign(engine, { [method]: hostile }) as ContextEngine,
    afterwards: async () => {
      // What is still to come belongs to this engine's ordeal, not to the next one's.
      if (timing === "late") await new Promise((resolve) => setTimeout(resolve, 4 * BOUND_MS));
      for (const late of kept) await late().catch(() => {});
    },
  };
}

interface Params {
  messages?: AgentMessage[];
  runtimeContext?: { rewriteTranscriptEntries?: (asked: object) => Promise<unknown> };
}

function sensibleAnswer(method: Method, engine: ContextEngine): (params: never) => unknown {
  // What it delegates would be done, whatever it answers then.
  if (method === "compact") return () => ({ ok: true, compacted: false });
  if (method === "ingestBatch") return () => ({ ingestedCount: 0 });
  if (method === "commitTurn") return () => ({ status: "committed" });
  const own = engine[method] ?? (() => undefined);
  return (params) => (own as (params: never) => unknown).call(engine, params);
}

interface Means {
  method: Method;
  /** The right answer. */
  sensible: (params: never) => unknown;
  /** What is done when nobody waits any more. */
  kept: (() => Promise<unknown>)[];
  entryIds: () => string[];
}

function perform(act: Act, params: Params, { method, sensible, kept, entryIds }: Means): unknown {
  const answer = () => sensible(params as never);
  switch (act.kind) {
    case "throws":
      throw ODD[act.what]!();
    case "returns":
      return ODD[act.what]!();
    case "wrong field":
      return withField(answer(), act.path, WRONG[method][act.path]?.[act.what]);
    case "dresses":
      return dressed(answer(), act.how);
    case "mutates": {
      const before = {
        ...params,
        ...(params.messages && { messages: structuredClone(params.messages) }),
      };
      mutate(params, act.what);
      return sensible(before as never);
    }
    case "strays":
      void Promise.reject(ODD[act.what]!());
      return answer();
    case "rewrites late": {
      const rewrite = params.runtimeContext?.rewriteTranscriptEntries;
      if (rewrite !== undefined)
        kept.push(async () =>
          rewrite({
            replacements: entryIds().map((entryId) => ({ entryId, message: user("REWRITTEN") })),
          }),
        );
      return answer();
    }
    case "blocks": {
      const end = performance.now() + 2 * BOUND_MS;
      while (performance.now() < end);
      return answer();
    }
  }
}

const withField = async (answer: unknown, path: string, value: unknown) => ({
  ...((await answer) as object),
  [path]: value,
});

async function dressed(pending: unknown, how: string): Promise<unknown> {
  const answer = (await pending) as Record<string, unknown> | undefined;
  if (answer === undefined) return undefined;
  switch (how) {
    case "frozen":
      return Object.freeze({ ...answer });
    case "sealed":
      return Object.seal({ ...answer });
    case "bare":
      return Object.assign(Object.create(null), answer);
    case "proxy":
      return new Proxy(answer, {});
    case "getters": {
      const made = {};
      for (const key of Object.keys(answer))
        Object.defineProperty(made, key, { get: () => answer[key], enumerable: true });
      return made;
    }
    default:
      return { ...answer, cost: 7n, when: new Date(0), call: () => {} };
  }
}

function mutate(params: Params, what: string): void {
  if (what === "params") {
    Object.assign(params, { sessionId: "mine", sessionFile: "/mine", messages: [] });
    return;
  }
  if (what === "list") {
    params.messages?.reverse().push(user("pushed") as AgentMessage);
    return;
  }
  for (const message of params.messages ?? [])
    Object.assign(
      message,
      what === "ids" ? { __openclaw: { id: "mine" } } : { content: "MUTATED" },
    );
}

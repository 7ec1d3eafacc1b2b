import type { AgentMessage, ContextEngine, ContextEngineInfo } from "@clew/plugin-sdk/core";
import type { EngineMethod } from "@clew/plugin-sdk/host";
import { sleep } from "@clew/plugin-sdk/host";
import fc from "fast-check";
import { expect, it } from "vitest";
import { passThrough, testHost } from "../__fixtures__/host.ts";

const BOUND_MS = 10;

const anything = fc.anything({
  ...{ withBigInt: true, withDate: true, withMap: true, withSet: true },
  ...{ withTypedArray: true, withSparseArray: true, withNullPrototype: true },
});

/** What a method does with what it was given, instead of its work. */
type Trick = (params: { messages?: AgentMessage[]; message?: AgentMessage }) => unknown;

const SOUND: Record<string, object> = {
  assemble: { messages: [], estimatedTokens: 0, contextProjection: { mode: "per_turn" } },
  bootstrap: { bootstrapped: true },
  maintain: { changed: false, bytesFreed: 0, rewrittenEntries: 0 },
  ingest: { ingested: true },
  ingestBatch: { ingestedCount: 1 },
};
const FIELDS = ["messages", "estimatedTokens", "promptAuthority", "systemPromptAddition"].concat([
  ...["contextProjection", "bootstrapped", "changed", "bytesFreed", "ingested", "ingestedCount"],
]);

/** Writes to everything it can reach. */
function vandalise(value: unknown, depth = 0): void {
  if (typeof value !== "object" || value === null || depth > 4) return;
  for (const key of Object.keys(value)) {
    const fields = value as Record<string, unknown>;
    vandalise(fields[key], depth + 1);
    try {
      fields[key] = typeof fields[key] === "string" ? "VANDAL" : fields[key];
    } catch {
      // The next one may be writable.
    }
  }
}

const trick = (method: EngineMethod): fc.Arbitrary<Trick> =>
  fc.oneof(
    anything.map(
      (value): Trick =>
        () =>
          value,
    ),
    anything.map(
      (value): Trick =>
        () => {
          throw value;
        },
    ),
    anything.map(
      (value): Trick =>
        () =>
          Promise.reject(value),
    ),
    fc.tuple(fc.constantFrom(...FIELDS), anything).map(
      ([field, value]): Trick =>
        () => ({ ...SOUND[method], [field]: value }),
    ),
    fc.constantFrom(...FIELDS).map(
      (field): Trick =>
        () =>
          Object.defineProperty({ ...SOUND[method] }, field, {
            enumerable: true,
            get() {
              throw new Error("no field");
            },
          }),
    ),
    fc.constant<Trick>(() => new Promise(() => {})),
    fc.constant<Trick>(() => sleep(2 * BOUND_MS).then(() => SOUND[method])),
    fc.constant<Trick>((params) => {
      vandalise(params);
      return SOUND[method];
    }),
    fc.constant<Trick>(({ messages }) => {
      if (messages !== undefined) messages.length = 0;
      return SOUND[method];
    }),
    anything.map(
      (value): Trick =>
        ({ messages = [] }) => ({
          ...SOUND[method],
          messages: [...messages, value],
        }),
    ),
  );

const METHODS = [
  "bootstrap",
  "maintain",
  "ingest",
  "ingestBatch",
  "afterTurn",
  "assemble",
] as const satisfies readonly EngineMethod[];

const info: ContextEngineInfo = { id: "hostile", name: "Hostile" };
const hostileInfo = fc.oneof(
  { weight: 3, arbitrary: fc.constant(() => info) },
  anything.map((value) => () => value),
  fc
    .tuple(fc.constantFrom("id", "hostRequirements", "acceptedHostParams", "version"), anything)
    .map(([field, value]) => () => ({ ...info, [field]: value })),
  anything.map((value) => () => {
    throw value;
  }),
);

const hostile = fc.record({
  tricks: fc.record(
    Object.fromEntries(METHODS.map((method) => [method, trick(method)])) as Record<
      (typeof METHODS)[number],
      fc.Arbitrary<Trick>
    >,
    { requiredKeys: [] },
  ),
  readInfo: hostileInfo,
  /** From which reading of `info` on it is hostile. */
  soundFor: fc.nat(3),
  kind: fc.constantFrom("plain", "frozen", "proxy"),
});

it("whatever an engine is, returns, throws or does, the turns are answered and the record is right", async () => {
  await fc.assert(
    fc.asyncProperty(hostile, async ({ tricks, readInfo, soundFor, kind }) => {
      let reads = 0;
      const made = Object.defineProperty({ ...passThrough(), ...tricks }, "info", {
        get: () => (reads++ < soundFor ? info : readInfo()),
      }) as ContextEngine;
      const engine =
        kind === "frozen" ? Object.freeze(made) : kind === "proxy" ? new Proxy(made, {}) : made;
      const bounds = Object.fromEntries(METHODS.map((method) => [method, BOUND_MS]));
      const host = testHost({
        engine: () => engine,
        replies: ["one", "two", "three"],
        registry: { bounds: () => bounds },
      });
      const first = await host.say("first");
      const second = await host.say("second");
      expect([first.outcome, second.outcome]).toEqual(["completed", "completed"]);
      const stored = host.ports.transcript.branch().flatMap((entry) => {
        if (entry.type !== "message" || !("content" in entry.message)) return [];
        const { content } = entry.message;
        return typeof content === "string" ? [content] : [JSON.stringify(content)];
      });
      expect(stored).toEqual([
        "first",
        '[{"type":"text","text":"one"}]',
        "second",
        '[{"type":"text","text":"two"}]',
      ]);
      expect(host.lastSeen().at(-1)).toBe("user: second");
      for (const { operation, reason } of host.registry.quarantine.list())
        expect([operation, reason]).not.toContain("");
      host.registry.register({
        ...{ engineId: "test", owner: "plugin:test", allowSameOwnerRefresh: true },
        factory: () => passThrough({ info: { id: "mended", name: "Mended" } }),
      });
      const third = await host.say("third");
      expect(third).toMatchObject({
        outcome: "completed",
        report: { engine: { infoId: "mended", degraded: null } },
      });
      expect(host.lastSeen()).toHaveLength(5);
    }),
  );
}, 600_000);
